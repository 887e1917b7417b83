//! The edge store: a relation that is walked from either end.

use std::ops::{Bound, Range, RangeBounds};

use crate::index::{Change, Entries, Path, Root};
use crate::publish::{Edit, Gauge, Hold, Info, Moment, Outcome, Published};
use crate::value::{stage, Shared, Slot, Staged, Value};

/// The two ends of an edge, the one that the index is ordered by first.
type Ends = (u64, u64);

/// Subject to object, which owns the props, and object to subject, which shares them.
type Directions<S> = (Root<Ends, Shared<S, true>>, Root<Ends, Shared<S, false>>);

type Roots<V> = Directions<<V as Value>::Slot>;

/// One direction: from subjects, or to objects.
type Index<V, const FROM: bool> = Root<Ends, Shared<<V as Value>::Slot, FROM>>;

/// Edges between subjects and objects, each with props, in both directions.
///
/// Every change is one publication of both directions: no reader, on any thread, finds an edge one way
/// and not the other. The neighbours of an id are kept in the order of their own ids; with snowflakes
/// that is the order in which they were minted.
///
/// ```
/// use echo_data_core::EdgeStore;
///
/// let follows = EdgeStore::new();
/// follows.link(1, 7, "since monday");
/// follows.link(2, 7, "since friday");
/// let view = follows.view();
/// assert_eq!(view.to(7).len(), 2);
/// assert_eq!(view.from(1).get(7), Some(&"since monday"));
/// ```
pub struct EdgeStore<V: Value> {
    versions: Published<Roots<V>>,
}

/// What replacing the objects of a subject did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// Objects that were not linked before.
    pub added: usize,
    /// Objects that were linked before; their props are the new ones.
    pub kept: usize,
    /// Objects that are not linked any more.
    pub removed: usize,
}

/// The ways to an edge in both directions, gone by turns.
fn ways<S: Slot>(
    forward: &Root<Ends, Shared<S, true>>,
    reverse: &Root<Ends, Shared<S, false>>,
    subject: u64,
    object: u64,
) -> (Path<Ends>, Path<Ends>) {
    let mut there = forward.begin((subject, object));
    let mut back = reverse.begin((object, subject));
    while forward.step(&mut there) | reverse.step(&mut back) {}
    (there, back)
}

/// Every edge of one id.
fn of(id: u64) -> (Bound<Ends>, Bound<Ends>) {
    (Bound::Included((id, 0)), Bound::Included((id, u64::MAX)))
}

impl<V: Value> EdgeStore<V> {
    /// A relation without edges.
    pub fn new() -> Self {
        Self {
            versions: Published::new(),
        }
    }

