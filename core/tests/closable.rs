//! What can be closed while it is used.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use echo_data_core::{drain, Closable, OrderedStore};

/// Counts its drops, and notices a use after them.
struct Witness {
    intact: u64,
    drops: Arc<AtomicUsize>,
}

const INTACT: u64 = 0x0123_4567_89AB_CDEF;

impl Witness {
    fn new(drops: &Arc<AtomicUsize>) -> Self {
        Self {
            intact: INTACT,
            drops: Arc::clone(drops),
        }
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.intact = 0;
        self.drops.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn whoever_opened_it_before_the_close_goes_on() {
    let drops = Arc::new(AtomicUsize::new(0));
    let shared = Closable::new(Witness::new(&drops));
    let open = shared.open().expect("not closed yet");
    assert!(shared.close());
    assert!(shared.is_closed());
    assert!(shared.open().is_none());
    assert_eq!(open.intact, INTACT);
    assert_eq!(drops.load(Ordering::SeqCst), 0);
    drop(open);
    drain();
    assert_eq!(drops.load(Ordering::SeqCst), 1);
}

#[test]
fn what_is_never_closed_is_dropped_in_place() {
    let drops = Arc::new(AtomicUsize::new(0));
    drop(Closable::new(Witness::new(&drops)));
    assert_eq!(drops.load(Ordering::SeqCst), 1);
}

#[test]
fn one_of_many_closers_wins_while_readers_read() {
    const THREADS: usize = 4;
    for _ in 0..200 {
        let drops = Arc::new(AtomicUsize::new(0));
        let shared = Arc::new(Closable::new(Witness::new(&drops)));
        let barrier = Arc::new(Barrier::new(2 * THREADS));
        let readers: Vec<_> = (0..THREADS)
            .map(|_| {
                let (shared, barrier) = (Arc::clone(&shared), Arc::clone(&barrier));
                thread::spawn(move || {
                    barrier.wait();
                    while let Some(open) = shared.open() {
                        assert_eq!(open.intact, INTACT);
                    }
                })
            })
            .collect();
        let closers: Vec<_> = (0..THREADS)
            .map(|_| {
                let (shared, barrier) = (Arc::clone(&shared), Arc::clone(&barrier));
                thread::spawn(move || {
                    barrier.wait();
                    shared.close()
                })
            })
            .collect();
        for reader in readers {
            reader.join().expect("a reader saw a value that was intact");
        }
        let won = closers
            .into_iter()
            .map(|closer| closer.join().expect("closing does not panic"))
            .filter(|&won| won)
            .count();
        assert_eq!(won, 1);
        drain();
        assert_eq!(drops.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn draining_waits_for_what_a_closed_store_held() {
    let store = OrderedStore::new();
    store.put_all((0..50_000).map(|key| (key, key)));
    let gauge = store.gauge();
    let store = Closable::new(store);
    assert_eq!(gauge.left(), None);
    store.close();
    drain();
    assert_eq!(gauge.left(), Some(echo_data_core::Tally::default()));
}
