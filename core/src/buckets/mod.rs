//! The bucket store: entries that expire with the stretch of time in which their ids were minted.

mod width;

use std::iter::FusedIterator;
use std::ops::{Deref, Range, RangeInclusive};

pub use width::{BucketWidth, InvalidBucketBits};

use crate::publish::{Gauge, Info};
use crate::table::{Held, Rows, Snapshot, Table, View};
use crate::value::Value;

/// Values under snowflakes, in buckets of time that expire as a whole.
///
/// A bucket is nothing that is kept: it is the neighbours that agree in the upper bits of their ids. So
/// what is too old is cut off the tree at one id, in O(log n) whatever its number, in one publication: a
/// reader sees all of a bucket or none of it. Buckets are counted by seeking from one to the next.
///
/// ```
/// use echo_data_core::id::snowflake;
/// use echo_data_core::Buckets;
///
/// let sessions = Buckets::new(12).unwrap();
/// let (now, width) = (1_769_526_512_000, sessions.width().millis() as i64);
/// for ago in 0..3 {
///     sessions.put(snowflake::min_for(now - ago * width), "a session");
/// }
/// assert_eq!(sessions.view().bucket_count(), 3);
/// assert_eq!(sessions.expire_older_than(now - width), 1);
/// assert_eq!(sessions.view().len(), 2);
/// ```
pub struct Buckets<V: Value> {
    table: Table<V>,
    width: BucketWidth,
}

impl<V: Value> Buckets<V> {
    /// No entries, in buckets of `2^bucket_bits` milliseconds.
    ///
    /// # Errors
    /// When `bucket_bits` are more than [`BucketWidth::MAX_BITS`].
    pub fn new(bucket_bits: u32) -> Result<Self, InvalidBucketBits> {
        BucketWidth::from_bits(bucket_bits).map(Self::of_width)
    }

    /// No entries, in buckets of this width.
    pub fn of_width(width: BucketWidth) -> Self {
        Self {
            table: Table::new(),
            width,
        }
    }

    /// How wide the buckets are.
    pub fn width(&self) -> BucketWidth {
        self.width
    }

    /// The current state, for reading now. Wait-free. Keep it for one operation; see
    /// [`OrderedStore::view`](crate::OrderedStore::view).
    #[inline]
    pub fn view(&self) -> BucketsView<'_, V> {
        self.seen(self.table.view())
    }

    /// The current state, for reading as long as needed; expired entries that it still shows are retained
    /// with it. See [`OrderedStore::snapshot`](crate::OrderedStore::snapshot).
    pub fn snapshot(&self) -> BucketsSnapshot<'_, V> {
        BucketsSnapshot {
            moment: self.table.snapshot(),
            width: self.width,
        }
    }

    /// Like [`snapshot`](Self::snapshot), but not borrowed from the store: read it with
    /// [`at`](Self::at). A held moment does not keep the store alive.
    pub fn hold(&self) -> Held<V> {
        self.table.hold()
    }

    /// The state at a held moment, or `None` if it was held from another store.
    pub fn at<'a>(&'a self, held: &'a Held<V>) -> Option<BucketsView<'a, V>> {
        self.table.at(held).map(|rows| self.seen(rows))
    }

    #[inline]
    fn seen<'a>(&self, rows: View<'a, V>) -> BucketsView<'a, V> {
        BucketsView {
            rows,
            width: self.width,
        }
    }

    /// Puts `value` under `id`; answers whether a value was replaced. O(log n); an ascending id is
    /// appended in O(1).
    #[inline]
    pub fn put(&self, id: u64, value: V) -> bool {
        self.table.put(id, value)
    }

    /// Puts `value` under `id` if `admit` says so of the present value. Answers whether it was put.
    /// O(log n). `admit` may run more than once, when other writers are first.
    pub fn put_if(&self, id: u64, value: V, admit: impl FnMut(Option<V::Ref<'_>>) -> bool) -> bool {
        self.table.put_if(id, value, admit)
    }

    /// Puts all entries in one publication: every reader sees all of them or none. Of entries with the
    /// same id the last wins. O(entries + touched nodes) after sorting.
    pub fn put_all(&self, entries: impl IntoIterator<Item = (u64, V)>) {
        self.table.put_all(entries);
    }

    /// Removes `id`; answers whether it was there. O(log n).
    pub fn remove(&self, id: u64) -> bool {
        self.take(id, |_| ()).is_some()
    }

    /// Removes `id` and answers what `read`, which runs once, makes of its value. O(log n).
    pub fn take<T>(&self, id: u64, read: impl FnOnce(V::Ref<'_>) -> T) -> Option<T> {
        self.table.take(id, read)
    }

    /// Drops every bucket that is older than the bucket of an instant, in milliseconds since 1970;
    /// answers how many entries there were. O(log n) whatever their number: their memory is left to the
    /// reclaimer.
    ///
    /// The bucket of the instant itself stays as a whole, and so does whatever is younger, the future
    /// included. An instant before the epoch of [`snowflake`](crate::id::snowflake) is older than every
    /// bucket and drops nothing. An entry that is put under an old id afterwards stays until the next
    /// call.
    pub fn expire_older_than(&self, unix_ms: i64) -> usize {
        let Some(bucket) = self.width.bucket_at(unix_ms) else {
            return 0;
        };
        match self.width.ids(bucket) {
            Some(ids) => self.table.remove_range(..*ids.start()),
            None => self.table.remove_range(..),
        }
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

impl<V: Value> Extend<(u64, V)> for Buckets<V> {
    fn extend<I: IntoIterator<Item = (u64, V)>>(&mut self, entries: I) {
        self.put_all(entries);
    }
}

impl<V: Value> std::fmt::Debug for Buckets<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.info().fmt("Buckets", f)
    }
}

/// One state of a bucket store: a [`View`] of its entries, and what can be asked of their buckets.
pub struct BucketsView<'a, V: Value> {
    rows: View<'a, V>,
    width: BucketWidth,
}

