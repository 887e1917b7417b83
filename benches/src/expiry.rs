//! Expiry: the bucket store beside the ordered maps of the standard library, as one map and as a map of
//! maps.

use std::collections::BTreeMap;

use echo_data_core::id::snowflake::{compose, min_for, EPOCH_MS};
use echo_data_core::{BucketWidth, Buckets};

/// Buckets of the workloads: 4096 ms.
pub const WIDTH: BucketWidth = match BucketWidth::from_bits(12) {
    Ok(width) => width,
    Err(_) => unreachable!(),
};

/// Rows under snowflakes in buckets of time, as the workloads see them.
pub trait Expiring {
    /// What the tables call it.
    const NAME: &'static str;

    /// Rows under `ids`, put in the given order.
    fn of(ids: &[u64]) -> Self;

    /// Drops every bucket before the one of an instant in milliseconds since 1970, and frees what no other
    /// thread does; answers how many rows there were.
    fn expire_older_than(&mut self, unix_ms: u64) -> usize;

    /// How many buckets have rows.
    fn bucket_count(&self) -> usize;
}

/// The core's bucket store.
pub type CoreBuckets = Buckets<u64>;

impl Expiring for CoreBuckets {
    const NAME: &'static str = "echo_data";

    fn of(ids: &[u64]) -> Self {
        let store = Buckets::of_width(WIDTH);
        for &id in ids {
            store.put(id, id);
        }
        store
    }

    fn expire_older_than(&mut self, unix_ms: u64) -> usize {
        Buckets::expire_older_than(self, unix_ms as i64)
    }

    fn bucket_count(&self) -> usize {
        self.view().bucket_count()
    }
}

/// The first id of the bucket of an instant.
fn first_id(unix_ms: u64) -> u64 {
    let bucket = WIDTH.bucket_of(min_for(unix_ms as i64));
    min_for(WIDTH.start_ms(bucket) as i64)
}

impl Expiring for BTreeMap<u64, u64> {
    const NAME: &'static str = "BTreeMap";

    fn of(ids: &[u64]) -> Self {
        let mut map = Self::new();
        for &id in ids {
            map.insert(id, id);
        }
        map
    }

    fn expire_older_than(&mut self, unix_ms: u64) -> usize {
        let rest = self.split_off(&first_id(unix_ms));
        std::mem::replace(self, rest).len()
    }

    fn bucket_count(&self) -> usize {
        let (mut count, mut from) = (0, 0);
        while let Some((id, _)) = self.range(from..).next() {
            count += 1;
            let next = WIDTH.bucket_of(*id) + 1;
            from = first_id(WIDTH.start_ms(next));
        }
        count
    }
}

/// A map of each bucket.
pub type MapOfMaps = BTreeMap<u64, BTreeMap<u64, u64>>;

impl Expiring for MapOfMaps {
    const NAME: &'static str = "maps of maps";

    fn of(ids: &[u64]) -> Self {
        let mut map = Self::new();
        for &id in ids {
            map.entry(WIDTH.bucket_of(id)).or_default().insert(id, id);
        }
        map
    }

    fn expire_older_than(&mut self, unix_ms: u64) -> usize {
        let rest = self.split_off(&WIDTH.bucket_of(first_id(unix_ms)));
        let expired = std::mem::replace(self, rest);
        expired.values().map(BTreeMap::len).sum()
    }

    fn bucket_count(&self) -> usize {
        self.len()
    }
}

/// `count` ids, one a millisecond.
pub fn ids_of_time(count: usize) -> Vec<u64> {
    (0..count as u64).map(|time| compose(time, 0, 0)).collect()
}

/// An instant that is `rows` after the first of [`ids_of_time`], or up to a bucket before that.
pub fn instant_after(rows: usize) -> u64 {
    EPOCH_MS + rows as u64
}
