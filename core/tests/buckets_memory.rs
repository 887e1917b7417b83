//! The memory of buckets: what has expired is given back, and costs no more on the way.

mod common;

use common::{eventually, scale, settle, settle_all, Live};
use echo_data_core::id::snowflake;
use echo_data_core::{drain, Boxed, Buckets, Tally, Value};

/// A write into shrunken nodes takes several times as long.
const SHRUNKEN: u64 = if cfg!(tiny_nodes) { 10 } else { 1 };

/// Ids of a millisecond.
const IDS: u64 = 100;

fn id(row: u64) -> u64 {
    snowflake::compose(row / IDS, 0, (row % IDS) as u16)
}

fn filled<V: Value>(rows: std::ops::Range<u64>, value: impl Fn(u64) -> V) -> Buckets<V> {
    let store = Buckets::new(0).expect("few bits");
    for row in rows {
        store.put(id(row), value(row));
    }
    store
}

/// The instant before which `rows` were put.
fn after(rows: u64) -> i64 {
    snowflake::unix_ms(id(rows)) as i64
}

fn memory<V: Value>(store: &Buckets<V>) -> Tally {
    drain();
    store.info().memory
}

/// Nine tenths expire. What is left takes as much as if nothing else had ever been there.
fn expiry_gives_memory_back<V: Value>(rows: u64, value: impl Fn(u64) -> V) {
    let (expired, rest) = (rows / 10 * 9, rows / 10);
    let store = filled(0..rows, &value);
    let before = memory(&store);
    assert_eq!(store.expire_older_than(after(expired)) as u64, expired);
    let fresh = filled(expired..rows, &value);
    let wanted = memory(&fresh);
    assert_eq!(fresh.info().rows as u64, rest);
    // Until then a store keeps up to 64 KiB that it has replaced, or a quarter of itself.
    let most = wanted.bytes * 5 / 4 + (64 << 10);
    eventually("the memory of the expired entries is given back", || {
        memory(&store).bytes <= most && store.info().memory.payloads == wanted.payloads
    });
    assert!(most < before.bytes / 2, "{before:?} {wanted:?}");
    assert_eq!(store.expire_older_than(i64::MAX) as u64, rest);
    eventually("the memory of all entries is given back", || {
        let left = memory(&store);
        (left.nodes, left.payloads) == (0, 0)
    });
    for store in [store, fresh] {
        let gauge = store.gauge();
        drop(store);
        settle(&gauge);
    }
}

#[test]
fn of_a_million_entries_nine_tenths_expire_and_give_their_memory_back() {
    expiry_gives_memory_back(1_000_000 / SHRUNKEN, |row| row);
}

#[test]
fn the_values_of_expired_entries_are_dropped() {
    let live = Live::default();
    let rows = scale(100_000, 1_000_000) / SHRUNKEN;
    expiry_gives_memory_back(rows, |row| Boxed(live.value(row)));
    assert_eq!(live.count(), 0);
}

/// Entries come and expire for ever: the store stays as large as what has not expired.
#[test]
fn a_store_that_expires_all_the_time_does_not_grow() {
    let live = Live::default();
    let store = filled(0..5000, |row| Boxed(live.value(row)));
    let gauge = store.gauge();
    let before = memory(&store);
    for row in 5000..scale(60_000, 2_000_000) {
        store.put(id(row), Boxed(live.value(row)));
        if row % IDS == 0 {
            assert_eq!(
                store.expire_older_than(after(row + IDS - 5000)),
                IDS as usize
            );
        }
        if row % 10_000 == 0 {
            let now = memory(&store);
            assert!(
                now.bytes < before.bytes * 2 + (128 << 10),
                "{before:?} {now:?}"
            );
            assert!(live.count() < 12_000, "{} values live", live.count());
        }
    }
    assert_eq!(store.view().bucket_count() as u64, 5000 / IDS);
    drop(store);
    settle_all(&gauge, &live);
}

/// Counted in nodes, not in time: while a moment is held nothing is freed, so what there is more of was
/// made.
#[test]
fn expiry_makes_the_nodes_of_one_path() {
    let rows = 1_000_000 / SHRUNKEN;
    let store = Buckets::new(0).expect("few bits");
    store.put_all((0..rows).map(|row| (id(row), row)));
    let hold = store.hold();
    let most = if cfg!(tiny_nodes) { 60 } else { 12 };
    for tenth in 1..10 {
        let before = store.info().memory.nodes;
        let expired = store.expire_older_than(after(rows / 10 * tenth)) as u64;
        assert_eq!(expired, rows / 10);
        let made = store.info().memory.nodes - before;
        assert!(made <= most, "{made} nodes to expire {expired} entries");
    }
    assert_eq!(store.at(&hold).map(|view| view.len() as u64), Some(rows));
}
