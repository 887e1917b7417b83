//! The ordered store: values under time-ordered ids.

use std::ops::RangeBounds;

pub use crate::table::{Held, Rows, Snapshot, View};

use crate::publish::{Gauge, Info};
use crate::table::Table;
use crate::value::Value;

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
    table: Table<V>,
}

impl<V: Value> OrderedStore<V> {
    /// An empty store.
    pub fn new() -> Self {
        Self {
            table: Table::new(),
        }
    }

    /// The current state, for reading now. Wait-free, about 15 ns.
    ///
    /// A view delays the freeing of memory in the whole process while it lives, without a bound on how
    /// much that becomes: keep it for one operation, and take a [`snapshot`](Self::snapshot) for anything
    /// longer.
    #[inline]
    pub fn view(&self) -> View<'_, V> {
        self.table.view()
    }

    /// The current state, for reading as long as needed. It retains at most the memory that the store
    /// has now, however much is written meanwhile. 50 to 100 ns to take and drop.
    pub fn snapshot(&self) -> Snapshot<'_, V> {
        self.table.snapshot()
    }

    /// Like [`snapshot`](Self::snapshot), but not borrowed from the store: read it with
    /// [`at`](Self::at). A held moment does not keep the store alive.
    pub fn hold(&self) -> Held<V> {
        self.table.hold()
    }

    /// The state at a held moment, or `None` if it was held from another store.
    pub fn at<'a>(&'a self, held: &'a Held<V>) -> Option<View<'a, V>> {
        self.table.at(held)
    }

    /// Puts `value` under `key`; answers whether a value was replaced. O(log n); an ascending key is
    /// appended in O(1).
    #[inline]
    pub fn put(&self, key: u64, value: V) -> bool {
        self.table.put(key, value)
    }

    /// Puts `value` under `key` if `admit` says so of the present value. Answers whether it was put.
    /// O(log n). `admit` may run more than once, when other writers are first.
    pub fn put_if(
        &self,
        key: u64,
        value: V,
        admit: impl FnMut(Option<V::Ref<'_>>) -> bool,
    ) -> bool {
        self.table.put_if(key, value, admit)
    }

    /// Puts all rows in one publication: every reader sees all of them or none. Of rows with the same
    /// key the last wins. O(rows + touched nodes) after sorting.
    pub fn put_all(&self, rows: impl IntoIterator<Item = (u64, V)>) {
        self.table.put_all(rows);
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
    pub fn remove_if(&self, key: u64, admit: impl FnMut(V::Ref<'_>) -> bool) -> bool {
        self.table.remove_if(key, admit)
    }

    /// Removes `key` and answers what `read` makes of its value. O(log n). `read` runs once, before
    /// the value is gone for good; the row is removed by then, and stays removed if `read` panics.
    pub fn take<T>(&self, key: u64, read: impl FnOnce(V::Ref<'_>) -> T) -> Option<T> {
        self.table.take(key, read)
    }

    /// Removes the rows in `range`; answers how many there were. O(log n) whatever their number.
    pub fn remove_range(&self, range: impl RangeBounds<u64> + Clone) -> usize {
        self.table.remove_range(range)
    }

    /// Removes everything; answers how many rows there were. O(1).
    pub fn clear(&self) -> usize {
        self.remove_range(..)
    }

    /// What the store holds, in rows and in memory. O(places for snapshots).
    pub fn info(&self) -> Info {
        self.table.info()
    }

    /// An account of this store's memory that can be read after the store is gone.
    pub fn gauge(&self) -> Gauge {
        self.table.gauge()
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
