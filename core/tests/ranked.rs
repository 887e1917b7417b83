//! The ranked set by example: the worked case, line by line, every kind of score, and what is refused.

mod common;

use std::cmp::Reverse;
use std::ops::Bound;

use common::eventually;
use echo_data_core::{
    Board, Condition, Contradiction, Kind, Measure, Number, Order, Put, Ranked, Refusal, Score,
    Standings, Ties, When,
};
use Order::{Ascending, Descending};
use Ties::{Competition, Dense, Max, Ordinal};

const ANN: u64 = 1;
const BOB: u64 = 2;
const CAT: u64 = 3;
const DAN: u64 = 4;
const EVE: u64 = 5;
const ALL: &[u8] = b"";

fn worked_case() -> Ranked<i64> {
    let set = Ranked::new();
    let rows = [(ANN, 40), (EVE, 55), (BOB, 70), (CAT, 70), (DAN, 90)];
    assert_eq!(set.put_all(ALL, rows), Ok(5));
    set
}

fn ranks(set: &Ranked<i64>, ties: Ties) -> Vec<Option<usize>> {
    set.view()
        .group(ALL)
        .ranks(&[ANN, EVE, BOB, CAT, DAN], ties, Ascending)
}

fn ids<S: Score>(rows: Standings<'_, S>) -> Vec<u64> {
    rows.map(|row| row.id).collect()
}

#[test]
fn line_1_four_ways_to_stand_in_a_tie() {
    let set = worked_case();
    assert_eq!(ranks(&set, Ordinal), [0, 1, 2, 3, 4].map(Some));
    assert_eq!(ranks(&set, Dense), [0, 1, 2, 2, 3].map(Some));
    assert_eq!(ranks(&set, Competition), [0, 1, 2, 2, 4].map(Some));
    assert_eq!(ranks(&set, Max), [0, 1, 3, 3, 4].map(Some));
}

#[test]
fn line_2_the_rank_of_a_score() {
    let set = worked_case();
    let view = set.view();
    let rank = |score, ties| {
        view.group(ALL)
            .rank_for_score(score, ties, Ascending)
            .expect("an integer")
    };
    for (score, competition, dense) in [(10, 0, 0), (60, 2, 2), (75, 4, 3), (1000, 5, 4)] {
        assert_eq!(rank(score, Competition), competition);
        assert_eq!(rank(score, Dense), dense);
    }
    assert_eq!((rank(70, Max), rank(69, Max), rank(71, Max)), (3, 2, 4));
    assert_eq!(rank(70, Ordinal), 2);
}

#[test]
fn line_3_select_is_the_inverse_of_rank() {
    let set = worked_case();
    let view = set.view();
    let board = view.group(ALL);
    assert_eq!(board.select(5, Ascending), None);
    assert_eq!(board.select(usize::MAX, Ascending), None);
    assert_eq!(board.select(usize::MAX, Descending), None);
    for order in [Ascending, Descending] {
        for id in [ANN, BOB, CAT, DAN, EVE] {
            let rank = board.rank(id, Ordinal, order).expect("a member");
            assert_eq!(board.select(rank, order).map(|(id, _)| id), Some(id));
        }
    }
}

#[test]
fn line_4_deleting_one_and_then_the_other_of_a_tie() {
    let set = worked_case();
    let dan = |ties| set.view().group(ALL).rank(DAN, ties, Ascending);
    assert_eq!(set.delete(ALL, BOB), Some(70));
    assert_eq!((dan(Competition), dan(Dense)), (Some(3), Some(3)));
    assert_eq!(set.delete(ALL, CAT), Some(70));
    assert_eq!((dan(Competition), dan(Dense)), (Some(2), Some(2)));
    assert_eq!(set.delete(ALL, CAT), None);
}

#[test]
fn line_5_members_and_distinct_scores() {
    let set = worked_case();
    let sizes = || (set.view().len(), set.view().group(ALL).distinct());
    assert_eq!(sizes(), (5, 4));
    assert_eq!(set.put_all(ALL, [(11, 70), (12, 70), (13, 70)]), Ok(3));
    assert_eq!(sizes(), (8, 4));
    assert_eq!(set.view().group(ALL).len(), 8);
}

