//! The publication protocol under every interleaving of a few threads:
//! `RUSTFLAGS="--cfg loom" cargo test -p echo_data_core --release --test loom`.
//!
//! A model fails when a row is lost or repeated, when a view mixes two moments, when memory is read
//! before it is written or after it is freed, and when something is not freed in the end. That the
//! models see what they should was tried by weakening the code, one place at a time:
//!
//! | weakened | seen by, among others |
//! |---|---|
//! | the Release that publishes a version; the Acquire of `pin`, `update` | `two_writers`, `writer_and_reader` |
//! | the Acquire of `hold` | `writer_snapshot_and_reclaimer` |
//! | the Release that counts an append; the Acquire that reads the count, or seals it | `appender_and_out_of_order_writer` |
//! | a version published over one that is not sealed, or sealed with another growth | `appender_and_sweeper` |
//! | an append counted after the seal | `two_appenders` |
//! | garbage, a cut or a closed value freed without its grace period | `two_writers`, `cut_and_readers`, `closers_and_user` |
//! | the guard taken after the load, or renewed before the exchange | `two_appenders` |
//! | the claim of a tail slot as a load and a store, or always granted | `two_appenders` |
//! | the guard let go before the snapshot is registered | `parking_and_release` |
//! | who needs a block: `<` for `<=`, one version off, nobody | `parking_and_release` |
//! | the Release of a snapshot's end, or the Acquire of `live` | `parking_and_release` |
//! | the Acquire of `register` | `place_changes_hands` |
//! | any ordering of `push` or `take`, or the second look after parking | `parking_and_release` |
//! | the Release or Acquires that link a chunk of places | `two_snapshots_and_a_publication` |
//! | the orderings of `closed`, the looks at it while and after parking, `take_all` at the close | `close_and_release` |
//! | the Acquire of `open`; a close that is not one exchange | `closers_and_user` |
//!
//! Seen by none, with the reason:
//!
//! - The Acquire of the publishing exchange: `update` has loaded the same pointer with Acquire.
//! - The Release of `close`: it follows directly on a pin, whose fence releases as much.
//! - Claims that are kept when a guard is renewed: they mislead only when a leaf's address is used again,
//!   and under loom freed memory rests.
//! - All of `limbo.rs`: under loom the deferred call frees at once, since its list of all threads that
//!   ever were does not end with a model. Stress tests and the sanitizer run it; the batches of each
//!   thread have models in `publish/batches/loom_models.rs`.

#![cfg(loom)]

use echo_data_core::{drain, Boxed, Closable, EdgeStore, Held, OrderedStore, Tally, View};
use loom::model::Builder;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::sync::Arc;
use loom::thread;

type Store = OrderedStore<Boxed<u64>>;

/// Runs `model` under every interleaving in which threads are interrupted at most `preemptions` times;
/// the environment variable `LOOM_MAX_PREEMPTIONS` overrides it.
fn check(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound.get_or_insert(preemptions);
    builder.check(model);
}

/// A store with a row for each key, all with value 0.
fn store(keys: impl IntoIterator<Item = u64>) -> Arc<Store> {
    Arc::new(keys.into_iter().map(|key| (key, Boxed(0))).collect())
}

/// The rows of a view, after checking that they are in order and as many as it says.
fn rows(view: &View<'_, Boxed<u64>>) -> Vec<(u64, u64)> {
    let rows: Vec<_> = view.iter().map(|(key, value)| (key, *value)).collect();
    assert_eq!(rows.len(), view.len());
    assert!(rows.is_sorted_by(|a, b| a.0 < b.0), "{rows:?}");
    rows
}

fn keys(store: &Store) -> Vec<u64> {
    let rows = rows(&store.view());
    rows.into_iter().map(|(key, _)| key).collect()
}

fn at(store: &Store, held: &Held<Boxed<u64>>) -> Vec<(u64, u64)> {
    rows(&store.at(held).expect("held from this store"))
}

/// Reads the store through a snapshot of its own.
fn look(store: &Store) -> Vec<(u64, u64)> {
    at(store, &store.hold())
}

fn spawn<T: Send + 'static>(
    store: &Arc<Store>,
    run: impl FnOnce(&Store) -> T + Send + 'static,
) -> thread::JoinHandle<T> {
    let store = Arc::clone(store);
    thread::spawn(move || run(&store))
}

/// Empties the store and then closes it: each leaves nothing behind.
fn close(store: Arc<Store>) {
    store.put(0, Boxed(0));
    store.clear();
    drain();
    let memory = store.info().memory;
    assert_eq!((memory.nodes, memory.payloads, memory.versions), (0, 0, 1));
    let gauge = store.gauge();
    drop(store);
    drain();
    assert_eq!(gauge.left(), Some(Tally::default()));
}

