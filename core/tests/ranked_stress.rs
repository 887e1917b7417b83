//! The ranked set between threads: at every moment its indexes agree, and of a race one wins.

mod common;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Barrier;
use std::thread;

use common::{eventually, scale, settle, Rng};
use echo_data_core::{Condition, Order, Put, Ranked, RankedView, Ties, When};
use Order::{Ascending, Descending};

const ALL: &[u8] = b"all";

/// The indexes of one moment agree about a group: places, scores and ties are of the same members, and
/// selecting a rank answers who has it. Everything is asked of `one_in` members, a walk is over all.
fn agree(view: &RankedView<'_, i64>, group: &[u8], rng: &mut Rng, one_in: u64) -> usize {
    let board = view.group(group);
    let (mut seen, mut ties, mut last) = (0, 0, None);
    for row in board.standings(Ties::Max, Ascending) {
        if last != Some(row.score) {
            ties += 1;
            last = Some(row.score);
            if rng.chance(one_in) {
                let size = row.rank + 1 - seen;
                assert_eq!(board.count_between(row.score..=row.score), Ok(size));
                let from = board.rank_for_score(row.score, Ties::Competition, Ascending);
                assert_eq!(from, Ok(seen));
            }
        }
        if rng.chance(one_in) {
            assert_eq!(board.score(row.id), Some(row.score));
            assert_eq!(board.rank(row.id, Ties::Ordinal, Ascending), Some(seen));
            assert_eq!(board.select(seen, Ascending), Some((row.id, row.score)));
            let down = board.len() - 1 - seen;
            assert_eq!(board.rank(row.id, Ties::Ordinal, Descending), Some(down));
            assert_eq!(board.select(down, Descending), Some((row.id, row.score)));
            assert_eq!(board.rank(row.id, Ties::Dense, Ascending), Some(ties - 1));
        }
        seen += 1;
    }
    assert_eq!((board.len(), board.distinct()), (seen, ties));
    seen
}

#[test]
fn two_writers_of_disjoint_members_and_a_reader() {
    let mut rng = Rng::new();
    let members = scale(50_000, 500_000) / if cfg!(tiny_nodes) { 10 } else { 1 };
    let set = Ranked::<i64>::new();
    let gauge = set.gauge();
    let writing = AtomicUsize::new(2);
    let write = |first: u64, mut rng: Rng| {
        for id in 0..members {
            // Some alone with their score, some in ties that both writers add to.
            let score = match rng.chance(2) {
                true => rng.next() as i64,
                false => rng.below(100) as i64,
            };
            let put = set.put(ALL, 2 * id + first, score, When::ALWAYS);
            assert_eq!(put, Ok(Put::Added));
            if rng.chance(10) {
                let other = 2 * rng.below(id + 1) + first;
                set.increment(ALL, other, 1).expect("far from the end");
            }
        }
        writing.fetch_sub(1, Ordering::Release);
    };
    let looks = thread::scope(|scope| {
        for first in [0, 1] {
            let (rng, write) = (rng.fork(), &write);
            scope.spawn(move || write(first, rng));
        }
        let (mut looks, mut before) = (0, 0);
        while writing.load(Ordering::Acquire) > 0 || looks == 0 {
            let hold = set.hold();
            let view = set.at(&hold).expect("a hold of this set");
            let now = agree(&view, ALL, &mut rng, 200);
            assert_eq!(view.len(), now);
            assert!(now >= before, "nobody leaves");
            (before, looks) = (now, looks + 1);
        }
        looks
    });
    println!("{looks} moments looked at");
    let view = set.view();
    assert_eq!(agree(&view, ALL, &mut rng, 10), 2 * members as usize);
    let ids = 0..2 * members;
    assert!(ids
        .into_iter()
        .all(|id| view.group(ALL).score(id).is_some()));
    drop(view);
    drop(set);
    settle(&gauge);
}

#[test]
fn of_racing_additions_of_one_member_one_wins() {
    let set = Ranked::<i64>::new();
    let gauge = set.gauge();
    let rounds = scale(2000, 100_000);
    let start = Barrier::new(3);
    let race = |racer: i64| {
        let mut won = Vec::new();
        for round in 0..rounds {
            start.wait();
            let put = set.put(ALL, round, racer, When::from(Condition::New));
            if put.expect("an integer") == Put::Added {
                won.push(round);
            }
        }
        (racer, won)
    };
    let wins = thread::scope(|scope| {
        let racers = [1, 2, 3].map(|racer| scope.spawn(move || race(racer)));
        racers.map(|racer| racer.join().expect("no panic"))
    });
    let total: usize = wins.iter().map(|(_, won)| won.len()).sum();
    assert_eq!(total as u64, rounds);
    let view = set.view();
    for (racer, won) in &wins {
        let mut scores = won.iter().map(|&id| view.group(ALL).score(id));
        assert!(scores.all(|score| score == Some(*racer)));
    }
    drop(view);
    drop(set);
    settle(&gauge);
}