#[test]
fn line_6_members_by_dense_rank() {
    let set = worked_case();
    let view = set.view();
    let board = view.group(ALL);
    assert_eq!(ids(board.by_rank(2..=2, Dense, Ascending)), [BOB, CAT]);
    assert_eq!(ids(board.by_rank(3.., Dense, Ascending)), [DAN]);
    assert_eq!(ids(board.by_rank(-3..=1, Dense, Ascending)), [ANN, EVE]);
    assert_eq!(ids(board.by_rank(3..=9, Dense, Ascending)), [DAN]);
    assert_eq!(ids(board.by_rank(..=1, Dense, Descending)), [DAN, CAT, BOB]);
    assert_eq!(ids(board.by_rank(-3..=-1, Dense, Ascending)), []);
    let inverted = (Bound::Included(3), Bound::Included(2));
    assert_eq!(ids(board.by_rank(inverted, Dense, Ascending)), []);
    assert_eq!(board.by_rank(i64::MIN..=i64::MAX, Max, Ascending).len(), 5);
}

#[test]
fn line_7_exactly_the_places_asked_for() {
    let set = worked_case();
    let view = set.view();
    let rows = view.group(ALL).by_rank(1..3, Ordinal, Ascending);
    assert_eq!(ids(rows), [EVE, BOB]);
}

#[test]
fn line_8_counts_between_scores() {
    let set = worked_case();
    let view = set.view();
    let board = view.group(ALL);
    let open = (Bound::Excluded(70), Bound::Excluded(90));
    assert_eq!(board.count_between(open), Ok(0));
    assert_eq!(board.count_between(70..=70), Ok(2));
    let inverted = (Bound::Included(90), Bound::Included(70));
    assert_eq!(board.count_between(inverted), Ok(0));
    let nowhere = (Bound::Excluded(70), Bound::Excluded(70));
    assert_eq!(board.count_between(nowhere), Ok(0));
    assert_eq!(board.count_between(..), Ok(5));
    assert_eq!(board.count_between(..70), Ok(2));
    assert_eq!(board.count_between(56..), Ok(3));
}

#[test]
fn line_9_sums_out_of_range_are_refused() {
    let set = Ranked::<f64>::new();
    let put = |id, score| set.put(ALL, id, score, When::ALWAYS);
    assert_eq!(put(ANN, f64::INFINITY), Ok(Put::Added));
    assert_eq!(put(BOB, f64::MAX), Ok(Put::Added));
    assert_eq!(put(CAT, 0.0), Ok(Put::Added));
    let refused = Err(Refusal::Overflow);
    assert_eq!(set.increment(ALL, ANN, f64::NEG_INFINITY), refused);
    assert_eq!(set.increment(ALL, BOB, f64::MAX), refused);
    assert_eq!(set.increment(ALL, ANN, -1.0), Ok(f64::INFINITY));
    assert_eq!(set.increment(ALL, CAT, -0.0), Ok(0.0));
    let zero = set.increment(ALL, EVE, -0.0);
    assert!(zero.is_ok_and(f64::is_sign_positive));
    assert_eq!(set.increment(ALL, DAN, 2.5), Ok(2.5));
    let score = |id| set.view().group(ALL).score(id);
    assert_eq!(score(ANN), Some(f64::INFINITY));
    assert_eq!(score(BOB), Some(f64::MAX));
    assert!(score(CAT).is_some_and(|zero| zero.is_sign_positive()));

    let set = worked_case();
    assert_eq!(set.increment(ALL, ANN, i64::MAX), Err(Refusal::Overflow));
    assert_eq!(set.increment(ALL, ANN, i64::MIN), Ok(i64::MIN + 40));
    assert_eq!(set.increment(ALL, ANN, -41), Err(Refusal::Overflow));
    assert_eq!(set.view().group(ALL).score(ANN), Some(i64::MIN + 40));
    assert_eq!(set.view().group(ALL).rank(ANN, Ordinal, Ascending), Some(0));
}

#[test]
fn line_10_one_bad_score_rejects_all() {
    let set = Ranked::<f64>::new();
    let rows = [(ANN, 1.0), (BOB, f64::NAN), (CAT, 3.0)];
    assert_eq!(set.put_all(ALL, rows), Err(Refusal::NotANumber(0)));
    assert_eq!(set.put_all(ALL, []), Ok(0));
    assert!(set.view().is_empty());
    assert_eq!(set.view().groups().count(), 0);
}

