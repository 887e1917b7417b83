//! The ordered store: values under time-ordered ids.

use std::ops::{Range, RangeBounds};

use crate::index::{Change, Entries, Root};
use crate::publish::{Gauge, Hold, Info, Moment, Outcome, Published};
use crate::value::{Staged, Value};

type Roots<V> = (Root<u64, <V as Value>::Slot>,);

/// Values of one type under `u64` keys, ordered by key; with snowflakes as keys, that is by time.
///
/// Any number of threads read and write at once. Readers never wait: they work on the version that
/// was current when they began. Every write is one publication, so a reader sees a batch whole or not
/// at all.
///
/// ```
/// use echo_data_core::{OrderedStore, Boxed};
///
/// let store = OrderedStore::new();
/// store.put(7, Boxed("seven".to_string()));
/// store.put(9, Boxed("nine".to_string()));
/// let view = store.view();
/// assert_eq!(view.get(7).map(String::as_str), Some("seven"));
/// assert_eq!(view.range(8..).count(), 1);
/// ```
pub struct OrderedStore<V: Value> {
    versions: Published<Roots<V>>,
}

impl<V: Value> OrderedStore<V> {
    /// An empty store.
    pub fn new() -> Self {
        Self {
            versions: Published::new(),
        }
    }

    /// The current state, for reading now. Wait-free, about 15 ns.
    ///
    /// A view delays the freeing of memory in the whole process while it lives: keep it for one
    /// operation, and take a [`snapshot`](Self::snapshot) for anything longer.
    #[inline]
    pub fn view(&self) -> View<'_, V> {
        View(self.versions.now())
    }

    /// The current state, for reading as long as needed. It retains at most the memory that the store
    /// has now, however much is written meanwhile. 50 to 100 ns to take and drop.
    pub fn snapshot(&self) -> Snapshot<'_, V> {
        Snapshot {
            store: self,
            held: self.hold(),
        }
    }

    /// Like [`snapshot`](Self::snapshot), but not borrowed from the store: read it with
    /// [`at`](Self::at). A held moment does not keep the store alive.
    pub fn hold(&self) -> Held<V> {
        Held(self.versions.hold())
    }

    /// The state at a held moment, or `None` if it was held from another store.
    pub fn at<'a>(&'a self, held: &'a Held<V>) -> Option<View<'a, V>> {
        self.versions.at(&held.0).map(View)
    }

    /// Puts `value` under `key`; answers whether a value was replaced. O(log n); an ascending key is
    /// appended in O(1).
    pub fn put(&self, key: u64, value: V) -> bool {
        let staged = Staged::new(value);
        let replaced = self.versions.update(|edit, (index,)| {
            let slot = staged.enter(edit);
            Outcome::Publish(index.insert(edit, key, slot).is_some())
        });
        staged.commit();
        replaced
    }

    /// Puts `value` under `key` if `admit` says so of the present value. Answers whether it was put.
    /// `admit` may run more than once, when other writers are first.
    pub fn put_if(
        &self,
        key: u64,
        value: V,
        mut admit: impl FnMut(Option<V::Ref<'_>>) -> bool,
    ) -> bool {
        let staged = Staged::new(value);
        let put = self.versions.update(|edit, (index,)| {
            if !admit(index.get(&key).map(V::read)) {
                return Outcome::Keep(false);
            }
            let slot = staged.enter(edit);
            index.insert(edit, key, slot);
            Outcome::Publish(true)
        });
        if put {
            staged.commit();
        }
        put
    }

    /// Puts all rows in one publication: every reader sees all of them or none. Of rows with the same
    /// key the last wins. O(rows + touched nodes) after sorting.
    pub fn put_all(&self, rows: impl IntoIterator<Item = (u64, V)>) {
        let mut rows: Vec<(u64, Staged<V>)> = rows
            .into_iter()
            .map(|(key, value)| (key, Staged::new(value)))
            .collect();
        rows.reverse();
        rows.sort_by_key(|&(key, _)| key);
        rows.dedup_by_key(|&mut (key, _)| key);
        if rows.is_empty() {
            return;
        }
        let mut changes = Vec::with_capacity(rows.len());
        self.versions.update(|edit, (index,)| {
            changes.clear();
            changes.extend(
                rows.iter()
                    .map(|(key, staged)| (*key, Change::Put(staged.enter(edit)))),
            );
            index.rebuild(edit, &changes);
            Outcome::Publish(())
        });
        rows.into_iter().for_each(|(_, staged)| staged.commit());
    }

    /// Removes `key`; answers whether it was there. O(log n).
    pub fn remove(&self, key: u64) -> bool {
        self.take(key, |_| ()).is_some()
    }

    /// Removes `key` if it is there and `admit` says so of its value; answers whether it was removed.
    /// O(log n). `admit` may run more than once, when other writers are first.
    ///
    /// ```
    /// use echo_data_core::OrderedStore;
    ///
    /// let store = OrderedStore::from_iter([(1, 'a')]);
    /// assert!(!store.remove_if(1, |&value| value == 'b'));
    /// assert!(store.remove_if(1, |&value| value == 'a'));
    /// assert!(!store.remove_if(1, |&value| value == 'a'));
    /// ```
    pub fn remove_if(&self, key: u64, mut admit: impl FnMut(V::Ref<'_>) -> bool) -> bool {
        self.versions.update(|edit, (index,)| {
            if !index.get(&key).map(V::read).is_some_and(&mut admit) {
                return Outcome::Keep(false);
            }
            index.remove(edit, &key);
            Outcome::Publish(true)
        })
    }

    /// Removes `key` and answers what `read` makes of its value. O(log n). `read` runs once, before
    /// the value is gone for good.
    pub fn take<T>(&self, key: u64, read: impl FnOnce(V::Ref<'_>) -> T) -> Option<T> {
        // Held over the change, so that the slot's payload outlives its removal.
        let _pin = self.versions.pin();
        let slot = self.versions.update(|edit, (index,)| {
            index
                .remove(edit, &key)
                .map_or(Outcome::Keep(None), |slot| Outcome::Publish(Some(slot)))
        })?;
        Some(read(V::read(&slot)))
    }

    /// Removes the rows in `range`; answers how many there were. O(log n) whatever their number.
    pub fn remove_range(&self, range: impl RangeBounds<u64> + Clone) -> usize {
        self.versions.update(|edit, (index,)| {
            let positions = index.positions(range.clone());
            match index.cut(edit, positions) {
                0 => Outcome::Keep(0),
                removed => Outcome::Publish(removed),
            }
        })
    }

    /// Removes everything; answers how many rows there were. O(1).
    pub fn clear(&self) -> usize {
        self.remove_range(..)
    }

    /// What the store holds, in rows and in memory. O(places for snapshots).
    pub fn info(&self) -> Info {
        self.versions.info(|(index,)| index.len())
    }

    /// An account of this store's memory that can be read after the store is gone.
    pub fn gauge(&self) -> Gauge {
        self.versions.gauge()
    }
}

impl<V: Value> Default for OrderedStore<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: Value> FromIterator<(u64, V)> for OrderedStore<V> {
    fn from_iter<I: IntoIterator<Item = (u64, V)>>(rows: I) -> Self {
        let store = Self::new();
        store.put_all(rows);
        store
    }
}

impl<V: Value> Extend<(u64, V)> for OrderedStore<V> {
    fn extend<I: IntoIterator<Item = (u64, V)>>(&mut self, rows: I) {
        self.put_all(rows);
    }
}

impl<V: Value> std::fmt::Debug for OrderedStore<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.info().fmt("OrderedStore", f)
    }
}

