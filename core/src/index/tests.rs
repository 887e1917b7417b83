//! The index against a `BTreeMap`, with nodes of four entries, and its invariants after every step.
#![allow(unsafe_code)] // walks the nodes to check their shape

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::{Bound, Range};

use proptest::prelude::*;

use super::node::{Inner, Leaf, INNER, INNER_MIN, LEAF, LEAF_MIN};
use super::{by_first, by_last, Change, Key, Root};
use crate::publish::{Block, Hold, Outcome, Published};
use crate::value::Inline;

type Index = Root<u64, Inline<u64>>;
type Store = Published<(Index,)>;
type Model = BTreeMap<u64, u64>;

impl Index {
    /// Panics unless the tree is well formed: equal depth, exact counts, separators that separate,
    /// widths within bounds, and the tail where the root says.
    fn check(&self) {
        let Some(top) = self.top else {
            assert_eq!(self.entries, 0);
            return;
        };
        assert!(self.entries > 0);
        let mut tail = None;
        self.check_node(
            top.node,
            top.height,
            self.entries,
            (None, None),
            (true, true),
            &mut tail,
        );
        assert_eq!(tail, Some((top.tail, top.tail_len as usize)));
    }

    fn check_node(
        &self,
        node: Block,
        height: u32,
        entries: usize,
        (low, high): (Option<u64>, Option<u64>),
        (is_root, right_edge): (bool, bool),
        tail: &mut Option<(Block, usize)>,
    ) {
        if height == 0 {
            check_leaf(node, entries, (low, high), (is_root, right_edge));
            if right_edge {
                *tail = Some((node, entries));
            }
            return;
        }
        // SAFETY: reached from a protected root; above height 0 there are inner nodes.
        let inner = unsafe { Inner::<u64>::new(node) };
        let width = inner.width();
        assert!(width <= INNER && width >= if is_root { 2 } else { 1 });
        assert!(is_root || right_edge || width >= INNER_MIN);
        assert_eq!(inner.starts()[0], 0);
        for at in 0..width {
            let low = if at == 0 {
                low
            } else {
                Some(inner.separators()[at - 1])
            };
            let high = if at + 1 == width {
                high
            } else {
                Some(inner.separators()[at])
            };
            let extent = inner.extent(at, entries);
            assert!(!extent.is_empty());
            let edge = right_edge && at + 1 == width;
            self.check_node(
                inner.children()[at],
                height - 1,
                extent.len(),
                (low, high),
                (false, edge),
                tail,
            );
        }
    }
}

fn check_leaf(
    node: Block,
    entries: usize,
    (low, high): (Option<u64>, Option<u64>),
    (is_root, right_edge): (bool, bool),
) {
    // SAFETY: reached from a protected root; the counts give its length.
    let leaf = unsafe { Leaf::<u64, Inline<u64>>::new(node, entries) };
    let keys = leaf.keys();
    assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "keys ascend");
    assert!(keys.iter().all(|key| low.is_none_or(|low| *key >= low)));
    assert!(keys.iter().all(|key| high.is_none_or(|high| *key < high)));
    assert!(entries <= LEAF && (is_root || right_edge || entries >= LEAF_MIN));
    assert!(
        right_edge || entries == node.width(),
        "only the tail has spare room"
    );
}

fn contents(index: &Index) -> Vec<(u64, u64)> {
    index
        .entries(0..usize::MAX)
        .map(|(key, slot)| (*key, slot.0))
        .collect()
}

fn assert_equal(index: &Index, model: &Model) {
    index.check();
    assert_eq!(index.len(), model.len());
    let rows: Vec<(u64, u64)> = model.iter().map(|(&k, &v)| (k, v)).collect();
    assert_eq!(contents(index), rows);
    let mut back: Vec<(u64, u64)> = index
        .entries(0..usize::MAX)
        .rev()
        .map(|(key, slot)| (*key, slot.0))
        .collect();
    back.reverse();
    assert_eq!(back, rows);
    assert_eq!(
        index.last().map(|(key, slot)| (*key, slot.0)),
        rows.last().copied()
    );
}

