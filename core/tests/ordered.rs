//! The ordered store through its public door: every function and its edges.

mod common;

use std::collections::VecDeque;
use std::ops::Bound;

use common::{settle, within, Rng};
use echo_data_core::{Held, OrderedStore, Snapshot, Tally, View};

/// Sizes around the widths of nodes, full size and shrunken.
const SIZES: [u64; 12] = [0, 1, 2, 4, 5, 16, 17, 63, 64, 65, 129, 5000];

/// Keys `1, 3, 5, …`, each with ten times itself.
fn odd(rows: u64) -> OrderedStore<u64> {
    (0..rows).map(|n| (2 * n + 1, 10 * (2 * n + 1))).collect()
}

fn keys(view: &View<'_, u64>) -> Vec<u64> {
    view.iter().map(|(key, _)| key).collect()
}

fn pair((key, value): (u64, &u64)) -> (u64, u64) {
    (key, *value)
}

#[test]
fn handles_cross_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<OrderedStore<u64>>();
    is_shared::<Snapshot<'_, u64>>();
    is_shared::<Held<u64>>();
    is_shared::<echo_data_core::Gauge>();
}

#[test]
fn an_empty_store_answers_everything() {
    for store in [OrderedStore::<u64>::new(), OrderedStore::default(), odd(0)] {
        let view = store.view();
        assert!(view.is_empty());
        assert_eq!((view.len(), view.rank(0), view.rank(u64::MAX)), (0, 0, 0));
        assert_eq!((view.get(0), view.contains(0)), (None, false));
        assert_eq!(
            (view.first(), view.last(), view.select(0)),
            (None, None, None)
        );
        assert_eq!((view.count(..), view.positions(..)), (0, 0..0));
        assert_eq!(view.iter().next(), None);
        assert_eq!(view.iter().next_back(), None);
        assert_eq!(view.iter().nth(1), None);
        assert_eq!(view.slice(0..usize::MAX).size_hint(), (0, Some(0)));
        assert_eq!(view.range(3..9).count(), 0);
        let mut found = Vec::new();
        view.get_many(&[1, 2], |at, value| found.push((at, value.copied())));
        assert_eq!(found, [(0, None), (1, None)]);

        assert!(!store.remove(1));
        assert!(!store.remove_if(1, |_| unreachable!("there is no value")));
        assert_eq!(
            store.take(1, |_| unreachable!("there is no value")),
            None::<()>
        );
        assert_eq!((store.remove_range(..), store.clear()), (0, 0));
        store.put_all([]);
        assert_eq!(store.info().rows, 0);
        assert_eq!(store.info().memory.nodes, 0);
    }
}

#[test]
fn the_smallest_and_largest_keys_are_keys_like_others() {
    let store = OrderedStore::new();
    for key in [u64::MAX, 0, u64::MAX - 1, 1] {
        assert!(!store.put(key, key));
    }
    let view = store.view();
    assert_eq!(keys(&view), [0, 1, u64::MAX - 1, u64::MAX]);
    assert_eq!(view.first().map(pair), Some((0, 0)));
    assert_eq!(view.last().map(pair), Some((u64::MAX, u64::MAX)));
    assert_eq!((view.rank(0), view.rank(u64::MAX)), (0, 3));
    assert_eq!(view.count(..=u64::MAX), 4);
    assert_eq!(view.count(..u64::MAX), 3);
    assert_eq!(view.count((Bound::Excluded(0), Bound::Unbounded)), 3);
    assert_eq!(view.count((Bound::Excluded(u64::MAX), Bound::Unbounded)), 0);
    assert!(store.remove(u64::MAX));
    assert!(store.remove(0));
    assert_eq!(keys(&store.view()), [1, u64::MAX - 1]);
    assert_eq!(view.len(), 4);
}

#[test]
fn ranks_positions_and_rows_agree_at_every_size() {
    for rows in SIZES {
        let store = odd(rows);
        let view = store.view();
        assert_eq!((view.len(), view.is_empty()), (rows as usize, rows == 0));
        assert_eq!(
            keys(&view),
            (0..rows).map(|n| 2 * n + 1).collect::<Vec<_>>()
        );
        for at in 0..rows {
            let key = 2 * at + 1;
            assert_eq!(view.select(at as usize).map(pair), Some((key, 10 * key)));
            assert_eq!(
                (view.rank(key), view.rank(key + 1)),
                (at as usize, at as usize + 1)
            );
            assert_eq!(
                (view.get(key), view.get(key + 1)),
                (Some(&(10 * key)), None)
            );
            assert!(view.contains(key) && !view.contains(key - 1));
        }
        assert_eq!(view.select(rows as usize), None);
        assert_eq!(view.select(usize::MAX), None);
        assert_eq!(view.first(), view.iter().next());
        assert_eq!(view.last(), view.iter().next_back());
    }
}

