//! Several threads on one store: what readers and writers may rely on, and memory that comes back.
//! A few seconds; `ECHO_SOAK=1` makes it minutes. Each test that is random tells its seed.

mod common;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{mpsc, Arc, Barrier};
use std::thread;

use common::beside::beside;
use common::{eventually, scale, settle, settle_all, Grenade, Live, Rng, Tracked};
use echo_data_core::{drain, Boxed, Held, OrderedStore};

/// More bytes than a store keeps waiting before it hands them to the reclaimer.
const WAITING: u64 = 128 << 10;

fn tracked(keys: impl Iterator<Item = u64>, live: &Live) -> OrderedStore<Boxed<Tracked>> {
    keys.map(|key| (key, Boxed(live.value(key)))).collect()
}

#[test]
fn a_key_that_is_replaced_is_never_missing() {
    let live = Live::default();
    let store = tracked(0..100, &live);
    let gauge = store.gauge();
    let number = AtomicU64::new(0);
    beside(
        [|| {
            let number = number.fetch_add(1, Ordering::Relaxed);
            assert!(store.put(50, Boxed(live.value(number))));
        }],
        || {
            let mut last = 0;
            for _ in 0..scale(100_000, 10_000_000) {
                let view = store.view();
                let now = view.get(50).expect("the key is always there").number();
                assert_eq!(view.select(50).map(|(_, value)| value.number()), Some(now));
                assert!(now >= last || last == 50, "{now} after {last}");
                last = now;
            }
        },
    );
    assert_eq!(store.view().len(), 100);
    drop(store);
    settle_all(&gauge, &live);
}

#[test]
fn of_two_removals_of_one_key_one_wins() {
    let live = Live::default();
    let store = tracked(0..10, &live);
    let gauge = store.gauge();
    let rounds = scale(300, 20_000);
    let start = Barrier::new(2);
    let missed = AtomicBool::new(false);
    let worker = |taker: bool| {
        let mut wins = 0;
        for round in 0..rounds {
            if taker {
                store.put(5, Boxed(live.value(round)));
            }
            start.wait();
            wins += u64::from(if taker {
                store.take(5, Tracked::number) == Some(round)
            } else {
                store.remove(5)
            });
            start.wait();
            // Told and not asserted: a panic would leave the other thread at the barrier.
            missed.fetch_or(store.view().contains(5), Ordering::Relaxed);
            start.wait();
        }
        wins
    };
    let wins = thread::scope(|scope| {
        let other = scope.spawn(|| worker(true));
        worker(false) + other.join().expect("no panic")
    });
    assert!(!missed.into_inner(), "the key is gone after both removals");
    assert_eq!(wins, rounds);
    assert_eq!(store.clear(), 9);
    eventually("no value lives", || live.count() == 0);
    drop(store);
    settle(&gauge);
}

#[test]
fn a_scan_sees_every_stable_key_while_neighbours_churn() {
    let live = Live::default();
    let store = tracked((0..250).map(|n| n * 40), &live);
    let gauge = store.gauge();
    let mut rng = Rng::new();
    beside(
        [|| {
            let key = rng.below(250) * 40 + 1 + rng.below(39);
            if rng.chance(2) {
                store.put(key, Boxed(live.value(key)));
            } else {
                store.remove(key);
            }
        }],
        || {
            for round in 0..scale(1000, 50_000) {
                let view = store.view();
                let stable = |(key, value): (u64, &Tracked)| {
                    assert_eq!(key, value.number());
                    key.is_multiple_of(40).then_some(key)
                };
                let wanted = (0..250).map(|n| n * 40);
                if round % 2 == 0 {
                    assert!(view.iter().filter_map(stable).eq(wanted));
                } else {
                    assert!(view.iter().rev().filter_map(stable).eq(wanted.rev()));
                }
                assert_eq!(view.iter().count(), view.len());
            }
        },
    );
    drop(store);
    settle_all(&gauge, &live);
}

