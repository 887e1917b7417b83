//! Several threads on one edge store: at every moment, one direction is the transpose of the other. A few
//! seconds; `ECHO_SOAK=1` makes it minutes. Each test that is random tells its seed.

mod common;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Barrier;
use std::thread;

use common::beside::{beside, Work};
use common::{eventually, scale, settle_all, Live, Rng, Tracked};
use echo_data_core::{Boxed, EdgeStore, EdgeView, HeldEdges};

/// Subjects and objects of the random tests.
const IDS: u64 = 24;

type Edges = EdgeStore<Boxed<Tracked>>;
type Seen<'a> = EdgeView<'a, Boxed<Tracked>>;

/// All edges, having asserted that both directions have the same, with the same props, and as many as
/// are counted.
fn edges_of(view: &Seen<'_>) -> Vec<(u64, u64, u64)> {
    let (mut there, mut back) = (Vec::new(), Vec::new());
    for id in 0..IDS {
        let (from, to) = (view.from(id).into_iter(), view.to(id).into_iter());
        there.extend(from.map(|(object, props)| (id, object, props.number())));
        back.extend(to.map(|(subject, props)| (subject, id, props.number())));
    }
    assert_eq!(view.len(), there.len());
    back.sort_unstable();
    assert!(there == back, "the directions differ: {there:?}, {back:?}");
    there
}

/// Any change of a few edges or many.
fn change(store: &Edges, live: &Live, rng: &mut Rng) {
    let (subject, object, number) = (rng.below(IDS), rng.below(IDS), rng.next());
    let props = |number| Boxed(live.value(number));
    match rng.below(40) {
        0 => drop(store.drop_subject(subject)),
        1 => drop(store.drop_object(object)),
        2 => {
            let objects = (0..rng.below(IDS)).map(|n| ((object + n) % IDS, props(number)));
            store.replace(subject, objects);
        }
        3 => store.link_all((0..IDS).map(|object| (subject, object, props(number)))),
        4 => store.link_all((0..IDS).map(|subject| (subject, object, props(number)))),
        5..20 => drop(store.unlink(subject, object)),
        _ => drop(store.link(subject, object, props(number))),
    }
}

#[test]
fn both_directions_agree_at_every_moment_beside_two_writers() {
    let mut rng = Rng::new();
    let live = Live::default();
    let store = Edges::new();
    let gauge = store.gauge();
    let write = |mut rng: Rng| {
        let (store, live) = (&store, &live);
        move || change(store, live, &mut rng)
    };
    beside([write(rng.fork()), write(rng.fork())], || {
        let mut held: Vec<(HeldEdges<_>, Vec<_>)> = Vec::new();
        let held_edges = |hold: &_| edges_of(&store.at(hold).expect("a hold of this store"));
        for _ in 0..scale(600, 100_000) {
            edges_of(&store.view());
            let hold = store.hold();
            let now = held_edges(&hold);
            held.push((hold, now));
            if held.len() > 8 {
                let (hold, then) = held.swap_remove(rng.below(8) as usize);
                assert!(held_edges(&hold) == then, "a held moment has changed");
            }
        }
    });
    edges_of(&store.view());
    assert_eq!(store.info().snapshots, 0);
    drop(store);
    settle_all(&gauge, &live);
}