#[test]
fn of_two_that_want_one_score_in_a_unique_set_one_gets_it() {
    let set = Ranked::<i64>::new().unique();
    let rounds = scale(2000, 100_000) as i64;
    let start = Barrier::new(2);
    let race = |id: u64| {
        let mut wins = 0;
        for score in 0..rounds {
            start.wait();
            wins += i64::from(set.put(ALL, id, score, When::ALWAYS).is_ok());
            start.wait();
        }
        wins
    };
    let wins = thread::scope(|scope| {
        let other = scope.spawn(|| race(1));
        race(2) + other.join().expect("no panic")
    });
    assert_eq!(wins, rounds);
    let view = set.view();
    assert_eq!(view.group(ALL).len(), view.group(ALL).distinct());
}

/// Increments are not lost, however many threads make them.
#[test]
fn increments_add_up() {
    let mut rng = Rng::new();
    let set = Ranked::<i64>::new();
    let rounds = scale(10_000, 500_000);
    let add = |mut rng: Rng| {
        let mut sum = 0;
        for _ in 0..rounds {
            let delta = rng.below(100) as i64 - 40;
            set.increment(ALL, rng.below(5), delta).expect("in range");
            sum += delta;
        }
        sum
    };
    let sum = thread::scope(|scope| {
        let other = rng.fork();
        let other = scope.spawn(|| add(other));
        add(rng.fork()) + other.join().expect("no panic")
    });
    let view = set.view();
    let scores = view.group(ALL).standings(Ties::Ordinal, Ascending);
    assert_eq!(scores.map(|row| row.score).sum::<i64>(), sum);
    agree(&view, ALL, &mut rng, 1);
}

fn group_name(group: u64) -> Vec<u8> {
    format!("group {group}").into_bytes()
}

/// Makes, empties and drops groups, all of whose members have the group's number as their score.
fn churn_groups(set: &Ranked<i64>, mut rng: Rng) {
    for _ in 0..scale(20_000, 1_000_000) {
        let group = rng.below(20);
        let name = group_name(group);
        match rng.below(6) {
            0 => drop(set.drop_group(&name)),
            1 => drop(set.pop_min(&name, 2)),
            2 => {
                let rows = (0..rng.below(5)).map(|id| (id, group as i64));
                set.put_all(&name, rows).expect("integers");
            }
            3 | 4 => drop(set.delete(&name, rng.below(5))),
            _ => {
                let put = set.put(&name, rng.below(5), group as i64, When::ALWAYS);
                put.expect("an integer");
            }
        }
    }
}

/// Groups are made, emptied and dropped while others read: a group that is found has the members that it
/// had at that moment, and never those of another that has its id now.
#[test]
fn groups_that_come_and_go_are_never_mistaken() {
    let mut rng = Rng::new();
    let set = Ranked::<i64>::new();
    let gauge = set.gauge();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for rng in [rng.fork(), rng.fork()] {
            let (set, done) = (&set, &done);
            scope.spawn(move || {
                churn_groups(set, rng);
                done.store(true, Ordering::Release);
            });
        }
        while !done.load(Ordering::Acquire) {
            let view = set.view();
            let mut members = 0;
            for group in 0..20 {
                let board = view.group(&group_name(group));
                let rows = board.standings(Ties::Competition, Ascending);
                assert_eq!(rows.len(), board.len());
                for row in rows {
                    assert_eq!((row.rank, row.score), (0, group as i64));
                    members += 1;
                }
            }
            assert_eq!(view.len(), members);
        }
    });
    let groups: Vec<Vec<u8>> = set.view().groups().map(<[u8]>::to_vec).collect();
    for group in groups {
        assert!(set.drop_group(&group) > 0);
    }
    assert_eq!((set.view().len(), set.view().group_count()), (0, 0));
    eventually("names and nodes are gone", || {
        (set.info().memory.nodes, set.info().memory.payloads) == (0, 0)
    });
    drop(set);
    settle(&gauge);
}