    /// The current state, for reading now. Wait-free. Keep it for one operation; see
    /// [`OrderedStore::view`](crate::OrderedStore::view).
    #[inline]
    pub fn view(&self) -> EdgeView<'_, V> {
        EdgeView(self.versions.now())
    }

    /// Keeps the current state readable, through [`at`](Self::at), until the answer is dropped. It does
    /// not keep the store alive.
    pub fn hold(&self) -> HeldEdges<V> {
        HeldEdges(self.versions.hold())
    }

    /// The state at a held moment, or `None` if it was held from another store.
    pub fn at<'a>(&'a self, held: &'a HeldEdges<V>) -> Option<EdgeView<'a, V>> {
        self.versions.at(&held.0).map(EdgeView)
    }

    /// Links `subject` to `object`; answers whether they were not linked before. Linking again replaces
    /// the props. O(log n).
    pub fn link(&self, subject: u64, object: u64, props: V) -> bool {
        let staged = Staged::new(props);
        let new = self.versions.update(|edit, (forward, reverse)| {
            let slot = staged.enter(edit);
            let (mut there, mut back) = ways(forward, reverse, subject, object);
            let old = forward.insert_at(edit, &mut there, Shared(slot));
            reverse.insert_at(edit, &mut back, Shared(slot));
            Outcome::Publish(old.is_none())
        });
        staged.commit();
        new
    }

    /// Links all edges `(subject, object, props)` in one publication. Of edges with the same ends the
    /// last wins. O(edges + touched nodes) after sorting.
    pub fn link_all(&self, edges: impl IntoIterator<Item = (u64, u64, V)>) {
        let edges = stage(
            edges
                .into_iter()
                .map(|(subject, object, props)| ((subject, object), props)),
        );
        if edges.is_empty() {
            return;
        }
        let mut changes = Changes::default();
        self.versions.update(|edit, roots| {
            changes.clear();
            for ((subject, object), staged) in &edges {
                changes.put((*subject, *object), staged.enter(edit));
            }
            changes.apply(edit, roots);
            Outcome::Publish(())
        });
        edges.into_iter().for_each(|(_, staged)| staged.commit());
    }

    /// Makes `objects` the objects of `subject`, and no others, in one publication. Of objects named
    /// twice the last wins. O(objects before and after + touched nodes) after sorting.
    pub fn replace(&self, subject: u64, objects: impl IntoIterator<Item = (u64, V)>) -> Replaced {
        let edges = stage(
            objects
                .into_iter()
                .map(|(object, props)| ((subject, object), props)),
        );
        let mut changes = Changes::default();
        let replaced = self.versions.update(|edit, roots| {
            changes.clear();
            let before = roots
                .0
                .entries(roots.0.positions(of(subject)))
                .map(|(ends, _)| *ends);
            let after = edges.iter().map(|(ends, _)| *ends);
            let (mut kept, mut removed) = (0, 0);
            let mut wanted = after.peekable();
            for ends in before {
                while wanted.next_if(|next| *next < ends).is_some() {}
                if wanted.next_if_eq(&ends).is_some() {
                    kept += 1;
                } else {
                    removed += 1;
                    changes.remove(ends);
                }
            }
            for (ends, staged) in &edges {
                changes.put(*ends, staged.enter(edit));
            }
            let added = edges.len() - kept;
            let replaced = Replaced {
                added,
                kept,
                removed,
            };
            if replaced == Replaced::default() {
                return Outcome::Keep(replaced);
            }
            changes.apply(edit, roots);
            Outcome::Publish(replaced)
        });
        edges.into_iter().for_each(|(_, staged)| staged.commit());
        replaced
    }

    /// Removes the edge; answers whether it was there. O(log n).
    pub fn unlink(&self, subject: u64, object: u64) -> bool {
        self.versions.update(|edit, (forward, reverse)| {
            let (mut there, mut back) = ways(forward, reverse, subject, object);
            if forward.remove_at(edit, &mut there).is_none() {
                return Outcome::Keep(false);
            }
            reverse.remove_at(edit, &mut back);
            Outcome::Publish(true)
        })
    }

    /// Removes all edges from `subject`, in one publication; answers how many there were. O(log n) in
    /// the direction of the subject, O(edges removed + touched nodes) in the other.
    pub fn drop_subject(&self, subject: u64) -> usize {
        self.versions.update(|edit, (forward, reverse)| {
            let positions = forward.positions(of(subject));
            let there: Vec<(Ends, Change<_>)> = forward
                .entries(positions.clone())
                .map(|(&(subject, object), _)| ((object, subject), Change::Remove))
                .collect();
            forward.cut(edit, positions);
            reverse.rebuild(edit, &there);
            outcome(there.len())
        })
    }

    /// Removes all edges to `object`, in one publication; answers how many there were. O(log n) in the
    /// direction of the object, O(edges removed + touched nodes) in the other.
    pub fn drop_object(&self, object: u64) -> usize {
        self.versions.update(|edit, (forward, reverse)| {
            let positions = reverse.positions(of(object));
            let there: Vec<(Ends, Change<_>)> = reverse
                .entries(positions.clone())
                .map(|(&(object, subject), _)| ((subject, object), Change::Remove))
                .collect();
            reverse.cut(edit, positions);
            forward.rebuild(edit, &there);
            outcome(there.len())
        })
    }

    /// What the store holds, in rows and in memory. O(places for snapshots).
    pub fn info(&self) -> Info {
        self.versions.info(|(forward, _)| forward.len())
    }

    /// An account of this store's memory that can be read after the store is gone.
    pub fn gauge(&self) -> Gauge {
        self.versions.gauge()
    }
}