impl<'a, V: Value> Deref for BucketsView<'a, V> {
    type Target = View<'a, V>;

    #[inline]
    fn deref(&self) -> &View<'a, V> {
        &self.rows
    }
}

impl<V: Value> BucketsView<'_, V> {
    /// How wide the buckets are.
    pub fn width(&self) -> BucketWidth {
        self.width
    }

    /// The buckets that have entries, each with their number, in the order of time, from either end.
    /// O(log n) a bucket.
    pub fn buckets(&self) -> BucketCounts<'_, V> {
        self.counts_to(self.rows.len())
    }

    /// As [`buckets`](Self::buckets), of those before `bucket`: to go on where a walk from the newest was
    /// broken off.
    pub fn buckets_before(&self, bucket: u64) -> BucketCounts<'_, V> {
        self.counts_to(match self.width.ids(bucket) {
            Some(ids) => self.rows.rank(*ids.start()),
            None => self.rows.len(),
        })
    }

    /// The buckets of the entries below a position.
    fn counts_to(&self, end: usize) -> BucketCounts<'_, V> {
        BucketCounts {
            rows: &self.rows,
            width: self.width,
            positions: 0..end,
        }
    }

    /// How many buckets have entries. O(buckets × log n).
    pub fn bucket_count(&self) -> usize {
        self.buckets().count()
    }

    /// The bucket of the oldest entry. O(log n).
    pub fn oldest_bucket(&self) -> Option<u64> {
        let (id, _) = self.rows.first()?;
        Some(self.width.bucket_of(id))
    }

    /// The bucket of the newest entry. O(1).
    pub fn newest_bucket(&self) -> Option<u64> {
        let (id, _) = self.rows.last()?;
        Some(self.width.bucket_of(id))
    }

    /// The entries of `bucket` in the order of their ids, from either end. O(log n) to begin, then
    /// amortised O(1) each.
    pub fn bucket(&self, bucket: u64) -> Rows<'_, V> {
        match self.width.ids(bucket) {
            Some(ids) => self.rows.range(ids),
            None => self.rows.slice(0..0),
        }
    }
}

/// Buckets that have entries, oldest first, each with how many; see [`BucketsView::buckets`].
pub struct BucketCounts<'v, V: Value> {
    rows: &'v View<'v, V>,
    width: BucketWidth,
    /// Where the entries of the buckets to come are.
    positions: Range<usize>,
}

impl<V: Value> BucketCounts<'_, V> {
    /// The bucket of the entry at `position`, and the ids that it can have.
    fn at(&self, position: usize) -> Option<(u64, RangeInclusive<u64>)> {
        let (id, _) = self.rows.select(position)?;
        let bucket = self.width.bucket_of(id);
        Some((bucket, self.width.ids(bucket)?))
    }
}

impl<V: Value> Iterator for BucketCounts<'_, V> {
    type Item = (u64, usize);

    fn next(&mut self) -> Option<(u64, usize)> {
        if self.positions.is_empty() {
            return None;
        }
        let start = self.positions.start;
        let (bucket, ids) = self.at(start)?;
        self.positions.start = self.rows.positions(..=*ids.end()).end;
        Some((bucket, self.positions.start - start))
    }
}

impl<V: Value> DoubleEndedIterator for BucketCounts<'_, V> {
    fn next_back(&mut self) -> Option<(u64, usize)> {
        if self.positions.is_empty() {
            return None;
        }
        let end = self.positions.end;
        let (bucket, ids) = self.at(end - 1)?;
        self.positions.end = self.rows.rank(*ids.start());
        Some((bucket, end - self.positions.end))
    }
}

impl<V: Value> FusedIterator for BucketCounts<'_, V> {}

/// A moment of a bucket store, kept readable. Get a [`BucketsView`] of it as often as needed.
pub struct BucketsSnapshot<'a, V: Value> {
    moment: Snapshot<'a, V>,
    width: BucketWidth,
}

impl<V: Value> BucketsSnapshot<'_, V> {
    /// The state at the moment of the snapshot.
    pub fn view(&self) -> BucketsView<'_, V> {
        BucketsView {
            rows: self.moment.view(),
            width: self.width,
        }
    }
}
