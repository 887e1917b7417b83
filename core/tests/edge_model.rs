//! The edge store against two `BTreeMap`s, one for each direction: any sequence of operations, with
//! moments held on the way. After every step the store answers what the maps answer, and one direction
//! is the transpose of the other; so it is of every held moment, for as long as it is held.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::model::{config, Subject};
use common::numbered::{Numbered, NUMBERS};
use common::Tracked;
use echo_data_core::{Boxed, EdgeStore, EdgeView, HeldEdges, Replaced, SlimBlob};
use proptest::prelude::*;

/// Places of ids: several levels of nodes, full size or shrunken, and hubs among them.
const IDS: u64 = if cfg!(tiny_nodes) { 24 } else { 90 };
/// Edges of one batch.
const MANY: u64 = IDS * 3;

/// Subjects and objects share their ids, the largest among them.
fn id(place: u64) -> u64 {
    match place % IDS {
        last if last == IDS - 1 => u64::MAX,
        place => place,
    }
}

fn ids() -> impl Iterator<Item = u64> {
    (0..IDS).map(id)
}

/// What the store is to answer.
#[derive(Clone, Default)]
struct Model {
    forward: BTreeMap<(u64, u64), u64>,
    reverse: BTreeMap<(u64, u64), u64>,
}

/// The neighbours of `id` in one direction.
fn of(map: &BTreeMap<(u64, u64), u64>, id: u64) -> Vec<(u64, u64)> {
    let row = |(&(_, other), &number): (&(u64, u64), &u64)| (other, number);
    map.range((id, 0)..=(id, u64::MAX)).map(row).collect()
}

impl Model {
    fn link(&mut self, (subject, object, number): (u64, u64, u64)) -> bool {
        self.reverse.insert((object, subject), number);
        self.forward.insert((subject, object), number).is_none()
    }

    fn unlink(&mut self, subject: u64, object: u64) -> bool {
        self.reverse.remove(&(object, subject));
        self.forward.remove(&(subject, object)).is_some()
    }

    fn replace(&mut self, subject: u64, objects: &[(u64, u64)]) -> Replaced {
        let before: BTreeSet<u64> = of(&self.forward, subject).iter().map(|o| o.0).collect();
        let after: BTreeSet<u64> = objects.iter().map(|object| object.0).collect();
        for object in &before {
            self.unlink(subject, *object);
        }
        for (object, number) in objects {
            self.link((subject, *object, *number));
        }
        let replaced = |left: &BTreeSet<u64>, right| left.difference(right).count();
        Replaced {
            added: replaced(&after, &before),
            kept: before.intersection(&after).count(),
            removed: replaced(&before, &after),
        }
    }
}

#[derive(Clone, Debug)]
enum Op {
    Link(u64, u64, u64),
    Unlink(u64, u64),
    LinkAll(Vec<(u64, u64, u64)>),
    /// From a subject, in steps, so many objects.
    Fan(u64, u64, u64),
    /// To an object, in steps, so many subjects.
    Star(u64, u64, u64),
    Replace(u64, Vec<(u64, u64)>),
    /// With so many objects in steps, most of them those of a fan.
    ReplaceFan(u64, u64, u64),
    /// With the same objects and new props.
    Renew(u64, u64),
    DropSubject(u64),
    DropObject(u64),
    Hold,
    Release(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let place = || (0..IDS).prop_map(id);
    let number = || 0..NUMBERS;
    let edge = move || (place(), place(), number());
    let objects = prop::collection::vec((place(), number()), 0..20);
    let fan = move || (place(), 1..4_u64, 0..MANY);
    prop_oneof![
        8 => edge().prop_map(|(subject, object, n)| Op::Link(subject, object, n)),
        5 => (place(), place()).prop_map(|(subject, object)| Op::Unlink(subject, object)),
        3 => prop::collection::vec(edge(), 0..60).prop_map(Op::LinkAll),
        3 => fan().prop_map(|(subject, step, n)| Op::Fan(subject, step, n)),
        3 => fan().prop_map(|(object, step, n)| Op::Star(object, step, n)),
        2 => (place(), objects).prop_map(|(subject, objects)| Op::Replace(subject, objects)),
        2 => fan().prop_map(|(subject, step, n)| Op::ReplaceFan(subject, step, n)),
        1 => (place(), number()).prop_map(|(subject, n)| Op::Renew(subject, n)),
        2 => place().prop_map(Op::DropSubject),
        2 => place().prop_map(Op::DropObject),
        2 => Just(Op::Hold),
        2 => any::<usize>().prop_map(Op::Release),
    ]
}

impl<V: Numbered> Subject<EdgeStore<V>, HeldEdges<V>, Model> {
    fn new() -> Self {
        let store = EdgeStore::new();
        let gauge = store.gauge();
        Self::of(store, gauge)
    }

