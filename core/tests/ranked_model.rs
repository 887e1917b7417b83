//! The ranked set against sorted lists: long random sequences of operations, among them scores that are all
//! equal or nearly so, scores that only grow, and groups that come and go. Every answer is compared, in all
//! tie modes and both orders.

mod common;

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Bound;

use common::{scale, settle, Rng};
use echo_data_core::{
    Board, Condition, HeldRanks, Kind, Measure, Number, Order, Put, Ranked, Refusal, Score, Ties,
    When,
};

const TIES: [Ties; 4] = [Ties::Ordinal, Ties::Competition, Ties::Dense, Ties::Max];
const ORDERS: [Order; 2] = [Order::Ascending, Order::Descending];

/// How scores are drawn.
#[derive(Clone, Copy, Debug)]
enum Spread {
    Equal,
    Ties,
    Growing,
    Wide,
}

/// A score as the test knows it: drawn from a number, compared as numbers are.
trait Drawn: Score + PartialEq + Debug {
    fn draw(number: i64) -> Self;
    fn compare(&self, other: &Self) -> Ordering;
    fn sum(&self, delta: &Self) -> Option<Self>;
}

impl Drawn for i64 {
    fn draw(number: i64) -> Self {
        number
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }

    fn sum(&self, delta: &Self) -> Option<Self> {
        self.checked_add(*delta)
    }
}

impl Drawn for Reverse<Option<f64>> {
    fn draw(number: i64) -> Self {
        Reverse((number % 7 != 0).then_some(number as f64 / 16.0))
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (other.0, self.0) {
            (Some(a), Some(b)) => a.partial_cmp(&b).expect("no NaN is drawn"),
            (a, b) => a.is_some().cmp(&b.is_some()),
        }
    }

    fn sum(&self, delta: &Self) -> Option<Self> {
        match (self.0, delta.0) {
            (None, None) => Some(Reverse(None)),
            (a, b) => Some(Reverse(Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)))),
        }
    }
}

impl Drawn for (i64, Reverse<i64>) {
    fn draw(number: i64) -> Self {
        (number >> 2, Reverse(number & 3))
    }

    fn compare(&self, other: &Self) -> Ordering {
        let first = self.0.cmp(&other.0);
        first.then_with(|| other.1 .0.cmp(&self.1 .0))
    }

    fn sum(&self, delta: &Self) -> Option<Self> {
        let second = self.1 .0.checked_add(delta.1 .0)?;
        Some((self.0.checked_add(delta.0)?, Reverse(second)))
    }
}

/// Descending integers with `Nil`, which comes last.
impl Drawn for [Number; 1] {
    fn draw(number: i64) -> Self {
        [match number % 5 {
            0 => Number::Nil,
            _ => Number::Integer(number),
        }]
    }

    fn compare(&self, other: &Self) -> Ordering {
        let value = |score: &Self| match score[0] {
            Number::Integer(value) => Some(value),
            _ => None,
        };
        value(other).cmp(&value(self))
    }

    fn sum(&self, delta: &Self) -> Option<Self> {
        match (self[0], delta[0]) {
            (Number::Integer(a), Number::Integer(b)) => Some([Number::Integer(a.checked_add(b)?)]),
            (Number::Nil, other) | (other, _) => Some([other]),
        }
    }
}

/// One group: its members in their order.
#[derive(Clone, Debug)]
struct List<S>(Vec<(S, u64)>);

impl<S: Drawn> List<S> {
    fn score(&self, id: u64) -> Option<S> {
        self.0.iter().find(|row| row.1 == id).map(|row| row.0)
    }

    fn put(&mut self, id: u64, score: S) {
        self.delete(id);
        let at = self.0.partition_point(|(other, by)| {
            let order = other.compare(&score).then(by.cmp(&id));
            order == Ordering::Less
        });
        self.0.insert(at, (score, id));
    }

    fn delete(&mut self, id: u64) -> Option<S> {
        let at = self.0.iter().position(|row| row.1 == id)?;
        Some(self.0.remove(at).0)
    }

    /// The rows from the first place on in `order`, with their ranks.
    fn standings(&self, ties: Ties, order: Order) -> Vec<(usize, u64, S)> {
        let mut rows = self.0.clone();
        if order == Order::Descending {
            rows.reverse();
        }
        let mut ranked = Vec::new();
        let same = |a: &(S, u64), b: &(S, u64)| a.0.compare(&b.0) == Ordering::Equal;
        for (dense, tie) in rows.chunk_by(same).enumerate() {
            let first = ranked.len();
            for (at, (score, id)) in tie.iter().enumerate() {
                let rank = match ties {
                    Ties::Ordinal => first + at,
                    Ties::Competition => first,
                    Ties::Dense => dense,
                    Ties::Max => first + tie.len() - 1,
                };
                ranked.push((rank, *id, *score));
            }
        }
        ranked
    }