#[test]
fn loom_two_writers() {
    check(3, || {
        let store = store([10, 20, 30]);
        let other = spawn(&store, |store| (store.put(15, Boxed(1)), store.remove(20)));
        let removed = store.remove(20);
        let replaced = store.put(15, Boxed(2));
        let (also_replaced, also_removed) = other.join().unwrap();

        assert!(removed != also_removed && replaced != also_replaced);
        let last = if replaced { 2 } else { 1 };
        assert_eq!(rows(&store.view()), [(10, 0), (15, last), (30, 0)]);
        close(store);
    });
}

#[test]
fn loom_writer_and_reader() {
    check(4, || {
        let store = store([10, 40]);
        let writer = spawn(&store, |store| {
            for value in 1..=2 {
                store.put_all([(10, Boxed(value)), (40, Boxed(value))]);
            }
        });
        let mut seen = 0;
        for _ in 0..2 {
            let view = store.view();
            let value = *view.get(10).unwrap();
            assert_eq!(rows(&view), [(10, value), (40, value)]);
            assert!(value >= seen);
            seen = value;
        }
        writer.join().unwrap();
        close(store);
    });
}

/// The first look at a store is at the very version that another thread publishes: nothing but the
/// version pointer orders the two.
#[test]
fn loom_reader_meets_a_new_version() {
    check(4, || {
        let store = store([10]);
        let writer = spawn(&store, |store| store.put(20, Boxed(0)));
        let reader = spawn(&store, look);
        let seen = keys(&store);
        assert!(seen == [10] || seen == [10, 20]);
        assert!([1, 2].contains(&reader.join().unwrap().len()));
        writer.join().unwrap();
        close(store);
    });
}

#[test]
fn loom_two_appenders() {
    check(3, || {
        let store = store([1]);
        let other = spawn(&store, |store| {
            store.put(20, Boxed(0));
            store.put(40, Boxed(0));
        });
        store.put(10, Boxed(0));
        assert!(keys(&store).contains(&10));
        store.put(30, Boxed(0));
        other.join().unwrap();
        assert_eq!(keys(&store), [1, 10, 20, 30, 40]);
        close(store);
    });
}

/// Appends grow the version that is current, and other changes make the next one: whoever sees a later
/// change of a thread sees its earlier ones.
#[test]
fn loom_growth_between_versions() {
    check(3, || {
        let store = store([10]);
        let other = spawn(&store, |store| {
            store.put(20, Boxed(0));
            store.put(10, Boxed(1));
            store.put(30, Boxed(0));
        });
        let held = store.hold();
        let seen = rows(&store.view());
        let steps = [
            vec![(10, 0)],
            vec![(10, 0), (20, 0)],
            vec![(10, 1), (20, 0)],
            vec![(10, 1), (20, 0), (30, 0)],
        ];
        let step = |seen| steps.iter().position(|step| *step == seen);
        let first = step(at(&store, &held)).expect("a moment that was");
        assert!(step(seen).expect("a moment that was") >= first);
        other.join().unwrap();
        assert_eq!(step(at(&store, &held)), Some(first));
        drop(held);
        close(store);
    });
}

/// A change that sees the whole store meets appends: it counts all of them or is made again.
#[test]
fn loom_appender_and_sweeper() {
    check(3, || {
        let store = store([10]);
        let other = spawn(&store, |store| {
            store.put(20, Boxed(0));
            store.put(30, Boxed(0));
        });
        let swept = store.clear();
        other.join().unwrap();
        assert_eq!(swept + keys(&store).len(), 3);
        close(store);
    });
}

#[test]
fn loom_appender_and_out_of_order_writer() {
    check(3, || {
        let store = store(1..=6);
        let other = spawn(&store, |store| {
            assert!(store.put(1, Boxed(1)));
            assert!(store.remove(6));
        });
        assert!(!store.put(7, Boxed(0)));
        assert!(!store.put(8, Boxed(0)));
        other.join().unwrap();
        assert_eq!(keys(&store), [1, 2, 3, 4, 5, 7, 8]);
        close(store);
    });
}

#[test]
fn loom_writer_snapshot_and_reclaimer() {
    check(3, || {
        let store = store([10]);
        let writer = spawn(&store, |store| {
            for value in 1..=2 {
                store.put(10, Boxed(value));
            }
        });
        let reclaimer = thread::spawn(drain);
        let held = store.hold();
        let first = at(&store, &held);
        assert_eq!(at(&store, &held), first);
        drop(held);
        writer.join().unwrap();
        reclaimer.join().unwrap();
        close(store);
    });
}

#[test]
fn loom_two_snapshots_and_a_publication() {
    check(2, || {
        let store = store([10]);
        let others = [(); 2].map(|()| spawn(&store, look));
        store.put(10, Boxed(1));
        assert_eq!(look(&store), [(10, 1)]);
        for other in others {
            let seen = other.join().unwrap();
            assert!(seen == [(10, 0)] || seen == [(10, 1)]);
        }
        close(store);
    });
}

/// Blocks are parked with a snapshot that ends just then, and whose place another one takes.
#[test]
fn loom_parking_and_release() {
    check(4, || {
        let store = store([10]);
        let held = store.hold();
        let writer = spawn(&store, |store| {
            for value in 1..=2 {
                store.put(10, Boxed(value));
                drain();
            }
        });
        assert_eq!(at(&store, &held), [(10, 0)]);
        drop(held);
        look(&store);
        writer.join().unwrap();
        close(store);
    });
}