#[test]
fn every_kind_of_bound_is_kept_in_both_directions() {
    for rows in [0, 1, 2, 5, 65, 700] {
        let store = odd(rows);
        let view = store.view();
        let all = keys(&view);
        let end = 2 * rows;
        let probes = [
            0,
            1,
            2,
            3,
            end / 2,
            end.saturating_sub(1),
            end,
            end + 1,
            u64::MAX,
        ];
        let bounds = probes
            .into_iter()
            .flat_map(|key| [Bound::Included(key), Bound::Excluded(key)])
            .chain([Bound::Unbounded]);
        for low in bounds.clone() {
            for high in bounds.clone() {
                let wanted = within(&all, (low, high));
                let start = match low {
                    Bound::Unbounded => 0,
                    Bound::Included(low) => all.partition_point(|key| *key < low),
                    Bound::Excluded(low) => all.partition_point(|key| *key <= low),
                };
                let positions = start..start + wanted.len();
                assert_eq!(view.count((low, high)), wanted.len());
                assert_eq!(view.positions((low, high)), positions, "{low:?} {high:?}");
                let ascending = view.range((low, high)).map(|(key, _)| key);
                assert!(ascending.eq(wanted.iter().copied()), "{low:?} {high:?}");
                let descending = view.range((low, high)).rev().map(|(key, _)| key);
                assert!(
                    descending.eq(wanted.iter().rev().copied()),
                    "{low:?} {high:?}"
                );
                assert!(view.slice(positions).eq(view.range((low, high))));
            }
        }
    }
}

#[test]
#[allow(clippy::reversed_empty_ranges)] // what a caller computes may be reversed
fn inverted_ranges_are_empty() {
    let store = odd(100);
    let view = store.view();
    assert_eq!((view.count(50..10), view.range(50..10).count()), (0, 0));
    assert!(view.positions(50..10).is_empty());
    assert_eq!(view.slice(7..3).count(), 0);
    assert_eq!(view.slice(usize::MAX..0).count(), 0);
    assert_eq!(view.slice(200..usize::MAX).count(), 0);
    assert_eq!(view.slice(98..usize::MAX).count(), 2);
    assert_eq!(store.remove_range(50..10), 0);
    assert_eq!(
        store.remove_range((Bound::Excluded(5), Bound::Excluded(5))),
        0
    );
    assert_eq!(store.view().len(), 100);
}

/// Any mix of steps from both ends gives each row once and tells at each moment how many are left.
#[test]
fn rows_can_be_taken_from_both_ends_in_any_order() {
    let mut rng = Rng::new();
    for _ in 0..400 {
        let store = odd(SIZES[rng.below(11) as usize] * (1 + rng.below(6)));
        let view = store.view();
        let len = view.len() as u64;
        let start = rng.below(len + 2) as usize;
        let positions = start..start + rng.below(len + 2) as usize;
        let mut model: VecDeque<u64> = keys(&view).into_iter().collect();
        model.truncate(positions.end);
        model.drain(..start.min(model.len()));
        let mut rows = view.slice(positions);
        loop {
            assert_eq!(rows.len(), model.len());
            assert_eq!(rows.size_hint(), (model.len(), Some(model.len())));
            let few = rng.below(4) as usize;
            let (got, wanted) = match rng.below(8) {
                0..3 => (rows.next(), model.pop_front()),
                3..6 => (rows.next_back(), model.pop_back()),
                6 => {
                    let skip = if rng.chance(9) { usize::MAX } else { few };
                    model.drain(..skip.min(model.len()));
                    (rows.nth(skip), model.pop_front())
                }
                _ => {
                    model.truncate(model.len().saturating_sub(few));
                    (rows.nth_back(few), model.pop_back())
                }
            };
            assert_eq!(got.map(|(key, _)| key), wanted);
            if wanted.is_none() {
                break;
            }
        }
        assert_eq!(
            (rows.next(), rows.next_back(), rows.nth(1)),
            (None, None, None)
        );
    }
}

#[test]
fn a_view_can_be_iterated_by_reference() {
    let store = odd(3);
    let view = store.view();
    let mut sum = 0;
    for (key, value) in &view {
        sum += key + value;
    }
    assert_eq!(sum, 11 * (1 + 3 + 5));
}

#[test]
fn many_keys_are_looked_up_in_their_order() {
    let mut rng = Rng::new();
    for rows in [1, 64, 5000] {
        let store = odd(rows);
        let view = store.view();
        for len in [0, 1, 15, 16, 17, 32, 100] {
            let asked: Vec<u64> = (0..len).map(|_| rng.below(2 * rows + 2)).collect();
            let mut found = Vec::new();
            view.get_many(&asked, |at, value| found.push((at, value)));
            let wanted = asked.iter().map(|key| view.get(*key)).enumerate();
            assert!(found.into_iter().eq(wanted));
        }
    }
}