/// One thread links and unlinks a pair for ever, with neighbours on both sides that stay.
#[test]
fn a_pair_is_there_from_both_ends_or_from_neither() {
    let live = Live::default();
    let store = Edges::new();
    let gauge = store.gauge();
    let stable = [(1, 6), (1, 8), (0, 7), (2, 7)];
    store.link_all(stable.map(|(s, o)| (s, o, Boxed(live.value(0)))));
    let flips = AtomicU64::new(1);
    let flip = || {
        let number = flips.fetch_add(1, Ordering::Relaxed);
        assert!(store.link(1, 7, Boxed(live.value(number))));
        assert!(!store.link(1, 7, Boxed(live.value(number + 1))));
        assert!(store.unlink(1, 7));
    };
    let look = |view: &Seen<'_>| {
        let (from, to) = (view.from(1), view.to(7));
        let forward = from.get(7).map(Tracked::number);
        assert_eq!(to.get(1).map(Tracked::number), forward);
        let there = forward.is_some();
        assert_eq!((from.contains(7), to.contains(1)), (there, there));
        assert_eq!(
            (from.len(), to.len()),
            (2 + usize::from(there), 2 + usize::from(there))
        );
        assert_eq!(
            (from.count(7..8), to.count(1..2)),
            (usize::from(there), usize::from(there))
        );
        let objects = from.iter().map(|(object, _)| object);
        assert!(objects.eq([6, 7, 8].into_iter().filter(|object| there || *object != 7)));
        let subjects = to.iter().map(|(subject, _)| subject);
        assert!(subjects.eq([0, 1, 2]
            .into_iter()
            .filter(|subject| there || *subject != 1)));
        assert_eq!(view.len(), 4 + usize::from(there));
    };
    let read = || look(&store.view());
    beside([Box::new(flip) as Work<'_>, Box::new(read)], || {
        for _ in 0..scale(20_000, 2_000_000) {
            look(&store.view());
            let hold = store.hold();
            look(&store.at(&hold).expect("a hold of this store"));
        }
    });
    drop(store);
    settle_all(&gauge, &live);
}

#[test]
fn an_edge_that_is_linked_again_is_never_missing() {
    let live = Live::default();
    let store = Edges::new();
    let gauge = store.gauge();
    store.link_all((0..200).map(|n| (n % 10, n, Boxed(live.value(0)))));
    let number = AtomicU64::new(1);
    let replace = || {
        let number = number.fetch_add(1, Ordering::Relaxed);
        assert!(!store.link(5, 105, Boxed(live.value(number))));
    };
    beside([&replace], || {
        let mut last = 0;
        for _ in 0..scale(40_000, 4_000_000) {
            let view = store.view();
            let there = view.from(5).get(105).expect("always linked");
            let back = view.to(105).get(5).expect("always linked");
            assert!(std::ptr::eq(there, back));
            assert!(there.number() >= last, "{} after {last}", there.number());
            last = there.number();
            assert_eq!((view.from(5).len(), view.to(105).len()), (20, 1));
        }
    });
    drop(store);
    settle_all(&gauge, &live);
}

/// The objects of a subject are one set or the other, never a mixture, from whichever end one looks.
#[test]
fn a_replaced_set_is_seen_whole() {
    let live = Live::default();
    let store = Edges::new();
    let gauge = store.gauge();
    store.link_all((0..600).map(|object| (object % 2 * 2, object, Boxed(live.value(object)))));
    let round = AtomicU64::new(0);
    // Two sets of 300 that share a third.
    let first = |number: u64| number % 2 * 200;
    let replace = || {
        let number = round.fetch_add(1, Ordering::Relaxed);
        let objects = first(number)..first(number) + 300;
        store.replace(1, objects.map(|object| (object, Boxed(live.value(number)))));
    };
    replace();
    beside([&replace], || {
        for _ in 0..scale(1500, 100_000) {
            let view = store.view();
            let number = view.to(250).get(1).expect("in both sets").number();
            let from = view.from(1);
            assert_eq!(from.len(), 300);
            let wanted = first(number)..first(number) + 300;
            assert!(from.iter().map(|(object, _)| object).eq(wanted.clone()));
            assert!(from.iter().all(|(_, props)| props.number() == number));
            for object in (0..600).step_by(7) {
                let props = view.to(object).get(1).map(Tracked::number);
                assert_eq!(props, wanted.contains(&object).then_some(number));
            }
        }
    });
    assert_eq!(store.drop_subject(1), 300);
    drop(store);
    settle_all(&gauge, &live);
}

