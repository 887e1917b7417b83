//! A table: values under `u64` keys in one index. What the stores of one index have in common; each of
//! them says in its own words what its keys mean and what may be done with them.

use std::ops::{Range, RangeBounds};

use crate::index::{Change, Entries, Root};
use crate::publish::{Gauge, Hold, Info, Moment, Outcome, Published};
use crate::value::{stage, Staged, Value};

type Roots<V> = (Root<u64, <V as Value>::Slot>,);

/// Values of one type under `u64` keys. Every change is one publication.
pub(crate) struct Table<V: Value> {
    versions: Published<Roots<V>>,
}

impl<V: Value> Table<V> {
    pub(crate) fn new() -> Self {
        Self {
            versions: Published::new(),
        }
    }

    /// The current state, for one operation. Wait-free.
    #[inline]
    pub(crate) fn view(&self) -> View<'_, V> {
        View(self.versions.now())
    }

    /// The current state, for as long as it takes, borrowed from the table.
    pub(crate) fn snapshot(&self) -> Snapshot<'_, V> {
        Snapshot {
            table: self,
            held: self.hold(),
        }
    }

    /// The current state, for as long as it takes, to be read through [`at`](Self::at).
    pub(crate) fn hold(&self) -> Held<V> {
        Held(self.versions.hold())
    }

    /// The state at a held moment, or `None` if it was held from another table.
    pub(crate) fn at<'a>(&'a self, held: &'a Held<V>) -> Option<View<'a, V>> {
        self.versions.at(&held.0).map(View)
    }

    /// Puts `value` under `key`; answers whether a value was replaced. O(log n); an ascending key is
    /// appended in O(1).
    #[inline]
    pub(crate) fn put(&self, key: u64, value: V) -> bool {
        let staged = Staged::new(value);
        let replaced = self.versions.update(|edit, (index,)| {
            let slot = staged.enter(edit);
            Outcome::Publish(index.insert(edit, key, slot).is_some())
        });
        staged.commit();
        replaced
    }

    /// Puts `value` under `key` if `admit`, which may run more than once, says so of the present value.
    pub(crate) fn put_if(
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

    /// Puts all rows in one publication, of rows with the same key the last. O(rows + touched nodes)
    /// after sorting.
    pub(crate) fn put_all(&self, rows: impl IntoIterator<Item = (u64, V)>) {
        let rows = stage(rows.into_iter());
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

    /// Removes `key` if it is there and `admit`, which may run more than once, says so of its value.
    /// O(log n).
    pub(crate) fn remove_if(&self, key: u64, mut admit: impl FnMut(V::Ref<'_>) -> bool) -> bool {
        self.versions.update(|edit, (index,)| {
            if !index.get(&key).map(V::read).is_some_and(&mut admit) {
                return Outcome::Keep(false);
            }
            index.remove(edit, &key);
            Outcome::Publish(true)
        })
    }

    /// Removes `key` and answers what `read`, which runs once, makes of its value. O(log n).
    pub(crate) fn take<T>(&self, key: u64, read: impl FnOnce(V::Ref<'_>) -> T) -> Option<T> {
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
    pub(crate) fn remove_range(&self, range: impl RangeBounds<u64> + Clone) -> usize {
        self.versions.update(|edit, (index,)| {
            let positions = index.positions(range.clone());
            match index.cut(edit, positions) {
                0 => Outcome::Keep(0),
                removed => Outcome::Publish(removed),
            }
        })
    }

    /// What the table holds, in rows and in memory. O(places for snapshots).
    pub(crate) fn info(&self) -> Info {
        self.versions.info(|(index,)| index.len())
    }

    /// An account of the table's memory that outlives it.
    pub(crate) fn gauge(&self) -> Gauge {
        self.versions.gauge()
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
        Rows::of(self.index(), positions)
    }

    /// The rows in `range` in key order, from either end. O(log n) to begin, then amortised O(1) a row.
    pub fn range(&self, range: impl RangeBounds<u64>) -> Rows<'_, V> {
        self.slice(self.positions(range))
    }

    /// All rows in key order, from either end.
    #[inline]
    pub fn iter(&self) -> Rows<'_, V> {
        Rows::of(self.index(), 0..usize::MAX)
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
pub(crate) fn row<'a, V: Value>((key, slot): (&'a u64, &'a V::Slot)) -> (u64, V::Ref<'a>) {
    (*key, V::read(slot))
}

/// Rows of one view, in key order.
pub struct Rows<'v, V: Value>(Entries<'v, u64, V::Slot>);

impl<'v, V: Value> Rows<'v, V> {
    /// The rows of an index at these positions, which are cut to what there is.
    #[inline]
    pub(crate) fn of(index: &'v Root<u64, V::Slot>, positions: Range<usize>) -> Self {
        Self(index.entries(positions))
    }
}

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
    table: &'a Table<V>,
    held: Held<V>,
}

impl<V: Value> Snapshot<'_, V> {
    /// The state at the moment of the snapshot.
    pub fn view(&self) -> View<'_, V> {
        match self.table.at(&self.held) {
            Some(view) => view,
            None => unreachable!("a snapshot is held from the store that it borrows"),
        }
    }
}

/// A moment of a store, kept readable until this is dropped or the store is; see
/// [`OrderedStore::hold`](crate::OrderedStore::hold).
pub struct Held<V: Value>(Hold<Roots<V>>);