    fn apply(&mut self, op: Op) {
        let (store, model, live) = (&self.store, &mut self.model, &self.live);
        match op {
            Op::Link(subject, object, number) => {
                let new = store.link(subject, object, V::of(number, live));
                assert_eq!(new, model.link((subject, object, number)));
            }
            Op::Unlink(subject, object) => {
                assert_eq!(store.unlink(subject, object), model.unlink(subject, object));
            }
            Op::LinkAll(edges) => self.link_all(edges),
            Op::Fan(subject, step, count) => {
                self.link_all((0..count).map(|n| (subject, id(n * step), n)).collect());
            }
            Op::Star(object, step, count) => {
                self.link_all((0..count).map(|n| (id(n * step), object, n)).collect());
            }
            Op::Replace(subject, objects) => self.replace(subject, objects),
            Op::ReplaceFan(subject, step, count) => {
                self.replace(subject, (0..count).map(|n| (id(n * step), n)).collect());
            }
            Op::Renew(subject, number) => {
                let objects = of(&model.forward, subject).into_iter();
                self.replace(
                    subject,
                    objects.map(|(object, _)| (object, number)).collect(),
                );
            }
            Op::DropSubject(subject) => self.drop_subject(subject),
            Op::DropObject(object) => self.drop_object(object),
            Op::Hold => self.held.push((store.hold(), model.clone())),
            Op::Release(any) => {
                if let Some((hold, model)) = self.release(any) {
                    agree(&self.at(&hold), &model);
                }
            }
        }
    }

    fn link_all(&mut self, edges: Vec<(u64, u64, u64)>) {
        let live = &self.live;
        let props = |&(subject, object, n): &(u64, u64, u64)| (subject, object, V::of(n, live));
        self.store.link_all(edges.iter().map(props));
        for edge in edges {
            self.model.link(edge);
        }
    }

    fn replace(&mut self, subject: u64, objects: Vec<(u64, u64)>) {
        let live = &self.live;
        let props = objects.iter().map(|(object, n)| (*object, V::of(*n, live)));
        let replaced = self.store.replace(subject, props);
        assert_eq!(replaced, self.model.replace(subject, &objects));
    }

    fn drop_subject(&mut self, subject: u64) {
        let objects = of(&self.model.forward, subject);
        assert_eq!(self.store.drop_subject(subject), objects.len());
        for (object, _) in objects {
            self.model.unlink(subject, object);
        }
    }

    fn drop_object(&mut self, object: u64) {
        let subjects = of(&self.model.reverse, object);
        assert_eq!(self.store.drop_object(object), subjects.len());
        for (subject, _) in subjects {
            self.model.unlink(subject, object);
        }
    }

    fn at<'a>(&'a self, hold: &'a HeldEdges<V>) -> EdgeView<'a, V> {
        self.store.at(hold).expect("a hold of this store")
    }

