//! The memory of the whole process, counted at its allocator: what a store's own account says is true,
//! and nothing grows that the account does not know.
#![allow(unsafe_code)] // a global allocator that counts can only be had so

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::Mutex;
use std::thread;

use common::{eventually, scale, settle, Rng};
use echo_data_core::{drain, Blob, Boxed, OrderedStore, Put, Ranked, Value, When};

/// The system's allocator, and the bytes that are out.
struct Counting;

static BYTES: AtomicI64 = AtomicI64::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: all is left to the system's allocator, with what it is given.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: as the caller says.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: as the caller says.
        unsafe { System.dealloc(memory, layout) }
    }
}

fn allocated() -> i64 {
    BYTES.load(Ordering::Relaxed)
}

/// One test at a time: they share the count.
static ALONE: Mutex<()> = Mutex::new(());

/// More than two threads keep for reuse, with what waits for its grace period.
const KEPT: i64 = 4 << 20;

/// A write into shrunken nodes takes several times as long.
const SHRUNKEN: u64 = if cfg!(tiny_nodes) { 4 } else { 1 };

/// Whatever a test goes on to measure, its threads have their reusable memory by now.
fn warm_up() {
    let store: OrderedStore<u64> = (0..10_000).map(|key| (key, key)).collect();
    for key in 0..30_000 {
        store.put(key * 7 % 10_000, key);
    }
    let gauge = store.gauge();
    drop(store);
    settle(&gauge);
}

fn overwriting_does_not_grow<V: Value>(value: impl Fn(u64) -> V) {
    let _alone = ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut rng = Rng::new();
    warm_up();
    let rows = 10_000;
    let store: OrderedStore<V> = (0..rows).map(|key| (key, value(key))).collect();
    let gauge = store.gauge();
    let (before, told) = (allocated(), store.info().memory.bytes);
    for number in 0..scale(100_000 / SHRUNKEN, 3_000_000 / SHRUNKEN) {
        store.put(rng.below(rows), value(number));
        if number % 10_000 == 0 {
            // Shrunken, nearly every write is handed to the background thread, which may lag behind.
            if cfg!(tiny_nodes) {
                drain();
            }
            let grown = allocated() - before;
            assert!(grown < KEPT, "{grown} bytes more after {number} overwrites");
        }
    }
    drain();
    let (grown, bytes) = (allocated() - before, store.info().memory.bytes);
    assert!(grown < KEPT, "{grown} bytes more at the end");
    assert!(
        bytes < told * 3 / 2 + (128 << 10),
        "{bytes} bytes in a store that had {told}"
    );
    drop(store);
    settle(&gauge);
}

#[test]
fn overwriting_plain_values_does_not_grow_the_process() {
    overwriting_does_not_grow(|number| number);
}

#[test]
fn overwriting_boxed_values_does_not_grow_the_process() {
    overwriting_does_not_grow(|number| Boxed(vec![number; 4]));
}

#[test]
fn overwriting_blobs_does_not_grow_the_process() {
    overwriting_does_not_grow(|number| Blob::<()>::bytes(1, &[7; 60][..number as usize % 60]));
}

/// Distinct keys that come and go leave neither nodes nor anything else behind.
#[test]
fn churn_gives_memory_back() {
    let _alone = ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut rng = Rng::new();
    warm_up();
    let before = allocated();
    let store = OrderedStore::new();
    let gauge = store.gauge();
    let rows = scale(100_000 / SHRUNKEN, 1_000_000 / SHRUNKEN);
    let mut keys: Vec<u64> = (0..rows).map(|_| rng.next()).collect();
    let own = (keys.capacity() * size_of::<u64>()) as i64;
    for key in &keys {
        store.put(*key, Boxed(*key));
    }
    assert!(store.info().memory.nodes > rows / 64);
    rng.shuffle(&mut keys);
    for key in &keys {
        assert!(store.remove(*key));
    }
    drain();
    let info = store.info();
    assert_eq!(info.rows, 0);
    assert!(info.memory.bytes < 128 << 10, "{info:?}");
    let grown = allocated() - before - own;
    assert!(
        grown < KEPT,
        "{grown} bytes more after all rows were removed"
    );
    drop(store);
    settle(&gauge);
}

/// The account of a store is what the allocator says, within what the blocks' owners need besides.
#[test]
fn the_account_is_what_the_allocator_says() {
    let _alone = ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    warm_up();
    let before = allocated();
    let store: OrderedStore<Blob> = (0..200_000)
        .map(|key| (key, Blob::bytes(0, &[1; 40][..key as usize % 40])))
        .collect();
    let gauge = store.gauge();
    let (held, told) = ((allocated() - before) as u64, store.info().memory.bytes);
    let (low, high) = (told - told / 10, told + told / 10);
    assert!(
        (low..high).contains(&held),
        "{held} bytes allocated, {told} told"
    );
    drop(store);
    settle(&gauge);
    let left = allocated() - before;
    assert!(left < KEPT, "{left} bytes left");
}

/// Stores, gauges and holds by the thousand leave nothing behind.
#[test]
fn stores_that_come_and_go_leave_nothing() {
    let _alone = ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    warm_up();
    let before = allocated();
    for round in 0..scale(3000, 100_000) {
        let store: OrderedStore<Boxed<u64>> = (0..50).map(|key| (key, Boxed(key))).collect();
        let holds: Vec<_> = (0..round % 20).map(|_| store.hold()).collect();
        store.put_all((0..50).map(|key| (key, Boxed(key))));
        if round % 2 == 0 {
            drop(store);
            drop(holds);
        } else {
            drop(holds);
            drop(store);
        }
    }
    eventually("the stores' memory has come back", || {
        allocated() - before < KEPT / 8
    });
}

/// A group's name that was about to be made known, when another writer was first with the very same change.
#[test]
fn names_of_lost_attempts_are_dropped() {
    let _alone = ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    warm_up();
    let before = allocated();
    let set = Ranked::<i64>::new();
    let gauge = set.gauge();
    for number in 0..16 {
        let name = vec![number; KEPT as usize / 4];
        let mut first = true;
        let done = set.update_each(&[&name], 1, |_| {
            if std::mem::take(&mut first) {
                assert_eq!(set.put(&name, 1, 5, When::ALWAYS), Ok(Put::Added));
            }
            Ok(Some(5))
        });
        assert_eq!(done, Ok(vec![Put::Unchanged]));
        assert_eq!(set.drop_group(&name), 1);
        // The copy of the name makes this attempt long, so that the other thread's falls into it.
        let put = || set.put_all(&name, [(1, 5)]).expect("an integer");
        let added = thread::scope(|scope| {
            let other = scope.spawn(put);
            put() + other.join().expect("no panic")
        });
        assert_eq!(added, 1);
        assert_eq!(set.drop_group(&name), 1);
    }
    drop(set);
    settle(&gauge);
    eventually("the names are gone", || allocated() - before < KEPT);
}