#[test]
fn around_a_member() {
    let set = worked_case();
    let view = set.view();
    let board = view.group(ALL);
    let around = |id, reach, ties, order| {
        let rows = board.around(id, reach, ties, order).expect("a member");
        rows.map(|row| (row.rank, row.id)).collect::<Vec<_>>()
    };
    let found = around(BOB, 1, Competition, Ascending);
    assert_eq!(found, [(1, EVE), (2, BOB), (2, CAT)]);
    assert_eq!(
        around(CAT, 1, Max, Descending),
        [(0, DAN), (2, CAT), (2, BOB)]
    );
    assert_eq!(around(ANN, 0, Ordinal, Ascending), [(0, ANN)]);
    let all = around(DAN, usize::MAX, Dense, Ascending);
    assert_eq!(all, [(0, ANN), (1, EVE), (2, BOB), (2, CAT), (3, DAN)]);
    assert!(board.around(77, 3, Ordinal, Ascending).is_none());
}

#[test]
fn rows_by_score_have_their_ranks_among_all() {
    let set = worked_case();
    let view = set.view();
    let board = view.group(ALL);
    let rows = |ties, order| {
        let rows = board.by_score(55..90, ties, order).expect("integers");
        rows.map(|row| (row.rank, row.id, row.score))
            .collect::<Vec<_>>()
    };
    let up = rows(Max, Ascending);
    assert_eq!(up, [(1, EVE, 55), (3, BOB, 70), (3, CAT, 70)]);
    let down = rows(Competition, Descending);
    assert_eq!(down, [(1, CAT, 70), (1, BOB, 70), (3, EVE, 55)]);
}

#[test]
fn taking_from_either_end() {
    let set = worked_case();
    assert_eq!(set.pop_min(ALL, 0), []);
    assert_eq!(set.pop_max(b"nobody", 3), []);
    assert_eq!(set.pop_max(ALL, 2), [(DAN, 90), (CAT, 70)]);
    assert_eq!(set.pop_min(ALL, 1), [(ANN, 40)]);
    assert_eq!(set.view().group(ALL).distinct(), 2);
    assert_eq!(set.pop_min(ALL, usize::MAX), [(EVE, 55), (BOB, 70)]);
    assert_eq!(set.view().group_count(), 0);
    eventually("no index keeps anything", || {
        set.info().memory.nodes == 0 && set.info().memory.payloads == 0
    });
}

#[test]
fn conditions() {
    use Condition::{Exists, Greater, Less, New};
    let set = Ranked::<i64>::new();
    let put = |id, score, conditions: &[Condition]| {
        let when = When::all(conditions).expect("no contradiction");
        set.put(ALL, id, score, when).expect("an integer")
    };
    assert_eq!(put(ANN, 5, &[Exists]), Put::Unchanged);
    assert_eq!(put(ANN, 5, &[Exists, Greater]), Put::Unchanged);
    assert!(set.view().is_empty() && set.view().group_count() == 0);
    assert_eq!(put(ANN, 5, &[Greater]), Put::Added);
    assert_eq!(put(BOB, 5, &[Less]), Put::Added);
    assert_eq!(put(ANN, 9, &[New]), Put::Unchanged);
    assert_eq!(put(ANN, 5, &[Greater]), Put::Unchanged);
    assert_eq!(put(ANN, 4, &[Greater]), Put::Unchanged);
    assert_eq!(put(ANN, 6, &[Exists, Greater]), Put::Updated);
    assert_eq!(put(ANN, 7, &[Less]), Put::Unchanged);
    assert_eq!(put(ANN, 3, &[Less, Exists]), Put::Updated);
    assert_eq!(put(ANN, 3, &[]), Put::Unchanged);
    assert_eq!(put(CAT, 3, &[New, New]), Put::Added);
    for (a, b) in [(New, Exists), (New, Greater), (New, Less), (Greater, Less)] {
        assert_eq!(When::all(&[b, a]), Err(Contradiction(a, b)));
    }
}

