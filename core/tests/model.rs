//! The ordered store against a `BTreeMap`: any sequence of operations, with moments held on the way and
//! compared to a clone of the model taken then. Values count themselves, so nothing leaks and nothing is
//! dropped twice.

mod common;

use std::collections::BTreeMap;
use std::ops::Bound;

use common::model::{config, Subject};
use common::numbered::{Numbered, NUMBERS};
use common::Tracked;
use echo_data_core::{Blob, Boxed, Held, OrderedStore, SlimBlob, View};
use proptest::prelude::*;

type Model = BTreeMap<u64, u64>;

/// Keys are below this: several levels of nodes, full size or shrunken.
const KEYS: u64 = if cfg!(tiny_nodes) { 200 } else { 6000 };
/// Rows of one batch or range.
const MANY: u64 = KEYS / 3;

/// A condition on the number that is there, if any.
#[derive(Clone, Copy, Debug)]
enum Condition {
    Absent,
    Odd,
}

impl Condition {
    fn holds(self, present: Option<u64>) -> bool {
        match self {
            Self::Absent => present.is_none(),
            Self::Odd => present.is_some_and(|number| number % 2 == 1),
        }
    }
}

#[derive(Clone, Debug)]
enum Op {
    Put(u64, u64),
    /// So far beyond the last key.
    Append(u64, u64),
    PutIf(u64, u64, Condition),
    Remove(u64),
    RemoveIf(u64, Condition),
    Take(u64),
    PutAll(Vec<(u64, u64)>),
    /// From a key, in steps, so many rows: neighbours, or one for each node.
    PutRun(u64, u64, u64),
    RemoveRange(Bound<u64>, Bound<u64>),
    Clear,
    Hold,
    Release(usize),
}