/// A place passes from one thread's snapshot to another's while blocks are retired: whoever finds the
/// second there frees what the first has read.
#[test]
fn loom_place_changes_hands() {
    check(3, || {
        let store = store([10]);
        let held = store.hold();
        let first = spawn(&store, move |store| {
            assert_eq!(at(store, &held), [(10, 0)]);
            drop(held);
        });
        let second = spawn(&store, |store| look(store).len());
        store.put(10, Boxed(1));
        drain();
        first.join().unwrap();
        assert_eq!(second.join().unwrap(), 1);
        close(store);
    });
}

/// Rows are cut off in one piece while others read them.
#[test]
fn loom_cut_and_readers() {
    check(3, || {
        let store = store(1..=10);
        let held = store.hold();
        let other = spawn(&store, move |store| {
            assert_eq!(at(store, &held).len(), 10);
            drop(held);
            keys(store)
        });
        let cut = spawn(&store, |store| store.remove_range(2..=9));
        let seen = [keys(&store), other.join().unwrap()];
        assert!(seen.iter().all(|keys| [2, 10].contains(&keys.len())));
        assert_eq!(cut.join().unwrap(), 8);
        assert_eq!(keys(&store), [1, 10]);
        close(store);
    });
}

/// Snapshots end while their store closes, and what it leaves does not wait for the last of them.
#[test]
fn loom_close_and_release() {
    check(3, || {
        let store = store([10, 20]);
        let last = store.hold();
        store.put(10, Boxed(1));
        let first = store.hold();
        store.put(20, Boxed(1));
        store.put(20, Boxed(2));
        drain();
        let gauge = store.gauge();
        let other = thread::spawn(move || drop(first));
        assert_eq!(at(&store, &last), [(10, 0), (20, 0)]);
        drop(store);
        other.join().unwrap();
        drain();
        assert_eq!(gauge.left(), Some(Tally::default()));
        drop(last);
    });
}

/// Both directions of an edge are there or neither is, for a reader and for a writer that comes second.
#[test]
fn loom_edges_in_both_directions() {
    check(3, || {
        let edges = Arc::new(EdgeStore::new());
        edges.link(1, 7, Boxed(0));
        let theirs = Arc::clone(&edges);
        let other = thread::spawn(move || (theirs.unlink(1, 7), theirs.link(2, 7, Boxed(2))));
        edges.link(1, 8, Boxed(1));
        let view = edges.view();
        for (from, to) in [(1, 7), (1, 8), (2, 7)] {
            assert_eq!(view.from(from).get(to), view.to(to).get(from));
        }
        drop(view);
        assert_eq!(other.join().unwrap(), (true, true));
        let view = edges.view();
        assert_eq!([view.from(1).len(), view.from(2).len()], [1, 1]);
        assert_eq!([view.to(7).len(), view.to(8).len()], [1, 1]);
        drop(view);
        let gauge = edges.gauge();
        drop(edges);
        drain();
        assert_eq!(gauge.left(), Some(Tally::default()));
    });
}

/// A value whose uses and whose end loom watches, and that can be missed.
struct Watched {
    cell: AtomicU64,
    _left: Arc<()>,
}

impl Watched {
    fn touch(&self) {
        self.cell.load(Ordering::Relaxed);
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.cell.with_mut(|_| ());
    }
}

/// Only one close is the one; who finds the value closed also finds what its closer did before.
#[test]
fn loom_closers_and_user() {
    check(3, || {
        let left = Arc::new(());
        let shared = Arc::new(Closable::new(Watched {
            cell: AtomicU64::new(0),
            _left: Arc::clone(&left),
        }));
        let done = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let other = {
            let (shared, done) = (Arc::clone(&shared), Arc::clone(&done));
            thread::spawn(move || use_and_close(&shared, &done, 0))
        };
        let user = {
            let (shared, done) = (Arc::clone(&shared), Arc::clone(&done));
            thread::spawn(move || {
                shared.open().map(|value| value.touch()).or_else(|| {
                    let done = done.each_ref().map(|done| done.load(Ordering::Relaxed));
                    Some(assert!(done.contains(&1)))
                })
            })
        };
        let closed = use_and_close(&shared, &done, 1);
        assert!(closed != other.join().unwrap());
        user.join().unwrap();
        assert!(shared.open().is_none());
        drain();
        drop(shared);
        assert_eq!(Arc::strong_count(&left), 1);
    });
}

fn use_and_close(shared: &Closable<Watched>, done: &[AtomicU64; 2], mine: usize) -> bool {
    if let Some(value) = shared.open() {
        value.touch();
    }
    done[mine].store(1, Ordering::Relaxed);
    let closed = shared.close();
    assert!(closed || done[1 - mine].load(Ordering::Relaxed) == 1);
    closed
}