    fn distinct(&self) -> usize {
        let ranked = self.standings(Ties::Dense, Order::Ascending);
        ranked.last().map_or(0, |row| row.0 + 1)
    }

    /// The place that `score` has or would have: that of a newcomer with the largest id.
    fn rank_for_score(&self, score: S, ties: Ties, order: Order) -> usize {
        let before = |row: &&(S, u64)| match order {
            Order::Ascending => row.0.compare(&score) == Ordering::Less,
            Order::Descending => row.0.compare(&score) == Ordering::Greater,
        };
        let mut scores: Vec<S> = self.0.iter().filter(before).map(|row| row.0).collect();
        let tied = |row: &&(S, u64)| row.0.compare(&score) == Ordering::Equal;
        match ties {
            Ties::Ordinal | Ties::Competition => scores.len(),
            Ties::Max => scores.len() + self.0.iter().filter(tied).count().max(1) - 1,
            Ties::Dense => {
                scores.dedup_by(|a, b| a.compare(b) == Ordering::Equal);
                scores.len()
            }
        }
    }
}

type Model<S> = BTreeMap<Vec<u8>, List<S>>;

struct Subject<S: Drawn> {
    set: Ranked<S>,
    unique: bool,
    model: Model<S>,
    held: Vec<(HeldRanks<S>, Model<S>)>,
    rng: Rng,
    spread: Spread,
    clock: i64,
    ids: u64,
    groups: u64,
}

fn empty<S>() -> List<S> {
    List(Vec::new())
}

impl<S: Drawn> Subject<S> {
    fn draw(&mut self) -> S {
        self.clock += 1;
        S::draw(match self.spread {
            Spread::Equal => 8,
            Spread::Ties => self.rng.below(12) as i64 - 6,
            Spread::Growing => self.clock,
            Spread::Wide => self.rng.next() as i64 >> self.rng.below(60),
        })
    }

    fn id(&mut self) -> u64 {
        match self.rng.below(self.ids) {
            0 => u64::MAX,
            id => id - 1,
        }
    }

    fn group(&mut self) -> Vec<u8> {
        let group = self.rng.below(self.groups);
        vec![b'g'; group as usize % 30]
            .into_iter()
            .chain([group as u8])
            .collect()
    }

    fn list(&mut self, group: &[u8]) -> &mut List<S> {
        self.model.entry(group.to_vec()).or_insert_with(empty)
    }

    fn taken(&mut self, group: &[u8], id: u64, score: S) -> bool {
        let rows = &self.list(group).0;
        let same = |row: &(S, u64)| row.1 != id && row.0.compare(&score) == Ordering::Equal;
        let taken = rows.iter().any(same);
        taken && self.unique
    }

    fn put(&mut self) {
        let (group, id, score) = (self.group(), self.id(), self.draw());
        let conditions: &[Condition] = match self.rng.below(9) {
            0 => &[Condition::New],
            1 => &[Condition::Exists],
            2 => &[Condition::Greater],
            3 => &[Condition::Less],
            4 => &[Condition::Exists, Condition::Less],
            _ => &[],
        };
        let when = When::all(conditions).expect("no contradiction");
        let old = self.list(&group).score(id);
        let order = old.map(|old| score.compare(&old));
        let met = |condition: &Condition| match condition {
            Condition::New => old.is_none(),
            Condition::Exists => old.is_some(),
            Condition::Greater => order.is_none_or(|order| order == Ordering::Greater),
            Condition::Less => order.is_none_or(|order| order == Ordering::Less),
        };
        let wanted = match (conditions.iter().all(met), order) {
            (false, _) | (true, Some(Ordering::Equal)) => Ok(Put::Unchanged),
            _ if self.taken(&group, id, score) => Err(Refusal::NotUnique),
            (true, None) => Ok(Put::Added),
            (true, Some(_)) => Ok(Put::Updated),
        };
        assert_eq!(self.set.put(&group, id, score, when), wanted);
        if matches!(wanted, Ok(Put::Added | Put::Updated)) {
            self.list(&group).put(id, score);
        }
    }

    fn put_all(&mut self) {
        let group = self.group();
        let many = match self.rng.below(32) {
            0 => 2 * self.ids,
            _ => self.rng.below(20),
        };
        let rows: Vec<(u64, S)> = (0..many).map(|_| (self.id(), self.draw())).collect();
        let before = self.list(&group).clone();
        let added = |list: &List<S>| list.0.len() - before.0.len();
        let mut after = before.clone();
        rows.iter().for_each(|(id, score)| after.put(*id, *score));
        let clash = self.unique && after.distinct() < after.0.len();
        let wanted = if clash {
            Err(Refusal::NotUnique)
        } else {
            Ok(added(&after))
        };
        assert_eq!(self.set.put_all(&group, rows), wanted);
        if !clash {
            *self.list(&group) = after;
        }
    }