fn bound() -> impl Strategy<Value = Bound<u64>> {
    prop_oneof![
        6 => (0..KEYS).prop_map(Bound::Included),
        6 => (0..KEYS).prop_map(Bound::Excluded),
        1 => Just(Bound::Unbounded),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let condition = || prop_oneof![Just(Condition::Absent), Just(Condition::Odd)];
    let number = || 0..NUMBERS;
    prop_oneof![
        8 => (0..KEYS, number()).prop_map(|(key, number)| Op::Put(key, number)),
        8 => (1..4_u64, number()).prop_map(|(step, number)| Op::Append(step, number)),
        3 => (0..KEYS, number(), condition()).prop_map(|(key, n, when)| Op::PutIf(key, n, when)),
        8 => (0..KEYS).prop_map(Op::Remove),
        3 => (0..KEYS, condition()).prop_map(|(key, when)| Op::RemoveIf(key, when)),
        3 => (0..KEYS).prop_map(Op::Take),
        2 => prop::collection::vec((0..KEYS, number()), 0..40).prop_map(Op::PutAll),
        4 => (0..KEYS, 1..8_u64, 1..MANY).prop_map(|(key, step, n)| Op::PutRun(key, step, n)),
        2 => (bound(), bound()).prop_map(|(low, high)| Op::RemoveRange(low, high)),
        1 => (0..KEYS, 1..MANY).prop_map(|(low, n)| {
            Op::RemoveRange(Bound::Included(low), Bound::Excluded(low + n))
        }),
        1 => Just(Op::Clear),
        3 => Just(Op::Hold),
        3 => any::<usize>().prop_map(Op::Release),
    ]
}

impl<V: Numbered> Subject<OrderedStore<V>, Held<V>, Model> {
    fn new() -> Self {
        let store = OrderedStore::new();
        let gauge = store.gauge();
        Self::of(store, gauge)
    }

    fn apply(&mut self, op: Op) {
        let (store, model) = (&self.store, &mut self.model);
        match op {
            Op::Put(key, number) => self.put(key, number),
            Op::Append(step, number) => {
                let key = self.model.keys().last().map_or(0, |last| last + step);
                self.put(key, number);
            }
            Op::PutIf(key, number, condition) => {
                let put = store.put_if(key, V::of(number, &self.live), |present| {
                    condition.holds(present.map(V::number))
                });
                assert_eq!(put, condition.holds(model.get(&key).copied()));
                if put {
                    model.insert(key, number);
                }
            }
            Op::Remove(key) => assert_eq!(store.remove(key), model.remove(&key).is_some()),
            Op::RemoveIf(key, condition) => {
                let wanted = model.get(&key).is_some_and(|n| condition.holds(Some(*n)));
                let removed = store.remove_if(key, |n| condition.holds(Some(V::number(n))));
                assert_eq!(removed, wanted);
                if removed {
                    model.remove(&key);
                }
            }
            Op::Take(key) => assert_eq!(store.take(key, V::number), model.remove(&key)),
            Op::PutAll(rows) => self.put_all(rows),
            Op::PutRun(from, step, rows) => {
                self.put_all((0..rows).map(|n| (from + n * step, n)).collect());
            }
            Op::RemoveRange(low, high) => {
                let before = model.len();
                let inside = |key: &u64| std::ops::RangeBounds::contains(&(low, high), key);
                model.retain(|key, _| !inside(key));
                assert_eq!(store.remove_range((low, high)), before - model.len());
            }
            Op::Clear => assert_eq!(store.clear(), std::mem::take(model).len()),
            Op::Hold => self.held.push((store.hold(), model.clone())),
            Op::Release(any) => drop(self.release(any)),
        }
    }

    fn put(&mut self, key: u64, number: u64) {
        let replaced = self.store.put(key, V::of(number, &self.live));
        assert_eq!(replaced, self.model.insert(key, number).is_some());
    }

    fn put_all(&mut self, rows: Vec<(u64, u64)>) {
        let values = rows.iter().map(|(key, n)| (*key, V::of(*n, &self.live)));
        self.store.put_all(values);
        self.model.extend(rows);
    }

    fn check(&self, probe: u64) {
        agree(&self.store.view(), &self.model, probe);
        for (hold, model) in &self.held {
            agree(
                &self.store.at(hold).expect("a hold of this store"),
                model,
                probe,
            );
        }
        assert_eq!(self.store.info().rows, self.model.len());
        assert_eq!(self.store.info().snapshots, self.held.len());
    }
}

fn row<V: Numbered>((key, value): (u64, V::Ref<'_>)) -> (u64, u64) {
    (key, V::number(value))
}

/// Everything that a view answers is what the model answers.
fn agree<V: Numbered>(view: &View<'_, V>, model: &Model, probe: u64) {
    let rows: Vec<(u64, u64)> = model.iter().map(|(key, number)| (*key, *number)).collect();
    assert_eq!(view.len(), rows.len());
    assert!(view.iter().map(row::<V>).eq(rows.iter().copied()));
    assert!(view
        .iter()
        .rev()
        .map(row::<V>)
        .eq(rows.iter().rev().copied()));
    assert_eq!(view.first().map(row::<V>), rows.first().copied());
    assert_eq!(view.last().map(row::<V>), rows.last().copied());

    let at = rows.partition_point(|(key, _)| *key < probe);
    assert_eq!(view.rank(probe), at);
    assert_eq!(view.get(probe).map(V::number), model.get(&probe).copied());
    assert_eq!(view.contains(probe), model.contains_key(&probe));
    assert_eq!(view.select(at).map(row::<V>), rows.get(at).copied());
    let end = probe + MANY / 2;
    let page = || model.range(probe..end).map(|(key, number)| (*key, *number));
    assert_eq!(view.count(probe..end), page().count());
    assert!(view.range(probe..end).map(row::<V>).eq(page()));
    assert!(view.range(probe..end).rev().map(row::<V>).eq(page().rev()));

    let asked: Vec<u64> = (0..40).map(|n| (probe + n * n * 3) % KEYS).collect();
    let mut found = Vec::new();
    view.get_many(&asked, |at, value| found.push((at, value.map(V::number))));
    let wanted = asked.iter().map(|key| model.get(key).copied()).enumerate();
    assert!(found.into_iter().eq(wanted));
}

fn run<V: Numbered>(ops: Vec<(Op, u64)>) {
    let mut subject = Subject::<OrderedStore<V>, _, _>::new();
    for (op, probe) in ops {
        subject.apply(op);
        subject.check(probe);
    }
    subject.close();
}

fn sequences() -> impl Strategy<Value = Vec<(Op, u64)>> {
    prop::collection::vec((op(), 0..KEYS), 1..80)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn boxed_values_agree_with_a_btree_map(ops in sequences()) {
        run::<Boxed<Tracked>>(ops);
    }

    #[test]
    fn blobs_agree_with_a_btree_map(ops in sequences()) {
        run::<Blob<Tracked>>(ops);
    }

    #[test]
    fn slim_blobs_agree_with_a_btree_map(ops in sequences()) {
        run::<SlimBlob<Tracked>>(ops);
    }

    #[test]
    fn plain_values_agree_with_a_btree_map(ops in sequences()) {
        run::<u64>(ops);
    }
}
