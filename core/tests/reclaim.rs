//! Reclamation when something is in its way: readers that stay, processes that idle, destructors that panic,
//! sizes that cannot be.

mod common;

use std::panic::panic_any;
use std::sync::mpsc::channel;
use std::sync::Barrier;
use std::thread;

use common::{eventually, settle_all, wait_until, Live, Tracked};
use echo_data_core::{discard, Blob, Boxed, Closable, OrderedStore};

#[test]
fn a_store_is_dropped_beside_a_reader_of_another() {
    const ROWS: u64 = 5000;
    let (live, read) = (Live::default(), OrderedStore::<u64>::new());
    let dropped: OrderedStore<Boxed<Tracked>> =
        (0..ROWS).map(|key| (key, Boxed(live.value(key)))).collect();
    let (done, wait) = channel::<()>();
    let (read, pinned) = (&read, &Barrier::new(2));
    thread::scope(|threads| {
        threads.spawn(move || {
            let view = read.view();
            pinned.wait();
            // Until the sender is gone.
            let _ = wait.recv();
            drop(view);
        });
        pinned.wait();
        // Its grace period lasts as long as the view.
        Closable::new(()).close();
        drop(dropped);
        wait_until("the rows are dropped", || live.count() == 0);
        drop(done);
    });
}

#[test]
fn what_others_pin_by_the_same_library_is_not_waited_for() {
    let live = Live::default();
    let pinned = crossbeam_epoch::pin();
    Closable::new(live.value(1)).close();
    wait_until("the value is dropped", || live.count() == 0);
    drop(pinned);
}

#[test]
fn a_large_value_does_not_wait_for_the_next_write() {
    let (live, store) = (Live::default(), OrderedStore::new());
    store.put(1, Blob::owning(0, live.value(1), 1 << 30));
    store.remove(1);
    wait_until("the value is dropped", || live.count() == 0);
}

/// Panics when it is dropped, and so does what the panic carries.
struct Bomb {
    charge: bool,
    _live: Tracked,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.charge {
            panic_any(Charge);
        }
    }
}

struct Charge;

impl Drop for Charge {
    fn drop(&mut self) {
        panic!("a charge went off");
    }
}

#[test]
fn destructors_that_panic_twice_do_not_end_reclamation() {
    let live = Live::default();
    for number in 0..3 {
        discard(Bomb {
            charge: true,
            _live: live.value(number),
        });
    }
    discard(live.value(3));
    wait_until("all are dropped", || live.count() == 0);
}

#[test]
fn sizes_beyond_all_memory_count_as_much_as_there_can_be_and_go_again() {
    let live = Live::default();
    let store: OrderedStore<Blob<Tracked>> = OrderedStore::new();
    let row = |key| (key, Blob::owning(0, live.value(key), usize::MAX));
    for _ in 0..2 {
        store.put_all((0..40).map(row));
    }
    let as_told = || (40 << 47..=81 << 47).contains(&store.info().memory.bytes);
    assert!(as_told(), "{:?}", store.info());
    // More than fits in a sum of all that there ever was.
    for round in 0..1 << 18 {
        store.put(round % 40, row(round).1);
    }
    eventually("what was replaced is gone", as_told);
    let (gauge, rows) = (store.gauge(), store.clear());
    assert_eq!((rows, gauge.left()), (40, None));
    drop(store);
    settle_all(&gauge, &live);
}