#[test]
fn counts_do_not_drift() {
    let live = Live::default();
    let store = tracked(std::iter::empty(), &live);
    let gauge = store.gauge();
    let mut rng = Rng::new();
    let rounds = scale(10_000, 1_000_000);
    let churn = |mut rng: Rng| {
        let mut balance = 0;
        for _ in 0..rounds {
            let key = rng.below(10);
            if rng.chance(2) {
                balance += i64::from(!store.put(key, Boxed(live.value(key))));
            } else {
                balance -= i64::from(store.remove(key));
            }
            let view = store.view();
            assert_eq!(view.len(), view.iter().count());
            assert_eq!(view.count(3..7), view.range(3..7).count());
        }
        balance
    };
    let balance = thread::scope(|scope| {
        let other = rng.fork();
        let other = scope.spawn(|| churn(other));
        churn(rng) + other.join().expect("no panic")
    });
    assert_eq!(balance, store.view().len() as i64);
    for key in 0..10 {
        store.remove(key);
    }
    assert!(store.view().is_empty());
    assert_eq!((store.info().rows, store.clear()), (0, 0));
    drop(store);
    settle_all(&gauge, &live);
}

/// What a writer does in the tests below: its keys in order, or in any order.
fn write_all(store: &OrderedStore<u64>, mut keys: Vec<u64>, shuffle: Option<Rng>) {
    if let Some(mut rng) = shuffle {
        rng.shuffle(&mut keys);
    }
    for key in keys {
        assert!(!store.put(key, key), "key {key} is put twice");
    }
}

/// Two writers with keys of their own: nothing is lost, nothing is repeated.
fn two_writers(shuffled: [bool; 2], keys: impl Fn(u64) -> [u64; 2]) {
    let mut rng = Rng::new();
    for _ in 0..scale(4, 40) {
        let store = OrderedStore::new();
        let gauge = store.gauge();
        let rows = 6000;
        let start = Barrier::new(2);
        thread::scope(|scope| {
            for (writer, shuffled) in shuffled.into_iter().enumerate() {
                let mine = (0..rows).map(|n| keys(n)[writer]).collect();
                let shuffle = shuffled.then(|| rng.fork());
                let (store, start) = (&store, &start);
                scope.spawn(move || {
                    start.wait();
                    write_all(store, mine, shuffle);
                });
            }
        });
        let wanted: BTreeSet<u64> = (0..rows).flat_map(&keys).collect();
        let view = store.view();
        assert_eq!(view.len(), wanted.len());
        assert!(view
            .iter()
            .map(|(key, value)| (key, *value))
            .eq(wanted.iter().map(|k| (*k, *k))));
        drop(view);
        drop(store);
        settle(&gauge);
    }
}

#[test]
fn two_appenders_lose_and_repeat_nothing() {
    two_writers([false, false], |n| [2 * n, 2 * n + 1]);
}

#[test]
fn two_writers_in_any_order_lose_and_repeat_nothing() {
    two_writers([true, true], |n| [2 * n, 2 * n + 1]);
}

#[test]
fn an_appender_and_a_writer_behind_it_lose_and_repeat_nothing() {
    two_writers([false, true], |n| [1_000_000 + n, n]);
}

#[test]
fn an_appender_and_a_writer_around_its_end_lose_and_repeat_nothing() {
    two_writers([false, true], |n| [2 * n, 2 * n + 1]);
}

/// Every value that is put is taken by exactly one of the takers.
#[test]
fn every_take_is_won_by_exactly_one() {
    let live = Live::default();
    let store = tracked(std::iter::empty(), &live);
    let gauge = store.gauge();
    let rows = scale(10_000, 500_000);
    let left = AtomicU64::new(rows);
    let taker = || {
        let mut taken = Vec::new();
        while left.load(Ordering::Relaxed) > 0 {
            let view = store.view();
            let Some((key, _)) = view.first() else {
                continue;
            };
            drop(view);
            if let Some(number) = store.take(key, Tracked::number) {
                assert_eq!(number, key);
                taken.push(key);
                left.fetch_sub(1, Ordering::Relaxed);
            }
        }
        taken
    };
    let mut taken = thread::scope(|scope| {
        let other = scope.spawn(taker);
        let more = scope.spawn(taker);
        for key in 0..rows {
            assert!(!store.put(key, Boxed(live.value(key))));
        }
        let taken = [
            taker(),
            other.join().expect("no panic"),
            more.join().expect("no panic"),
        ];
        taken.concat()
    });
    taken.sort_unstable();
    assert!(taken.into_iter().eq(0..rows));
    drop(store);
    settle_all(&gauge, &live);
}