#[test]
fn a_unique_set_has_each_score_once_a_group() {
    let set = Ranked::<Option<i64>>::new().unique();
    let put = |id, score| set.put(ALL, id, score, When::ALWAYS);
    assert_eq!(put(ANN, Some(1)), Ok(Put::Added));
    assert_eq!(put(BOB, Some(2)), Ok(Put::Added));
    assert_eq!(put(BOB, Some(1)), Err(Refusal::NotUnique));
    assert_eq!(put(ANN, Some(1)), Ok(Put::Unchanged));
    assert_eq!(set.increment(ALL, ANN, Some(1)), Err(Refusal::NotUnique));
    let clash = set.put_all(ALL, [(CAT, Some(3)), (DAN, Some(3))]);
    assert_eq!(clash, Err(Refusal::NotUnique));
    let clash = set.put_all(b"other", [(CAT, Some(3)), (DAN, Some(3))]);
    assert_eq!(clash, Err(Refusal::NotUnique));
    assert_eq!(set.view().groups().collect::<Vec<_>>(), [ALL]);
    let swapped = [(ANN, Some(2)), (BOB, Some(1))];
    assert_eq!(set.put_all(ALL, swapped), Ok(0), "what counts is the end");
    assert_eq!(
        set.put(b"other", CAT, Some(1), When::ALWAYS),
        Ok(Put::Added)
    );
    assert_eq!(put(CAT, None), Ok(Put::Added));
    assert_eq!(put(DAN, None), Err(Refusal::NotUnique));
    let view = set.view();
    let board = view.group(ALL);
    assert_eq!((board.len(), board.distinct()), (3, 3));
}

#[test]
fn unknown_groups_are_empty() {
    let set = worked_case();
    let view = set.view();
    let board = view.group(b"nobody");
    assert!(board.is_empty());
    assert_eq!((board.len(), board.distinct()), (0, 0));
    for ties in [Ordinal, Competition, Dense, Max] {
        for order in [Ascending, Descending] {
            assert_eq!(board.rank(ANN, ties, order), None);
            assert_eq!(board.rank_for_score(70, ties, order), Ok(0));
            assert_eq!(board.by_rank(.., ties, order).count(), 0);
            assert_eq!(board.standings(ties, order).count(), 0);
            assert_eq!(board.ranks(&[ANN, 0], ties, order), [None, None]);
        }
    }
    assert_eq!(board.select(0, Ascending), None);
    assert_eq!(board.select(0, Descending), None);
    assert_eq!(board.count_between(..), Ok(0));
    assert_eq!(set.drop_group(b"nobody"), 0);
    assert_eq!(set.delete(b"nobody", ANN), None);
}

#[test]
fn groups_keep_to_themselves() {
    let set = Ranked::<i64>::new();
    let names: [&[u8]; 4] = [b"", b"a", b"ab", &[0xFF; 100]];
    for (at, name) in names.iter().enumerate() {
        let rows = (0..=at as u64).map(|id| (id, id as i64 * 10));
        assert_eq!(set.put_all(name, rows), Ok(at + 1));
    }
    let view = set.view();
    let mut found: Vec<_> = view.groups().collect();
    found.sort_unstable();
    assert_eq!((found, view.group_count()), (names.to_vec(), 4));
    for (at, name) in names.iter().enumerate() {
        let board = view.group(name);
        assert_eq!(board.len(), at + 1);
        assert_eq!(board.rank(0, Ordinal, Descending), Some(at));
        assert_eq!(board.select(at + 1, Ascending), None);
        assert_eq!(board.select(at + 1, Descending), None);
        assert_eq!(ids(board.by_rank(at as i64.., Max, Ascending)), [at as u64]);
    }
    let hold = set.hold();
    assert_eq!(set.drop_group(names[3]), 4);
    assert_eq!((set.view().group(names[3]).len(), set.view().len()), (0, 6));
    let held = set.at(&hold).expect("a hold of this set");
    assert_eq!(held.group(names[3]).rank(3, Dense, Descending), Some(0));
    assert!(worked_case().at(&hold).is_none());
}

/// All of `scores` in their order, for ids in the order of minting.
fn sorted<S: Score>(set: Ranked<S>, scores: &[S]) -> Vec<u64> {
    let rows = scores.iter().enumerate();
    let rows = rows.map(|(id, &score)| (id as u64, score));
    assert_eq!(set.put_all(ALL, rows), Ok(scores.len()));
    let view = set.view();
    let order = ids(view.group(ALL).standings(Ordinal, Ascending));
    order
}