/// One state of a store. Everything read through one view is of the same moment.
pub struct View<'a, V: Value>(Moment<'a, Roots<V>>);

impl<V: Value> View<'_, V> {
    #[inline]
    fn index(&self) -> &Root<u64, V::Slot> {
        &self.0 .0
    }

    /// How many rows there are. O(1).
    #[inline]
    pub fn len(&self) -> usize {
        self.index().len()
    }

    /// Whether there are no rows. O(1).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value under `key`. O(log n).
    #[inline]
    pub fn get(&self, key: u64) -> Option<V::Ref<'_>> {
        self.index().get(&key).map(V::read)
    }

    /// Whether there is a value under `key`. O(log n).
    pub fn contains(&self, key: u64) -> bool {
        self.index().get(&key).is_some()
    }

    /// Looks up many keys with their memory accesses overlapped; `found` gets each key's place in
    /// `keys` and its value, in order. O(keys × log n), at a fraction of the latency of single lookups.
    pub fn get_many<'v>(&'v self, keys: &[u64], mut found: impl FnMut(usize, Option<V::Ref<'v>>)) {
        self.index()
            .get_many(keys, |at, slot| found(at, slot.map(V::read)));
    }

    /// How many keys are below `key`. O(log n).
    pub fn rank(&self, key: u64) -> usize {
        self.index().rank(&key)
    }

    /// The row at `position`, counted from 0 in key order. O(log n).
    pub fn select(&self, position: usize) -> Option<(u64, V::Ref<'_>)> {
        self.index().select(position).map(row::<V>)
    }

    /// How many keys are in `range`. O(log n); an inverted range counts 0.
    pub fn count(&self, range: impl RangeBounds<u64>) -> usize {
        self.positions(range).len()
    }

    /// Where the keys in `range` are in key order, counted from 0; empty for an inverted range.
    /// O(log n). Positions divide a long scan into parts: see [`slice`](Self::slice).
    pub fn positions(&self, range: impl RangeBounds<u64>) -> Range<usize> {
        self.index().positions(range)
    }

    /// The rows at `positions`, which are cut to what there is, from either end. O(log n) to begin, then
    /// amortised O(1) a row.
    ///
    /// ```
    /// use echo_data_core::OrderedStore;
    ///
    /// let store = OrderedStore::from_iter([(10, 'a'), (20, 'b'), (30, 'c')]);
    /// let view = store.view();
    /// assert_eq!(view.positions(15..), 1..3);
    /// assert_eq!(view.slice(1..9).map(|(key, _)| key).collect::<Vec<_>>(), [20, 30]);
    /// ```
    pub fn slice(&self, positions: Range<usize>) -> Rows<'_, V> {
        Rows(self.index().entries(positions))
    }

    /// The rows in `range` in key order, from either end. O(log n) to begin, then amortised O(1) a row.
    pub fn range(&self, range: impl RangeBounds<u64>) -> Rows<'_, V> {
        self.slice(self.positions(range))
    }

    /// All rows in key order, from either end.
    #[inline]
    pub fn iter(&self) -> Rows<'_, V> {
        Rows(self.index().entries(0..usize::MAX))
    }

    /// The row with the smallest key. O(log n).
    pub fn first(&self) -> Option<(u64, V::Ref<'_>)> {
        self.select(0)
    }

    /// The row with the largest key. O(1).
    pub fn last(&self) -> Option<(u64, V::Ref<'_>)> {
        self.index().last().map(row::<V>)
    }
}