#[test]
fn put_says_whether_it_replaced() {
    let store = OrderedStore::new();
    assert!(!store.put(5, 'a'));
    assert!(store.put(5, 'b'));
    assert!(!store.put(4, 'c'));
    assert!(!store.put(6, 'd'));
    let rows: String = store.view().iter().map(|(_, value)| *value).collect();
    assert_eq!(rows, "cbd");
}

#[test]
fn a_condition_decides_on_the_present_value() {
    let store = OrderedStore::new();
    assert!(!store.put_if(1, 'a', |present| present.is_some()));
    assert_eq!(store.view().get(1), None);
    assert!(store.put_if(1, 'a', |present| present.is_none()));
    assert!(!store.put_if(1, 'b', |present| present.is_none()));
    assert!(store.put_if(1, 'b', |present| present == Some(&'a')));
    assert_eq!(store.view().get(1), Some(&'b'));

    assert!(!store.remove_if(1, |present| *present == 'a'));
    assert!(!store.remove_if(2, |_| true));
    assert!(store.remove_if(1, |present| *present == 'b'));
    assert!(store.view().is_empty());
}

#[test]
fn a_condition_runs_once_when_nobody_else_writes() {
    let store = odd(10);
    let mut runs = 0;
    store.put_if(3, 0, |_| {
        runs += 1;
        true
    });
    store.remove_if(3, |_| {
        runs += 1;
        true
    });
    assert_eq!(runs, 2);
}

#[test]
fn take_answers_what_it_removed() {
    let store = odd(200);
    assert_eq!(store.take(7, |value| *value), Some(70));
    assert_eq!(store.take(7, |value| *value), None);
    assert_eq!(store.view().len(), 199);
    assert!(store.remove(9) && !store.remove(9));
    assert_eq!(store.view().get(11), Some(&110));
}

#[test]
fn neighbouring_keys_are_left_alone() {
    for rows in SIZES.into_iter().skip(1) {
        let store = odd(rows);
        let middle = 2 * (rows / 2) + 1;
        store.put(middle, 1);
        store.remove(middle - 1);
        store.remove(middle + 1);
        let changed = |n| if n == middle { (n, 1) } else { (n, 10 * n) };
        let wanted = (0..rows).map(|n| changed(2 * n + 1));
        assert!(store.view().iter().map(pair).eq(wanted));
    }
}

#[test]
fn of_rows_with_one_key_the_last_is_put() {
    let store = OrderedStore::new();
    store.put_all([(3, 'x'), (1, 'a'), (3, 'y'), (2, 'b'), (3, 'c')]);
    let rows: Vec<_> = store
        .view()
        .iter()
        .map(|(key, value)| (key, *value))
        .collect();
    assert_eq!(rows, [(1, 'a'), (2, 'b'), (3, 'c')]);
}

#[test]
fn a_batch_mixes_with_what_is_there() {
    let mut rng = Rng::new();
    for rows in SIZES {
        let mut store = odd(rows);
        let mut batch: Vec<(u64, u64)> = (0..2 * rows).map(|key| (key, key + 1)).collect();
        rng.shuffle(&mut batch);
        store.put_all(batch);
        let wanted = (0..2 * rows).map(|key| (key, key + 1));
        assert!(store.view().iter().map(pair).eq(wanted.clone()));
        store.extend([(u64::MAX, 0)]);
        assert!(store
            .view()
            .iter()
            .map(pair)
            .eq(wanted.chain([(u64::MAX, 0)])));
    }
}

#[test]
fn an_empty_batch_publishes_nothing() {
    let store = odd(5);
    let before = store.info();
    store.put_all([]);
    assert!(!store.put_if(1, 0, |_| false));
    assert_eq!(store.remove_range(100..), 0);
    assert_eq!(store.info(), before);
}

#[test]
fn ranges_are_removed_whole() {
    let mut rng = Rng::new();
    for rows in SIZES {
        for _ in 0..8 {
            let store = odd(rows);
            let all = keys(&store.view());
            let (low, high) = (rng.below(2 * rows + 2), rng.below(2 * rows + 2));
            let gone = within(&all, low..high);
            assert_eq!(store.remove_range(low..high), gone.len());
            let left: Vec<u64> = all.into_iter().filter(|key| !gone.contains(key)).collect();
            assert_eq!(keys(&store.view()), left);
            assert_eq!(store.clear(), left.len());
            assert!(store.view().is_empty());
            store.put(1, 1);
            assert_eq!(keys(&store.view()), [1]);
        }
    }
}