fn assert_reads(index: &Index, model: &Model, probe: u64, other: u64) {
    assert_eq!(
        index.get(&probe).map(|slot| slot.0),
        model.get(&probe).copied()
    );
    assert_eq!(index.rank(&probe), model.range(..probe).count());
    assert_eq!(index.rank_after(&probe), model.range(..=probe).count());
    let from = index.first_from(&probe).map(|(key, slot)| (*key, slot.0));
    assert_eq!(from, model.range(probe..).next().map(|(&k, &v)| (k, v)));
    let at = probe as usize % (model.len() + 2);
    let selected = index.select(at).map(|(key, slot)| (*key, slot.0));
    assert_eq!(selected, model.iter().nth(at).map(|(&k, &v)| (k, v)));
    let bounds = [
        Bound::Included(probe),
        Bound::Excluded(probe),
        Bound::Unbounded,
    ];
    for low in bounds {
        for high in [
            Bound::Included(other),
            Bound::Excluded(other),
            Bound::Unbounded,
        ] {
            let inside = |key: &u64| {
                use std::ops::RangeBounds;
                (low, high).contains(key)
            };
            let wanted: Vec<u64> = model.keys().copied().filter(inside).collect();
            let positions = index.positions((low, high));
            let ascending = index.entries(positions.clone()).map(|(key, _)| *key);
            assert!(ascending.eq(wanted.iter().copied()));
            let descending = index.entries(positions).rev().map(|(key, _)| *key);
            assert!(descending.eq(wanted.iter().rev().copied()));
        }
    }
    let keys = [probe, other, probe / 2, u64::MAX];
    let mut found = Vec::new();
    index.get_many(&keys, |at, slot| found.push((at, slot.map(|slot| slot.0))));
    let wanted: Vec<_> = keys
        .iter()
        .map(|key| model.get(key).copied())
        .enumerate()
        .collect();
    assert_eq!(found, wanted);
}

#[derive(Clone, Debug)]
enum Op {
    Insert(u64, u64),
    Append(u64, u64),
    Remove(u64),
    /// From one key to another; where there is nothing, the other key is put.
    Move(u64, u64),
    Batch(Vec<(u64, Option<u64>)>),
    Cut(Range<u64>),
    Abandon(u64),
    Hold,
    Release(usize),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let key = 0..200_u64;
    // Mostly within a leaf.
    let near = (key.clone(), 0..5_u64).prop_map(|(from, by)| (from + 2, from + by));
    let far = (key.clone(), key.clone());
    let op = prop_oneof![
        6 => (key.clone(), any::<u64>()).prop_map(|(k, v)| Op::Insert(k, v)),
        6 => (1..3_u64, any::<u64>()).prop_map(|(k, v)| Op::Append(k, v)),
        6 => key.clone().prop_map(Op::Remove),
        4 => prop_oneof![near, far].prop_map(|(from, to)| Op::Move(from, to)),
        2 => prop::collection::vec((key.clone(), any::<Option<u64>>()), 0..60).prop_map(Op::Batch),
        1 => (key.clone(), 0..60_u64).prop_map(|(low, n)| Op::Cut(low..low + n)),
        1 => key.clone().prop_map(Op::Abandon),
        2 => Just(Op::Hold),
        2 => any::<usize>().prop_map(Op::Release),
    ];
    prop::collection::vec(op, 1..120)
}

struct Subject {
    store: Store,
    model: Model,
    held: Vec<(Hold<(Index,)>, Model)>,
}

impl Subject {
    fn apply(&mut self, op: Op) {
        match op {
            Op::Insert(key, value) => self.insert(key, value),
            Op::Append(step, value) => {
                let last = self.model.keys().last().map_or(0, |key| key + step);
                self.insert(last, value);
            }
            Op::Remove(key) => {
                let old = self
                    .store
                    .update(|edit, (index,)| Outcome::Publish(index.remove(edit, &key)));
                assert_eq!(old.map(|slot| slot.0), self.model.remove(&key));
            }
            Op::Move(from, to) => {
                let value = self.model.remove(&from);
                let slot = Inline(value.unwrap_or(to));
                let old = self.store.update(|edit, (index,)| {
                    let (mut from, mut to) = (index.begin(from), index.begin(to));
                    Outcome::Publish(index.move_at(edit, [&mut from, &mut to], slot))
                });
                assert_eq!(old.map(|slot| slot.0), value);
                self.model.insert(to, slot.0);
            }
            Op::Batch(changes) => self.batch(&changes),
            Op::Cut(range) => {
                let removed = self.store.update(|edit, (index,)| {
                    let positions = index.positions(range.clone());
                    Outcome::Publish(index.cut(edit, positions))
                });
                let before = self.model.len();
                self.model.retain(|key, _| !range.contains(key));
                assert_eq!(removed, before - self.model.len());
            }
            Op::Abandon(key) => self.store.update(|edit, (index,)| {
                index.insert(edit, key, Inline(0));
                index.remove(edit, &(key / 2));
                Outcome::Keep(())
            }),
            Op::Hold => self.held.push((self.store.hold(), self.model.clone())),
            Op::Release(at) if !self.held.is_empty() => {
                self.held.swap_remove(at % self.held.len());
            }
            Op::Release(_) => {}
        }
    }

