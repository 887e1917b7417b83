//! One member in several groups at once, and walks in parts.

mod common;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use common::{scale, Rng};
use echo_data_core::{Condition, Order, Put, Ranked, RankedView, Refusal, Ties, When};

const GROUPS: [&[u8]; 5] = [b"", b"a", b"b", b"c", b"d"];
const TIES: [Ties; 4] = [Ties::Ordinal, Ties::Competition, Ties::Dense, Ties::Max];

/// Some of the groups, in random order.
fn some(rng: &mut Rng) -> Vec<&'static [u8]> {
    let mut left = GROUPS.to_vec();
    let count = rng.below(6);
    (0..count)
        .map(|_| left.swap_remove(rng.below(left.len() as u64) as usize))
        .collect()
}

fn best(score: i64) -> impl Fn(Option<i64>) -> Result<Option<i64>, Refusal> {
    move |old| Ok(Some(score).filter(|_| old < Some(score)))
}

#[test]
fn it_is_as_many_updates_of_one_group() {
    let mut rng = Rng::new();
    let (each, one) = (Ranked::<i64>::new(), Ranked::<i64>::new());
    for _ in 0..scale(5_000, 200_000) {
        let (groups, id) = (some(&mut rng), rng.below(30));
        let score = rng.below(40) as i64;
        let done = each.update_each(&groups, id, best(score));
        let greater = When::from(Condition::Greater);
        let puts = groups
            .iter()
            .map(|group| one.put(group, id, score, greater));
        assert_eq!(done, puts.collect::<Result<Vec<_>, _>>());
        if rng.below(3) == 0 {
            let (group, id) = (GROUPS[rng.below(5) as usize], rng.below(30));
            assert_eq!(each.delete(group, id), one.delete(group, id));
        }
    }
    let (each, one) = (each.view(), one.view());
    assert_eq!(each.group_count(), one.group_count());
    for group in GROUPS {
        let rows = |view: &RankedView<'_, i64>| -> Vec<_> {
            let board = view.group(group);
            board.standings(Ties::Max, Order::Ascending).collect()
        };
        assert_eq!(rows(&each), rows(&one));
        assert!(!rows(&each).is_empty());
    }
}

#[test]
fn a_refusal_in_one_group_leaves_all_as_they_are() {
    let set = Ranked::<i64>::new();
    set.put(b"b", 1, i64::MAX, When::ALWAYS)
        .expect("an integer");
    let add = |old: Option<i64>| match old.unwrap_or(0).checked_add(1) {
        Some(sum) => Ok(Some(sum)),
        None => Err(Refusal::Overflow),
    };
    let refused = set.update_each(&[b"a", b"b"], 1, add);
    assert_eq!(refused, Err(Refusal::Overflow));
    let view = set.view();
    assert_eq!((view.len(), view.group_count()), (1, 1));
    assert_eq!(view.group(b"b").score(1), Some(i64::MAX));

    let seats = Ranked::<i64>::new().unique();
    seats.put(b"b", 1, 7, When::ALWAYS).expect("free");
    let seat = |_old| Ok(Some(7));
    let refused = seats.update_each(&[b"a", b"b"], 2, seat);
    assert_eq!(refused, Err(Refusal::NotUnique));
    assert_eq!(seats.view().len(), 1);
    assert_eq!(
        seats.update_each(&[b"a", b"c"], 2, seat),
        Ok(vec![Put::Added; 2])
    );
}

#[test]
#[should_panic(expected = "a group is named twice")]
fn a_group_is_named_once() {
    let _refused = Ranked::<i64>::new().update_each(&[b"a", b"a"], 1, best(1));
}

#[test]
fn readers_see_a_member_in_all_groups_or_in_none() {
    let set = Ranked::<i64>::new();
    let done = AtomicBool::new(false);
    let rounds = scale(3_000, 100_000);
    thread::scope(|scope| {
        for writer in 0..2 {
            let (set, done) = (&set, &done);
            scope.spawn(move || {
                for round in 1..=rounds as i64 {
                    let put = set.update_each(&GROUPS, writer, best(round));
                    assert!(put
                        .expect("integers")
                        .iter()
                        .all(|&put| put != Put::Unchanged));
                }
                done.store(true, Relaxed);
            });
        }
        let mut seen = 0;
        while !done.load(Relaxed) || seen == 0 {
            let view = set.view();
            for id in 0..2 {
                let scores = GROUPS.map(|group| view.group(group).score(id));
                assert_eq!(scores, [scores[0]; 5]);
                seen += usize::from(scores[0].is_some());
            }
        }
    });
    assert_eq!(set.view().len(), 2 * GROUPS.len());
}

#[test]
fn a_walk_in_parts_is_the_walk() {
    let mut rng = Rng::new();
    let set = Ranked::<i64>::new();
    for group in [b"before".as_slice(), b"in", b"after"] {
        let rows = (0..500).map(|id| (id, rng.below(100) as i64));
        set.put_all(group, rows.collect::<Vec<_>>())
            .expect("integers");
    }
    let view = set.view();
    let board = view.group(b"in");
    for ties in TIES {
        for order in [Order::Ascending, Order::Descending] {
            let whole: Vec<_> = board.standings(ties, order).collect();
            assert_eq!(board.standings(ties, order).places(), 0..500);
            for _ in 0..scale(200, 10_000) {
                let (low, high) = (rng.below(110) as i64 - 5, rng.below(110) as i64 - 5);
                let rows = board.by_rank(low..=high, ties, order);
                let places = rows.places();
                let rows: Vec<_> = rows.collect();
                assert_eq!(rows, whole[places.clone()]);
                let middle = places.start + rng.below(places.len() as u64 + 1) as usize;
                let parts = [places.start..middle, middle..places.end];
                let parts = parts.into_iter();
                let joined: Vec<_> = parts
                    .flat_map(|places| board.at_places(places, ties, order))
                    .collect();
                assert_eq!(joined, rows);
            }
            assert_eq!(board.at_places(499..usize::MAX, ties, order).count(), 1);
            assert_eq!(board.at_places(500..700, ties, order).places().len(), 0);
        }
    }
    assert_eq!(
        view.group(b"unknown")
            .at_places(0..9, Ties::Max, Order::Ascending)
            .count(),
        0
    );
}