/// Counted in nodes made, not in time: a hold keeps everything replaced, so the difference is what the
/// operation built.
#[test]
fn removing_a_range_builds_two_paths_whatever_lies_between() {
    let store = odd(200_000);
    let before = store.info().memory.nodes;
    let hold = store.hold();
    assert_eq!(store.remove_range(10_001..390_001), 190_000);
    let built = store.info().memory.nodes - before;
    assert!(built < 100, "{built} nodes for one cut");
    assert_eq!(store.at(&hold).map(|view| view.len()), Some(200_000));
    assert_eq!(store.clear(), 10_000);
    assert_eq!(store.info().memory.nodes - before, built);
}

#[test]
fn a_view_and_a_snapshot_stay_at_their_moment() {
    let store = odd(300);
    let before = keys(&store.view());
    let view = store.view();
    let snapshot = store.snapshot();
    store.put(2, 2);
    store.remove(1);
    store.put_all((1000..2000).map(|key| (key, key)));
    assert_eq!(store.remove_range(100..500), 200);
    assert_eq!(keys(&view), before);
    assert_eq!(keys(&snapshot.view()), before);
    assert_eq!(snapshot.view().get(1), Some(&10));
    assert_eq!(store.clear(), 300 + 1 - 1 + 1000 - 200);
    assert_eq!(keys(&view), before);
    assert_eq!(keys(&snapshot.view()), before);
    assert_eq!(snapshot.view().count(..100), 50);
}

/// More holds than one block of places has room for, ended in any order.
#[test]
fn every_held_moment_stays_as_it_was() {
    let mut rng = Rng::new();
    let store = OrderedStore::new();
    let mut held = Vec::new();
    for n in 0..100_u64 {
        held.push((n, store.hold()));
        store.put(n, n);
        store.put(n / 2, n);
    }
    assert_eq!(store.info().snapshots, 100);
    rng.shuffle(&mut held);
    while let Some((n, hold)) = held.pop() {
        let view = store.at(&hold).expect("a hold of this store");
        assert_eq!(keys(&view), (0..n).collect::<Vec<_>>());
        // Key k was put as k, then as 2k and 2k + 1, as far as these came before the hold.
        for key in 0..n {
            let last = (2 * key + 1).min(n - 1);
            let last = if last / 2 == key { last } else { key };
            assert_eq!(view.get(key), Some(&last), "key {key} at {n}");
        }
        drop(hold);
        store.clear();
        assert_eq!(store.info().snapshots, held.len());
    }
}

#[test]
fn a_hold_is_of_one_store() {
    let (store, other) = (odd(3), odd(3));
    let hold = store.hold();
    assert!(other.at(&hold).is_none());
    assert!(store.at(&hold).is_some());
    drop(store);
    assert!(other.at(&hold).is_none());
    drop(hold);
}

#[test]
fn a_hold_does_not_keep_the_memory_of_a_dropped_store() {
    let store = odd(1000);
    let gauge = store.gauge();
    let holds: Vec<_> = (0..20)
        .map(|_| {
            store.put_all((0..500).map(|key| (key, 1)));
            store.hold()
        })
        .collect();
    drop(store);
    settle(&gauge);
    drop(holds);
    assert_eq!(gauge.left(), Some(Tally::default()));
}

#[test]
fn info_and_gauge_tell_what_there_is() {
    let store = odd(1000);
    let gauge = store.gauge();
    let info = store.info();
    assert_eq!((info.rows, info.snapshots), (1000, 0));
    assert_eq!((info.memory.payloads, info.memory.versions), (0, 2));
    assert!(info.memory.bytes > 16_000 && info.memory.bytes < 40_000 || cfg!(tiny_nodes));
    assert_eq!(gauge.left(), None);
    assert_eq!(format!("{gauge:?}"), "Gauge(None)");
    let text = format!("{store:?}");
    let bytes = store.info().memory.bytes;
    assert_eq!(
        text,
        format!("OrderedStore {{ rows: 1000, bytes: {bytes} }}")
    );
    drop(store);
    let gauge = gauge.clone();
    settle(&gauge);
}

#[test]
fn a_condition_that_panics_leaves_the_store_as_it_was() {
    let store = OrderedStore::new();
    for key in 0..50 {
        store.put(2 * key, key);
        let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            store.put_if(2 * key + 1, 0, |_| panic!("refused by panic"))
        }));
        assert!(refused.is_err());
        assert!(!store.put_if(2 * key + 1, 0, |_| false));
    }
    assert_eq!(
        keys(&store.view()),
        (0..50).map(|key| 2 * key).collect::<Vec<_>>()
    );
}