    fn insert(&mut self, key: u64, value: u64) {
        let old = self
            .store
            .update(|edit, (index,)| Outcome::Publish(index.insert(edit, key, Inline(value))));
        assert_eq!(old.map(|slot| slot.0), self.model.insert(key, value));
    }

    fn batch(&mut self, changes: &[(u64, Option<u64>)]) {
        let unique: BTreeMap<u64, Option<u64>> = changes.iter().copied().collect();
        let changes: Vec<_> = unique
            .iter()
            .map(|(&key, value)| {
                (
                    key,
                    value.map_or(Change::Remove, |value| Change::Put(Inline(value))),
                )
            })
            .collect();
        self.store.update(|edit, (index,)| {
            index.rebuild(edit, &changes);
            Outcome::Publish(())
        });
        for (key, value) in unique {
            match value {
                Some(value) => self.model.insert(key, value),
                None => self.model.remove(&key),
            };
        }
    }

    fn check(&self) {
        assert_equal(&self.store.pin().0, &self.model);
        for (hold, model) in &self.held {
            assert_equal(&self.store.at(hold).expect("a hold of this store").0, model);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 300 } else { 3000 }))]

    #[test]
    fn agrees_with_a_btree_map(ops in ops(), probe in 0..220_u64, other in 0..220_u64) {
        let mut subject = Subject { store: Store::new(), model: Model::new(), held: Vec::new() };
        for op in ops {
            subject.apply(op);
            subject.check();
        }
        assert_reads(&subject.store.pin().0, &subject.model, probe, other);
        for (hold, model) in &subject.held {
            assert_reads(&subject.store.at(hold).expect("a hold of this store").0, model, probe, other);
        }
        let gauge = subject.store.gauge();
        drop(subject);
        crate::publish::drain();
        prop_assert_eq!(gauge.left(), Some(crate::publish::Tally::default()));
    }
}

thread_local! {
    /// How often this thread has looked at a word of a [`Counted`] key.
    static LOOKS: Cell<usize> = const { Cell::new(0) };
}

/// A key of two words, as edges have, that counts how often they are looked at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Counted(u64, u64);

fn looked_at(word: u64) -> u64 {
    LOOKS.set(LOOKS.get() + 1);
    word
}

impl Key for Counted {
    fn place_among(&self, keys: &[Self], inclusive: bool) -> usize {
        let second = |key: &Self| looked_at(key.1);
        let rest = |keys: &[Self]| by_last(keys, second, self.1, inclusive);
        by_first(keys, |key| looked_at(key.0), self.0, rest)
    }
}