impl<V: Value> Default for EdgeStore<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: Value> std::fmt::Debug for EdgeStore<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.info().fmt("EdgeStore", f)
    }
}

/// A moment of an edge store, kept readable until this is dropped or the store is.
pub struct HeldEdges<V: Value>(Hold<Roots<V>>);

fn outcome(changed: usize) -> Outcome<usize> {
    if changed == 0 {
        Outcome::Keep(0)
    } else {
        Outcome::Publish(changed)
    }
}

/// One change of both directions.
struct Changes<S> {
    forward: Vec<(Ends, Change<Shared<S, true>>)>,
    reverse: Vec<(Ends, Change<Shared<S, false>>)>,
}

impl<S> Default for Changes<S> {
    fn default() -> Self {
        Self {
            forward: Vec::new(),
            reverse: Vec::new(),
        }
    }
}

impl<S: Slot> Changes<S> {
    fn clear(&mut self) {
        self.forward.clear();
        self.reverse.clear();
    }

    fn put(&mut self, (subject, object): Ends, slot: S) {
        self.forward
            .push(((subject, object), Change::Put(Shared(slot))));
        self.reverse
            .push(((object, subject), Change::Put(Shared(slot))));
    }

    fn remove(&mut self, (subject, object): Ends) {
        self.forward.push(((subject, object), Change::Remove));
        self.reverse.push(((object, subject), Change::Remove));
    }

    fn apply(&mut self, edit: &mut Edit, (forward, reverse): &mut Directions<S>) {
        self.forward.sort_unstable_by_key(|&(ends, _)| ends);
        self.reverse.sort_unstable_by_key(|&(ends, _)| ends);
        forward.rebuild(edit, &self.forward);
        reverse.rebuild(edit, &self.reverse);
    }
}

/// One state of an edge store: both directions, of the same moment.
pub struct EdgeView<'a, V: Value>(Moment<'a, Roots<V>>);

impl<V: Value> EdgeView<'_, V> {
    /// How many edges there are. O(1).
    pub fn len(&self) -> usize {
        self.0 .0.len()
    }

    /// Whether there are no edges. O(1).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The objects that `subject` is linked to. O(1); see [`Neighbours`] for what can be asked of them.
    pub fn from(&self, subject: u64) -> Neighbours<'_, V, true> {
        Neighbours {
            index: &self.0 .0,
            id: subject,
        }
    }

    /// The subjects that are linked to `object`. O(1), as [`from`](Self::from).
    pub fn to(&self, object: u64) -> Neighbours<'_, V, false> {
        Neighbours {
            index: &self.0 .1,
            id: object,
        }
    }
}

/// The neighbours of one id, in the order of their ids; from a subject its objects, from an object its
/// subjects.
pub struct Neighbours<'v, V: Value, const FROM: bool> {
    index: &'v Index<V, FROM>,
    id: u64,
}

impl<'v, V: Value, const FROM: bool> Neighbours<'v, V, FROM> {
    /// How many there are: the degree. O(log n).
    pub fn len(&self) -> usize {
        self.positions(..).len()
    }

    /// Whether there are none. O(log n).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The props of the edge to `other`. O(log n).
    pub fn get(&self, other: u64) -> Option<V::Ref<'v>> {
        self.index
            .get(&(self.id, other))
            .map(|slot| V::read(&slot.0))
    }

    /// Whether there is an edge to `other`. O(log n).
    pub fn contains(&self, other: u64) -> bool {
        self.index.get(&(self.id, other)).is_some()
    }

    /// How many there are in `range`: with snowflakes, of those minted in a window. O(log n).
    pub fn count(&self, range: impl RangeBounds<u64>) -> usize {
        self.positions(range).len()
    }

    /// The neighbour at `position`, counted from 0. O(log n).
    pub fn select(&self, position: usize) -> Option<(u64, V::Ref<'v>)> {
        let all = self.positions(..);
        let at = all.start.checked_add(position).filter(|at| *at < all.end)?;
        self.index.select(at).map(neighbour::<V, FROM>)
    }

    /// The neighbours in `range`, from either end. O(log n) to begin, then amortised O(1) each.
    pub fn range(&self, range: impl RangeBounds<u64>) -> Links<'v, V, FROM> {
        Links(self.index.entries(self.positions(range)))
    }

    /// All neighbours, from either end.
    pub fn iter(&self) -> Links<'v, V, FROM> {
        self.range(..)
    }

    /// The neighbours that `other` has too, in order. A merge walk that jumps over long gaps:
    /// O(both), and O(the smaller × log n) when one is much smaller.
    pub fn common(self, other: Self) -> Common<'v, V, FROM> {
        Common {
            left: Side::new(self),
            right: Side::new(other),
        }
    }

    fn positions(&self, range: impl RangeBounds<u64>) -> Range<usize> {
        let low = match range.start_bound() {
            Bound::Included(&other) => Bound::Included((self.id, other)),
            Bound::Excluded(&other) => Bound::Excluded((self.id, other)),
            Bound::Unbounded => of(self.id).0,
        };
        let high = match range.end_bound() {
            Bound::Included(&other) => Bound::Included((self.id, other)),
            Bound::Excluded(&other) => Bound::Excluded((self.id, other)),
            Bound::Unbounded => of(self.id).1,
        };
        self.index.positions((low, high))
    }
}