    fn check(&self, probe: (u64, u64)) {
        agree(&self.store.view(), &self.model);
        neighbours_agree(&self.store.view(), &self.model, probe);
        // One held moment at each step, and each of them when it ends.
        if let Some((hold, model)) = self.one_held(probe.0 as usize) {
            agree(&self.at(hold), model);
            neighbours_agree(&self.at(hold), model, probe);
        }
        let info = self.store.info();
        assert_eq!(info.rows, self.model.forward.len());
        assert_eq!(info.snapshots, self.held.len());
    }
}

fn row<V: Numbered>((other, props): (u64, V::Ref<'_>)) -> (u64, u64) {
    (other, V::number(props))
}

/// All edges of both directions are those of the model, and one direction is the other's transpose.
fn agree<V: Numbered>(view: &EdgeView<'_, V>, model: &Model) {
    let (mut there, mut back) = (Vec::new(), Vec::new());
    for id in ids() {
        let (from, to) = (view.from(id), view.to(id));
        assert!(from.iter().map(row::<V>).eq(of(&model.forward, id)));
        assert!(to.iter().map(row::<V>).eq(of(&model.reverse, id)));
        there.extend(from.into_iter().map(row::<V>).map(|(o, n)| (id, o, n)));
        back.extend(to.into_iter().map(row::<V>).map(|(s, n)| (s, id, n)));
    }
    assert_eq!(view.len(), there.len());
    back.sort_unstable();
    assert!(there == back, "the directions differ");
}

/// What can be asked of the neighbours of one id, and of the two ids of `probe` together.
fn neighbours_agree<V: Numbered>(view: &EdgeView<'_, V>, model: &Model, probe: (u64, u64)) {
    let (one, two) = (view.from(probe.0), view.from(probe.1));
    let (wanted, others) = (of(&model.forward, probe.0), of(&model.forward, probe.1));
    let number = model.forward.get(&probe).copied();
    assert_eq!(one.get(probe.1).map(V::number), number);
    assert_eq!(view.to(probe.1).get(probe.0).map(V::number), number);
    assert_eq!(one.contains(probe.1), number.is_some());
    assert_eq!(view.to(probe.1).contains(probe.0), number.is_some());

    assert_eq!(
        (one.len(), one.is_empty()),
        (wanted.len(), wanted.is_empty())
    );
    let at = wanted.partition_point(|(other, _)| *other < probe.1);
    assert_eq!(one.count(..probe.1), at);
    assert_eq!(one.count(probe.1..), wanted.len() - at);
    assert_eq!(one.select(at).map(row::<V>), wanted.get(at).copied());
    assert_eq!(one.select(wanted.len()).map(row::<V>), None);
    let page = one.range(probe.1..).take(10).map(row::<V>);
    assert!(page.eq(wanted[at..].iter().take(10).copied()));
    let newest = one.range(..probe.1).rev().map(row::<V>);
    assert!(newest.eq(wanted[..at].iter().rev().copied()));

    let known: BTreeSet<u64> = others.iter().map(|other| other.0).collect();
    let both = wanted.iter().map(|w| w.0).filter(|id| known.contains(id));
    assert!(one.common(two).eq(both));
    let known: BTreeSet<u64> = of(&model.reverse, probe.0).iter().map(|s| s.0).collect();
    let others = of(&model.reverse, probe.1).into_iter().map(|s| s.0);
    let both = others.filter(|id| known.contains(id));
    assert!(view.to(probe.0).common(view.to(probe.1)).eq(both));
}

fn run<V: Numbered>(ops: Vec<(Op, (u64, u64))>) {
    let mut subject = Subject::<EdgeStore<V>, _, _>::new();
    for (op, probe) in ops {
        subject.apply(op);
        subject.check(probe);
    }
    for (hold, model) in &subject.held {
        agree(&subject.at(hold), model);
    }
    subject.close();
}

fn sequences() -> impl Strategy<Value = Vec<(Op, (u64, u64))>> {
    let place = || (0..IDS).prop_map(id);
    prop::collection::vec((op(), (place(), place())), 1..60)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn edges_with_boxed_props_agree_with_two_maps(ops in sequences()) {
        run::<Boxed<Tracked>>(ops);
    }

    #[test]
    fn edges_with_slim_blobs_agree_with_two_maps(ops in sequences()) {
        run::<SlimBlob<Tracked>>(ops);
    }

    #[test]
    fn edges_with_plain_props_agree_with_two_maps(ops in sequences()) {
        run::<u64>(ops);
    }
}