/// At each of these the encoding carries from one byte to the next, or changes its sign.
fn edges() -> Vec<i64> {
    let powers = (0..63).map(|bit| 1_i64 << bit);
    let near = powers.flat_map(|power| [power - 1, power, power + 1]);
    let mut edges: Vec<i64> = near.flat_map(|edge| [edge, -edge]).collect();
    edges.extend([i64::MIN, i64::MIN + 1, i64::MAX, i64::MAX - 1]);
    edges.extend([(1 << 53) + 1, -(1 << 53) - 1]);
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Scores that ascend are enumerated as they are given, come back as they were, and have their ranks.
fn ascends<S: Score + PartialEq + std::fmt::Debug>(set: Ranked<S>, scores: &[S]) {
    let rows = scores.iter().enumerate().rev();
    for (id, &score) in rows {
        assert_eq!(set.put(ALL, id as u64, score, When::ALWAYS), Ok(Put::Added));
    }
    let view = set.view();
    let board = view.group(ALL);
    assert_eq!(board.distinct(), scores.len());
    for (row, (at, &score)) in board
        .standings(Dense, Ascending)
        .zip(scores.iter().enumerate())
    {
        assert_eq!((row.rank, row.id, row.score), (at, at as u64, score));
        assert_eq!(board.rank_for_score(score, Max, Ascending), Ok(at));
        assert_eq!(board.count_between(..score), Ok(at));
        assert_eq!(board.score(at as u64), Some(score));
    }
}

#[test]
fn integers_are_exact_in_all_their_range() {
    let up = edges();
    ascends(Ranked::new(), &up);
    let nil = std::iter::once(None);
    let with_nil: Vec<_> = nil.chain(up.iter().copied().map(Some)).collect();
    ascends(Ranked::new(), &with_nil);
    let down: Vec<_> = up.iter().rev().map(|&n| Reverse(n)).collect();
    ascends(Ranked::new(), &down);
    let down: Vec<_> = with_nil.iter().rev().map(|&n| Reverse(n)).collect();
    ascends(Ranked::new(), &down);
}

#[test]
fn floats_ascend_through_zero_to_the_infinities() {
    let steps = (0..2047).flat_map(|exponent: u64| {
        let bits = exponent << 52;
        [
            bits,
            bits + 1,
            bits + 0xFF,
            bits + 0x100,
            bits | ((1 << 52) - 1),
        ]
    });
    let mut up: Vec<f64> = steps.map(f64::from_bits).chain([f64::INFINITY]).collect();
    let down: Vec<f64> = up.iter().rev().map(|x| -x).collect();
    up.splice(..0, down);
    up.dedup();
    assert!(up.is_sorted() && up.contains(&f64::MIN_POSITIVE));
    ascends(Ranked::new(), &up);
    let down: Vec<_> = up.iter().rev().map(|&x| Reverse(x)).collect();
    ascends(Ranked::new(), &down);
    let with_nil: Vec<_> = std::iter::once(None)
        .chain(up.iter().copied().map(Some))
        .collect();
    ascends(Ranked::new(), &with_nil);
}

#[test]
fn the_zeros_are_one_score_and_nan_is_none() {
    assert_eq!(
        sorted(Ranked::new(), &[0.0, -0.0, 5.0, 5.0, 5.0, -1.0]),
        [5, 0, 1, 2, 3, 4]
    );
    let set = Ranked::<f64>::new();
    assert_eq!(set.put_all(ALL, [(1, 0.0), (2, -0.0)]), Ok(2));
    assert_eq!(set.view().group(ALL).distinct(), 1);
    let refused = Err(Refusal::NotANumber(0));
    assert_eq!(set.put(ALL, 1, f64::NAN, When::ALWAYS).map(|_| 0), refused);
    assert_eq!(set.increment(ALL, 1, f64::NAN).map(|_| 0), refused);
    let view = set.view();
    let board = view.group(ALL);
    assert_eq!(board.rank_for_score(f64::NAN, Dense, Ascending), refused);
    assert_eq!(board.count_between(0.0..f64::NAN), refused);
    assert!(board.by_score(f64::NAN.., Dense, Ascending).is_err());
    let pairs = Ranked::<(i64, f64)>::new();
    let refused = pairs.put(ALL, 1, (1, f64::NAN), When::ALWAYS);
    assert_eq!(refused, Err(Refusal::NotANumber(1)));
}

#[test]
fn pairs_are_ordered_by_the_first_and_then_by_the_second() {
    let few = [i64::MIN, -256, -1, 0, 1, 255, 256, 1 << 53, i64::MAX];
    let up = few.into_iter().flat_map(|a| few.map(|b| (a, b)));
    ascends(Ranked::new(), &up.collect::<Vec<_>>());
    let best_then_earliest = few.iter().rev().flat_map(|&a| few.map(|b| (Reverse(a), b)));
    ascends(Ranked::new(), &best_then_earliest.collect::<Vec<_>>());
    let nil_first = [None, Some(-1.5), Some(0.0)];
    let mixed = few.into_iter().flat_map(|a| nil_first.map(|b| (a, b)));
    ascends(Ranked::new(), &mixed.collect::<Vec<_>>());
    let nil_last = [Reverse(Some(0.0)), Reverse(Some(-1.5)), Reverse(None)];
    let mixed = nil_first.into_iter().flat_map(|a| nil_last.map(|b| (a, b)));
    ascends(Ranked::new(), &mixed.collect::<Vec<_>>());
}

fn measure(kind: Kind, order: Order) -> Measure {
    Measure { kind, order }
}

#[test]
fn kinds_chosen_at_run_time_are_ordered_like_types() {
    let nil = || std::iter::once(Number::Nil);
    let integers = || edges().into_iter().map(Number::Integer);
    let up: Vec<_> = nil().chain(integers()).map(|number| [number]).collect();
    ascends(Ranked::with_rule([measure(Kind::Integer, Ascending)]), &up);
    let down: Vec<_> = up.iter().rev().copied().collect();
    ascends(
        Ranked::with_rule([measure(Kind::Integer, Descending)]),
        &down,
    );

    let floats = [
        f64::NEG_INFINITY,
        -2.5,
        0.0,
        f64::MIN_POSITIVE,
        f64::INFINITY,
    ];
    let floats = || nil().chain(floats.map(Number::Float));
    let few = || nil().chain([i64::MIN, -1, 0, i64::MAX].map(Number::Integer));
    let pairs = |a: Vec<Number>, b: Vec<Number>| {
        let pairs = a
            .into_iter()
            .flat_map(move |a| b.clone().into_iter().map(move |b| [a, b]));
        pairs.collect::<Vec<_>>()
    };
    let rule = [
        measure(Kind::Float, Ascending),
        measure(Kind::Integer, Ascending),
    ];
    ascends(
        Ranked::with_rule(rule),
        &pairs(floats().collect(), few().collect()),
    );
    let rule = [
        measure(Kind::Float, Ascending),
        measure(Kind::Integer, Descending),
    ];
    let mut backwards: Vec<_> = few().collect();
    backwards.reverse();
    ascends(
        Ranked::with_rule(rule),
        &pairs(floats().collect(), backwards),
    );
}

#[test]
fn kinds_chosen_at_run_time_are_kept() {
    let rule = [
        measure(Kind::Integer, Descending),
        measure(Kind::Float, Ascending),
    ];
    let set = Ranked::<[Number; 2]>::with_rule(rule);
    let put = |id, a, b| set.put(ALL, id, [a, b], When::ALWAYS);
    let (int, float) = (Number::Integer(7), Number::Float(7.0));
    assert_eq!(put(1, int, float), Ok(Put::Added));
    assert_eq!(put(1, float, float), Err(Refusal::WrongKind(0)));
    assert_eq!(put(1, int, int), Err(Refusal::WrongKind(1)));
    assert_eq!(
        put(1, int, Number::Float(f64::NAN)),
        Err(Refusal::NotANumber(1))
    );
    assert_eq!(set.view().group(ALL).score(1), Some([int, float]));
    assert_eq!(put(2, Number::Nil, float), Ok(Put::Added));
    let grown = set.increment(ALL, 2, [int, Number::Nil]);
    assert_eq!(grown, Ok([int, float]), "what is not there counts as zero");
    assert_eq!(
        set.increment(ALL, 2, [float, float]),
        Err(Refusal::WrongKind(0))
    );
    let most = Number::Integer(i64::MAX);
    assert_eq!(set.increment(ALL, 2, [most, float]), Err(Refusal::Overflow));
    assert_eq!(
        set.increment(ALL, 3, [most, Number::Nil]),
        Ok([most, Number::Nil])
    );
    let view = set.view();
    let board = view.group(ALL);
    assert_eq!(ids(board.standings(Ordinal, Ascending)), [3, 1, 2]);
    assert_eq!(
        board.rank_for_score([float, int], Dense, Ascending),
        Err(Refusal::WrongKind(0))
    );
}

#[test]
fn boards_are_read_where_they_are_passed() {
    fn podium(board: &Board<'_, i64>) -> Vec<u64> {
        ids(board.by_rank(..3, Ordinal, Descending))
    }
    let set = worked_case();
    assert_eq!(podium(&set.view().group(ALL)), [DAN, CAT, BOB]);
    assert!(format!("{set:?}").starts_with("Ranked { rows: 5"));
}