impl<'v, V: Value, const FROM: bool> IntoIterator for Neighbours<'v, V, FROM> {
    type Item = (u64, V::Ref<'v>);
    type IntoIter = Links<'v, V, FROM>;

    fn into_iter(self) -> Links<'v, V, FROM> {
        self.iter()
    }
}

#[inline]
fn neighbour<'v, V: Value, const FROM: bool>(
    (ends, slot): (&'v Ends, &'v Shared<V::Slot, FROM>),
) -> (u64, V::Ref<'v>) {
    (ends.1, V::read(&slot.0))
}

/// Neighbours with the props of their edges, in the order of their ids.
pub struct Links<'v, V: Value, const FROM: bool>(Entries<'v, Ends, Shared<V::Slot, FROM>>);

impl<'v, V: Value, const FROM: bool> Iterator for Links<'v, V, FROM> {
    type Item = (u64, V::Ref<'v>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(neighbour::<V, FROM>)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        self.0.nth(n).map(neighbour::<V, FROM>)
    }
}

impl<V: Value, const FROM: bool> DoubleEndedIterator for Links<'_, V, FROM> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(neighbour::<V, FROM>)
    }
}

impl<V: Value, const FROM: bool> ExactSizeIterator for Links<'_, V, FROM> {}
impl<V: Value, const FROM: bool> std::iter::FusedIterator for Links<'_, V, FROM> {}

/// Neighbours of two ids at once; see [`Neighbours::common`].
pub struct Common<'v, V: Value, const FROM: bool> {
    left: Side<'v, V, FROM>,
    right: Side<'v, V, FROM>,
}

/// One of two lists that are merged.
struct Side<'v, V: Value, const FROM: bool> {
    neighbours: Neighbours<'v, V, FROM>,
    rest: Links<'v, V, FROM>,
}

impl<'v, V: Value, const FROM: bool> Side<'v, V, FROM> {
    /// Steps after which looking for the next candidate from the root is cheaper than walking on.
    const PATIENCE: usize = 64;

    fn new(neighbours: Neighbours<'v, V, FROM>) -> Self {
        Self {
            rest: neighbours.iter(),
            neighbours,
        }
    }

    /// The first neighbour from `id` on.
    fn seek(&mut self, id: u64) -> Option<u64> {
        let walked = self.rest.by_ref().take(Self::PATIENCE);
        let mut walked = walked.map(|(other, _)| other);
        if let Some(found) = walked.find(|other| *other >= id) {
            return Some(found);
        }
        self.rest = self.neighbours.range(id..);
        self.rest.next().map(|(other, _)| other)
    }
}

impl<V: Value, const FROM: bool> Iterator for Common<'_, V, FROM> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let mut candidate = self.left.rest.next()?.0;
        loop {
            let found = self.right.seek(candidate)?;
            if found == candidate {
                return Some(found);
            }
            candidate = self.left.seek(found)?;
            if candidate == found {
                return Some(found);
            }
        }
    }
}

impl<V: Value, const FROM: bool> std::iter::FusedIterator for Common<'_, V, FROM> {}