/// Counted in looks, not in time: a question that became a scan looks at each of the rows.
#[test]
#[cfg_attr(miri, ignore = "so many rows take hours")]
fn questions_look_at_keys_of_a_path_whatever_the_number_of_rows() {
    type Pairs = Root<Counted, Inline<u64>>;
    let odd =
        (0..400).flat_map(|subject| (0..500).map(move |n| Counted(2 * subject + 1, 2 * n + 1)));
    let rows: Vec<_> = odd.map(|key| (key, Change::Put(Inline(0)))).collect();
    let store: Published<(Pairs,)> = Published::new();
    store.update(|edit, (index,)| {
        index.rebuild(edit, &rows);
        Outcome::Publish(())
    });
    let version = store.pin();
    let index = &version.0;
    assert_eq!(index.len(), 200_000);

    let count = |low, high| index.positions(low..high).len();
    let ends = |low, high| {
        let mut entries = index.entries(index.positions(low..high));
        usize::from(entries.next().is_some()) + usize::from(entries.next_back().is_some())
    };
    let (first, last) = (Counted(0, 0), Counted(u64::MAX, u64::MAX));
    let absent = (Counted(400, 0), Counted(400, u64::MAX));
    let questions: [(&str, usize, &dyn Fn() -> usize); 9] = [
        ("a key that is there", 1, &|| {
            usize::from(index.get(&Counted(401, 501)).is_some())
        }),
        ("an absent key", 0, &|| {
            usize::from(index.get(&Counted(401, 500)).is_some())
        }),
        ("the degree of an absent subject", 0, &|| {
            count(absent.0, absent.1)
        }),
        ("the degree of a subject", 500, &|| {
            count(Counted(401, 0), Counted(402, 0))
        }),
        ("a window of all", 200_000, &|| count(first, last)),
        ("an empty window", 0, &|| {
            count(Counted(401, 500), Counted(401, 501))
        }),
        ("an inverted window", 0, &|| count(last, first)),
        ("the ends of all", 2, &|| ends(first, last)),
        ("the ends of an absent subject", 0, &|| {
            ends(absent.0, absent.1)
        }),
    ];
    for (question, answer, ask) in questions {
        LOOKS.set(0);
        assert_eq!(ask(), answer, "{question}");
        let looks = LOOKS.get();
        assert!((1..200).contains(&looks), "{question}: {looks} looks");
    }
}

/// Of few words, so that many keys have some in common.
fn pairs() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let words = || prop_oneof![0..6_u64, u64::MAX - 1..=u64::MAX];
    prop::collection::btree_set((words(), words()), 0..70)
        .prop_map(|keys| keys.into_iter().collect())
}

/// Compares the search for `wanted` with a walk.
pub(crate) fn assert_places<K: Key>(keys: &[K], wanted: &K) {
    let below = keys.iter().filter(|key| *key < wanted).count();
    let upto = keys.iter().filter(|key| *key <= wanted).count();
    let found = [false, true].map(|inclusive| wanted.place_among(keys, inclusive));
    assert_eq!(found, [below, upto]);
}

proptest! {
    #[test]
    fn a_key_is_found_among_others_wherever_it_is(keys in pairs(), wanted in pairs()) {
        let firsts: std::collections::BTreeSet<u64> = keys.iter().map(|key| key.0).collect();
        let firsts: Vec<u64> = firsts.into_iter().collect();
        for wanted in wanted {
            assert_places(&keys, &wanted);
            assert_places(&firsts, &wanted.0);
        }
    }
}

#[test]
fn a_path_is_found_again_when_the_index_has_changed() {
    let store: Store = Published::new();
    let mut model = Model::new();
    store.update(|edit, (index,)| {
        for key in 0..200 {
            let (early, late) = (key * 7919 % 1000, key * 104_729 % 1000);
            // Gone part of the way, before the other change.
            let mut path = index.begin(early);
            for _ in 0..key % 4 {
                index.step(&mut path);
            }
            let known = index.found(&mut path).map(|slot| slot.0);
            assert_eq!(known, model.get(&early).copied());
            assert_eq!(
                index.insert(edit, late, Inline(key)).map(|slot| slot.0),
                model.insert(late, key)
            );
            let old = if key % 3 == 0 {
                (index.remove_at(edit, &mut path), model.remove(&early))
            } else {
                (
                    index.insert_at(edit, &mut path, Inline(key)),
                    model.insert(early, key),
                )
            };
            assert_eq!(old.0.map(|slot| slot.0), old.1);
            index.check();
        }
        let entries = index.entries(0..index.len());
        assert!(entries.map(|(key, slot)| (*key, slot.0)).eq(model.clone()));
        Outcome::Publish(())
    });
}

#[test]
fn a_path_does_not_go_on_in_an_index_that_has_shrunk() {
    let store: Store = Published::new();
    store.update(|edit, (index,)| {
        let rows: Vec<_> = (0..200)
            .map(|key| (key, Change::Put(Inline(key))))
            .collect();
        index.rebuild(edit, &rows);
        let mut path = index.begin(150);
        while index.step(&mut path) {}
        index.cut(edit, 1..200);
        assert!(!index.step(&mut path));
        assert!(index.found(&mut path).is_none());
        assert!(index.insert_at(edit, &mut path, Inline(7)).is_none());
        index.check();
        assert_eq!(index.found(&mut path).map(|slot| slot.0), Some(7));
        Outcome::Publish(())
    });
}