/// Conditions see the value that they replace: two threads count up one number together.
#[test]
fn conditional_puts_lose_no_step() {
    let store = OrderedStore::from_iter((0..100).map(|key| (key, 0_u64)));
    let steps = scale(5000, 500_000);
    let count = || {
        for _ in 0..steps {
            loop {
                let now = *store.view().get(50).expect("the key is always there");
                if store.put_if(50, now + 1, |present| present == Some(&now)) {
                    break;
                }
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(count);
        count();
    });
    assert_eq!(store.view().get(50), Some(&(2 * steps)));
}

#[test]
fn a_batch_is_seen_whole_or_not_at_all() {
    let live = Live::default();
    let store = tracked(std::iter::empty(), &live);
    let gauge = store.gauge();
    let batch = AtomicU64::new(1);
    beside(
        [|| {
            let number = batch.fetch_add(1, Ordering::Relaxed);
            if number.is_multiple_of(10) {
                assert_eq!(store.remove_range(..), 300);
            } else {
                // Rows of the batch lie between rows that stay away, over several nodes.
                store.put_all((0..300).map(|n| (n * 7, Boxed(live.value(number)))));
            }
        }],
        || {
            for _ in 0..scale(3000, 200_000) {
                let view = store.view();
                let numbers: Vec<u64> = view.iter().map(|(_, value)| value.number()).collect();
                assert!(
                    numbers.is_empty() || numbers.len() == 300,
                    "{} rows",
                    numbers.len()
                );
                assert!(
                    numbers.windows(2).all(|pair| pair[0] == pair[1]),
                    "two batches at once"
                );
                let hold = store.hold();
                let held = store.at(&hold).expect("a hold of this store");
                assert!([0, 300].contains(&held.iter().count()));
            }
        },
    );
    drop(store);
    settle_all(&gauge, &live);
}

/// Ids that two threads mint and append are seen in order: nobody sees a later one and misses an
/// earlier one of the same thread.
#[test]
fn what_one_thread_puts_in_order_is_seen_in_order() {
    let store = OrderedStore::new();
    let next = AtomicU64::new(0);
    let rows = scale(20_000, 2_000_000);
    beside(
        [|| {
            let key = next.load(Ordering::Relaxed);
            if key < rows {
                store.put(key, key);
                next.store(key + 1, Ordering::Relaxed);
            }
        }],
        || loop {
            let view = store.view();
            let len = view.len() as u64;
            assert_eq!(view.last().map(|(key, _)| key), len.checked_sub(1));
            assert_eq!(view.rank(len / 2), (len / 2) as usize);
            if len == rows {
                break;
            }
        },
    );
}

/// A snapshot is always held, each newer one taken before the older one ends, while everything is
/// overwritten again and again: the store and the older snapshot are all that is retained.
#[test]
fn overlapping_snapshots_keep_memory_bounded() {
    let live = Live::default();
    let rows = 5000;
    let store = tracked(0..rows, &live);
    let gauge = store.gauge();
    let size = store.info().memory.bytes;
    let mut rng = Rng::new();
    let mut held = store.hold();
    for number in 1..=scale(60_000, 1_000_000) {
        store.put(rng.below(rows), Boxed(live.value(number)));
        if number % rows != 0 {
            continue;
        }
        drain();
        let memory = store.info().memory;
        assert!(
            memory.bytes < 2 * size + WAITING,
            "{memory:?} for a store of {size} bytes"
        );
        assert!(
            memory.payloads < 2 * rows + WAITING / 50,
            "{memory:?} for {rows} rows"
        );
        let newer = store.hold();
        let view = store.at(&held).expect("a hold of this store");
        let newest = view.iter().map(|(_, value)| value.number()).max();
        assert!(newest <= Some(number - rows) || number == rows);
        held = newer;
    }
    assert_eq!(store.info().snapshots, 1);
    drop(held);
    eventually("the snapshot's memory has come back", || {
        store.info().memory.bytes < size * 5 / 4 + WAITING
    });
    drop(store);
    settle_all(&gauge, &live);
}

/// The same with several threads that take, read and end snapshots of the moment they came.
#[test]
fn snapshots_come_and_go_beside_writers() {
    let live = Live::default();
    let store = tracked(0..500, &live);
    let gauge = store.gauge();
    let mut rng = Rng::new();
    let writes = scale(10_000, 1_000_000);
    let numbers = |hold: &Held<_>| -> Vec<u64> {
        let view = store.at(hold).expect("a hold of this store");
        let values = view.iter().map(|(_, value): (_, &Tracked)| value);
        values.map(Tracked::number).collect()
    };
    let read = |mut rng: Rng| {
        let (store, numbers) = (&store, &numbers);
        let mut held: Vec<(Held<_>, Vec<u64>)> = Vec::new();
        move || {
            if held.len() < 12 && rng.chance(2) {
                let hold = store.hold();
                let now = numbers(&hold);
                held.push((hold, now));
            } else if !held.is_empty() {
                let (hold, then) = held.swap_remove(rng.below(held.len() as u64) as usize);
                assert!(numbers(&hold) == then, "a held moment has changed");
            }
        }
    };
    beside([read(rng.fork()), read(rng.fork())], || {
        for number in 0..writes {
            match rng.below(20) {
                0 => drop(store.remove(rng.below(600))),
                1 if rng.chance(20) => drop(store.remove_range(rng.below(600)..)),
                2 if rng.chance(20) => {
                    store.put_all((0..500).map(|key| (key, Boxed(live.value(number)))));
                }
                _ => drop(store.put(rng.below(600), Boxed(live.value(number)))),
            }
        }
    });
    assert_eq!(store.info().snapshots, 0);
    drop(store);
    settle_all(&gauge, &live);
}

/// Writers replace, put, cut and take on the same keys: the values that are left are those of the rows.
#[test]
fn everything_at_once_leaks_nothing() {
    let live = Live::default();
    let store = tracked(0..1000, &live);
    let gauge = store.gauge();
    let mut rng = Rng::new();
    let writes = scale(8000, 1_000_000);
    let work = |mut rng: Rng| {
        for number in 0..writes {
            let key = rng.below(2000);
            match rng.below(12) {
                0..4 => drop(store.put(key, Boxed(live.value(number)))),
                4..6 => drop(store.put(5000 + number, Boxed(live.value(number)))),
                6..8 => drop(store.take(key, Tracked::number)),
                8 => drop(store.put_if(key, Boxed(live.value(number)), |now| now.is_none())),
                9 => drop(store.remove_if(key, |now| now.number() % 2 == 0)),
                10 if rng.chance(30) => drop(store.remove_range(key..key + 500)),
                _ if rng.chance(30) => {
                    store.put_all((key..key + 200).map(|key| (key, Boxed(live.value(key)))));
                }
                _ => drop(
                    store
                        .view()
                        .range(key..)
                        .take(20)
                        .map(|(_, v)| v.number())
                        .max(),
                ),
            }
        }
    };
    thread::scope(|scope| {
        for rng in [rng.fork(), rng.fork(), rng.fork()] {
            scope.spawn(|| work(rng));
        }
    });
    let rows = store.view().len();
    let hold = store.hold();
    store.clear();
    eventually("only the held rows' values live", || {
        live.count() == rows as i64
    });
    drop(hold);
    drop(store);
    settle_all(&gauge, &live);
}

/// Holds outlive their store in other threads, and end there.
#[test]
fn a_store_may_go_before_its_holds() {
    let mut rng = Rng::new();
    for _ in 0..scale(100, 5000) {
        let live = Live::default();
        let store = Arc::new(tracked(0..rng.below(2000), &live));
        let gauge = store.gauge();
        let (sender, holds) = mpsc::channel::<Held<Boxed<Tracked>>>();
        let ender = thread::spawn(move || {
            let mut last = Vec::new();
            for hold in holds {
                last.push(hold);
                last.truncate(3);
            }
        });
        let shared = Arc::clone(&store);
        let holder = thread::spawn(move || {
            for _ in 0..10 {
                if sender.send(shared.hold()).is_err() {
                    break;
                }
            }
        });
        for number in 0..200 {
            store.put(rng.below(2000), Boxed(live.value(number)));
        }
        drop(store);
        holder.join().expect("no panic");
        ender.join().expect("no panic");
        settle_all(&gauge, &live);
    }
}

/// Destructors that panic, met by writers, readers and the reclaimer alike.
#[test]
fn destructors_that_panic_do_not_end_reclamation() {
    let live = Live::default();
    let store = OrderedStore::new();
    let gauge = store.gauge();
    let work = || {
        for number in 0..scale(5000, 50_000) {
            store.put(number % 40, Boxed(Grenade::new(number, &live)));
            assert!(store.view().len() <= 40);
        }
    };
    thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    store.clear();
    eventually("every value is dropped", || live.count() == 0);
    drop(store);
    settle(&gauge);
}