#[test]
fn of_two_unlinks_of_one_edge_one_wins() {
    let live = Live::default();
    let store = Edges::new();
    let gauge = store.gauge();
    store.link_all((0..100).map(|n| (n % 4, n % 5, Boxed(live.value(n)))));
    let (rounds, start) = (scale(300, 20_000), Barrier::new(2));
    let missed = AtomicBool::new(false);
    let worker = |linker: bool| {
        let mut wins = 0;
        for round in 0..rounds {
            if linker {
                store.link(7, 9, Boxed(live.value(round)));
            }
            start.wait();
            wins += match round % 3 {
                1 if linker => store.drop_subject(7),
                2 if linker => store.drop_object(9),
                _ => usize::from(store.unlink(7, 9)),
            };
            start.wait();
            // Told and not asserted: a panic would leave the other thread at the barrier.
            let view = store.view();
            let left = view.from(7).contains(9) || view.to(9).contains(7) || view.len() != 20;
            missed.fetch_or(left, Ordering::Relaxed);
            drop(view);
            start.wait();
        }
        wins
    };
    let wins = thread::scope(|scope| {
        let other = scope.spawn(|| worker(true));
        worker(false) + other.join().expect("no panic")
    });
    assert!(!missed.into_inner(), "the edge is gone after both");
    assert_eq!(wins as u64, rounds);
    assert_eq!((0..4).map(|id| store.drop_subject(id)).sum::<usize>(), 20);
    drop(store);
    settle_all(&gauge, &live);
}

#[test]
fn degrees_do_not_drift() {
    let mut rng = Rng::new();
    let live = Live::default();
    let store = Edges::new();
    let gauge = store.gauge();
    let rounds = scale(10_000, 1_000_000);
    let churn = |mut rng: Rng| {
        let mut balance = 0;
        for _ in 0..rounds {
            let (subject, object) = (rng.below(10), rng.below(10));
            match rng.below(40) {
                0..20 => {
                    balance += i64::from(store.link(subject, object, Boxed(live.value(object))));
                }
                20..39 => balance -= i64::from(store.unlink(subject, object)),
                _ => balance -= store.drop_object(object) as i64,
            }
            let view = store.view();
            let degrees = |of: &dyn Fn(u64) -> usize| (0..10).map(of).sum::<usize>();
            assert_eq!(degrees(&|id| view.from(id).len()), view.len());
            assert_eq!(degrees(&|id| view.to(id).len()), view.len());
            assert_eq!(view.from(subject).len(), view.from(subject).iter().count());
        }
        balance
    };
    let balance = thread::scope(|scope| {
        let other = rng.fork();
        let other = scope.spawn(|| churn(other));
        churn(rng) + other.join().expect("no panic")
    });
    assert_eq!(balance, store.view().len() as i64);
    let dropped: usize = (0..10).map(|id| store.drop_subject(id)).sum();
    assert_eq!((balance, store.info().rows), (dropped as i64, 0));
    assert!((0..10).all(|id| store.view().to(id).is_empty()));
    drop(store);
    settle_all(&gauge, &live);
}

/// Three writers and no reader but themselves: in the end the props that are left are those of the edges.
#[test]
fn everything_at_once_leaks_nothing() {
    let mut rng = Rng::new();
    let live = Live::default();
    let store = Edges::new();
    let gauge = store.gauge();
    thread::scope(|scope| {
        for mut rng in [rng.fork(), rng.fork(), rng.fork()] {
            let (store, live) = (&store, &live);
            scope.spawn(move || {
                for _ in 0..scale(4000, 400_000) {
                    change(store, live, &mut rng);
                }
            });
        }
    });
    let edges = edges_of(&store.view()).len();
    // A cut of whole nodes takes along all that the store has replaced and still keeps.
    store.link_all((0..500).map(|n| (IDS, n, Boxed(live.value(n)))));
    assert_eq!(store.drop_subject(IDS), 500);
    eventually("the props of the edges live, and no others", || {
        live.count() == edges as i64 && store.info().memory.payloads == edges as u64
    });
    drop(store);
    settle_all(&gauge, &live);
}