    fn increment(&mut self) {
        let (group, id, delta) = (self.group(), self.id(), self.draw());
        let old = self.list(&group).score(id);
        let sum = old.map_or(Some(delta), |old| old.sum(&delta));
        let wanted = match sum {
            None => Err(Refusal::Overflow),
            Some(sum) if self.taken(&group, id, sum) => Err(Refusal::NotUnique),
            Some(sum) => Ok(sum),
        };
        assert_eq!(self.set.increment(&group, id, delta), wanted);
        if let Ok(sum) = wanted {
            self.list(&group).put(id, sum);
        }
    }

    fn pop(&mut self) {
        let group = self.group();
        let count = match self.rng.below(6) {
            0 => usize::MAX,
            few => few as usize * 3 - 3,
        };
        let order = ORDERS[self.rng.below(2) as usize];
        let popped = match order {
            Order::Ascending => self.set.pop_min(&group, count),
            Order::Descending => self.set.pop_max(&group, count),
        };
        let list = self.list(&group);
        let wanted = list.standings(Ties::Ordinal, order);
        let wanted: Vec<_> = wanted
            .into_iter()
            .take(count)
            .map(|row| (row.1, row.2))
            .collect();
        assert_eq!(popped, wanted);
        for (id, _) in wanted {
            list.delete(id);
        }
    }

    fn step(&mut self) {
        match self.rng.below(200) {
            0..100 => self.put(),
            100..110 => self.put_all(),
            110..130 => self.increment(),
            130..178 => {
                let (group, id) = (self.group(), self.id());
                let wanted = self.list(&group).delete(id);
                assert_eq!(self.set.delete(&group, id), wanted);
            }
            178..190 => self.pop(),
            190..192 => {
                let group = self.group();
                let wanted = self.list(&group).0.drain(..).count();
                assert_eq!(self.set.drop_group(&group), wanted);
            }
            192..193 => self.held.push((self.set.hold(), self.model.clone())),
            193..195 if self.held.len() > 3 => {
                let at = self.rng.below(self.held.len() as u64) as usize;
                let (hold, model) = self.held.swap_remove(at);
                let view = self.set.at(&hold).expect("a hold of this set");
                for (group, list) in &model {
                    agree(&view.group(group), list);
                }
            }
            _ => {}
        }
        self.model.retain(|_, list| !list.0.is_empty());
        let (view, members) = (
            self.set.view(),
            self.model.values().map(|list| list.0.len()),
        );
        assert_eq!(view.len(), members.sum::<usize>());
        assert_eq!(view.group_count(), self.model.len());
    }

    /// A few questions about one group.
    fn probe(&mut self) {
        let (group, id, score, other) = (self.group(), self.id(), self.draw(), self.draw());
        let (ties, order) = (
            TIES[self.rng.below(4) as usize],
            ORDERS[self.rng.below(2) as usize],
        );
        let list = self.model.get(&group).cloned().unwrap_or_else(empty);
        let view = self.set.view();
        let board = view.group(&group);
        let ranked = list.standings(ties, order);
        let rank = ranked.iter().find(|row| row.1 == id).map(|row| row.0);
        assert_eq!(board.rank(id, ties, order), rank);
        assert_eq!(board.score(id), list.score(id));
        let rank = list.rank_for_score(score, ties, order);
        assert_eq!(board.rank_for_score(score, ties, order), Ok(rank));
        let at = self.rng.below(ranked.len() as u64 + 2) as usize;
        let selected = list
            .standings(Ties::Ordinal, order)
            .get(at)
            .map(|row| (row.1, row.2));
        assert_eq!(board.select(at, order), selected);
        between(&board, &list, (score, other), (ties, order));

        let (low, high) = (self.rng.below(30) as i64 - 9, self.rng.below(60) as i64 - 9);
        let rows = rows(board.by_rank((Bound::Included(low), Bound::Excluded(high)), ties, order));
        let inside = ranked
            .iter()
            .filter(|row| (low..high).contains(&(row.0 as i64)));
        assert!(rows.iter().eq(inside), "{ties:?} {order:?} {low}..{high}");

        let reach = self.rng.below(9) as usize;
        let around = board.around(id, reach, ties, order).map(self::rows);
        let at = ranked.iter().position(|row| row.1 == id);
        let wanted = at.map(|at| {
            let end = (at + reach + 1).min(ranked.len());
            ranked[at.saturating_sub(reach)..end].to_vec()
        });
        assert_eq!(around, wanted);
    }
}

fn rows<S: Score>(
    standings: impl Iterator<Item = echo_data_core::Standing<S>>,
) -> Vec<(usize, u64, S)> {
    standings.map(|row| (row.rank, row.id, row.score)).collect()
}