impl<'v, V: Value> IntoIterator for &'v View<'_, V> {
    type Item = (u64, V::Ref<'v>);
    type IntoIter = Rows<'v, V>;

    fn into_iter(self) -> Rows<'v, V> {
        self.iter()
    }
}

#[inline]
fn row<'a, V: Value>((key, slot): (&'a u64, &'a V::Slot)) -> (u64, V::Ref<'a>) {
    (*key, V::read(slot))
}

/// Rows of one view, in key order.
pub struct Rows<'v, V: Value>(Entries<'v, u64, V::Slot>);

impl<'v, V: Value> Iterator for Rows<'v, V> {
    type Item = (u64, V::Ref<'v>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(row::<V>)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        self.0.nth(n).map(row::<V>)
    }
}

impl<V: Value> DoubleEndedIterator for Rows<'_, V> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(row::<V>)
    }
}

impl<V: Value> ExactSizeIterator for Rows<'_, V> {}
impl<V: Value> std::iter::FusedIterator for Rows<'_, V> {}

/// A moment of a store, kept readable. Get a [`View`] of it as often as needed.
pub struct Snapshot<'a, V: Value> {
    store: &'a OrderedStore<V>,
    held: Held<V>,
}

impl<V: Value> Snapshot<'_, V> {
    /// The state at the moment of the snapshot.
    pub fn view(&self) -> View<'_, V> {
        match self.store.at(&self.held) {
            Some(view) => view,
            None => unreachable!("a snapshot is held from the store that it borrows"),
        }
    }
}

/// A moment of a store, kept readable until this is dropped or the store is; see
/// [`OrderedStore::hold`].
pub struct Held<V: Value>(Hold<Roots<V>>);