/// Counts and rows between two scores, with all kinds of ends.
fn between<S: Drawn>(
    board: &Board<'_, S>,
    list: &List<S>,
    (low, high): (S, S),
    (ties, order): (Ties, Order),
) {
    let ends = |score| {
        [
            Bound::Included(score),
            Bound::Excluded(score),
            Bound::Unbounded,
        ]
    };
    let ranked = list.standings(ties, order);
    for low in ends(low) {
        for high in ends(high) {
            let above = |score: &S| match &low {
                Bound::Included(low) => score.compare(low) != Ordering::Less,
                Bound::Excluded(low) => score.compare(low) == Ordering::Greater,
                Bound::Unbounded => true,
            };
            let below = |score: &S| match &high {
                Bound::Included(high) => score.compare(high) != Ordering::Greater,
                Bound::Excluded(high) => score.compare(high) == Ordering::Less,
                Bound::Unbounded => true,
            };
            let inside = |row: &&(usize, u64, S)| above(&row.2) && below(&row.2);
            let wanted: Vec<_> = ranked.iter().filter(inside).copied().collect();
            let range = (low, high);
            assert_eq!(board.count_between(range), Ok(wanted.len()));
            let found = board.by_score(range, ties, order).map(rows);
            assert_eq!(found.as_ref(), Ok(&wanted));
        }
    }
}

/// All of a group, in all ways to rank it.
fn agree<S: Drawn>(board: &Board<'_, S>, list: &List<S>) {
    assert_eq!(
        (board.len(), board.distinct()),
        (list.0.len(), list.distinct())
    );
    let ids: Vec<u64> = list.0.iter().map(|row| row.1).collect();
    for ties in TIES {
        for order in ORDERS {
            let ranked = list.standings(ties, order);
            assert_eq!(rows(board.standings(ties, order)), ranked);
            let by_id: BTreeMap<u64, usize> = ranked.iter().map(|row| (row.1, row.0)).collect();
            let wanted: Vec<_> = ids.iter().map(|id| by_id.get(id).copied()).collect();
            assert_eq!(board.ranks(&ids, ties, order), wanted);
        }
    }
    for order in ORDERS {
        for (at, row) in list.standings(Ties::Ordinal, order).iter().enumerate() {
            assert_eq!(board.select(at, order), Some((row.1, row.2)));
        }
    }
}

fn run<S: Drawn>(new: impl Fn() -> Ranked<S>, rng: &mut Rng, steps: u64) {
    let plans = [
        (Spread::Equal, 400, 2, false),
        (Spread::Ties, 300, 3, false),
        (Spread::Growing, 300, 2, false),
        (Spread::Wide, 200, 5, false),
        (Spread::Ties, 8, 3, true),
        (Spread::Wide, 60, 4, true),
        // Groups of one or two members, which come and go.
        (Spread::Ties, 3, 200, false),
    ];
    for (spread, ids, groups, unique) in plans {
        println!("{spread:?}, {ids} ids, {groups} groups, unique: {unique}");
        let set = if unique { new().unique() } else { new() };
        let gauge = set.gauge();
        let mut subject = Subject {
            set,
            unique,
            model: Model::new(),
            held: Vec::new(),
            rng: rng.fork(),
            spread,
            clock: 0,
            ids,
            groups,
        };
        let steps = steps / plans.len() as u64;
        for step in 0..steps {
            subject.step();
            if step % 16 == 0 {
                subject.probe();
            }
            if step % 2048 == 0 || step + 1 == steps {
                let view = subject.set.view();
                let mut names: Vec<_> = view.groups().map(<[u8]>::to_vec).collect();
                names.sort_unstable();
                assert!(names.iter().eq(subject.model.keys()));
                for (group, list) in &subject.model {
                    agree(&view.group(group), list);
                }
            }
        }
        drop(subject);
        settle(&gauge);
    }
}

#[test]
fn integers_agree_with_sorted_lists() {
    run(
        Ranked::<i64>::new,
        &mut Rng::new(),
        scale(100_000, 3_000_000),
    );
}

#[test]
fn descending_floats_with_nil_agree_with_sorted_lists() {
    run(
        Ranked::<Reverse<Option<f64>>>::new,
        &mut Rng::new(),
        scale(20_000, 1_000_000),
    );
}

#[test]
fn pairs_agree_with_sorted_lists() {
    run(
        Ranked::<(i64, Reverse<i64>)>::new,
        &mut Rng::new(),
        scale(20_000, 1_000_000),
    );
}

#[test]
fn numbers_of_run_time_kinds_agree_with_sorted_lists() {
    let measure = Measure {
        kind: Kind::Integer,
        order: Order::Descending,
    };
    let new = || Ranked::<[Number; 1]>::with_rule([measure]);
    run(new, &mut Rng::new(), scale(20_000, 1_000_000));
}
