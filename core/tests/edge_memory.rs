//! The memory of edges: props that both directions share and that are dropped once, bytes an edge, and
//! nothing left when edges come and go.

mod common;

use common::{eventually, scale, settle, settle_all, Live, Rng, Tracked};
use echo_data_core::{drain, Boxed, EdgeStore, SlimBlob};

/// A write into shrunken nodes takes several times as long.
const SHRUNKEN: u64 = if cfg!(tiny_nodes) { 4 } else { 1 };

fn boxed(edges: impl IntoIterator<Item = (u64, u64)>, live: &Live) -> EdgeStore<Boxed<Tracked>> {
    let store = EdgeStore::new();
    let edges = edges.into_iter();
    store.link_all(edges.map(|(subject, object)| (subject, object, Boxed(live.value(subject)))));
    store
}

#[test]
fn both_directions_share_one_copy_of_the_props() {
    let live = Live::default();
    let store = boxed((0..100).map(|n| (n % 10, n)), &live);
    let gauge = store.gauge();
    assert_eq!((live.count(), store.info().memory.payloads), (100, 100));
    let view = store.view();
    for (subject, object) in (0..100).map(|n| (n % 10, n)) {
        let forward = view.from(subject).get(object).expect("linked");
        let reverse = view.to(object).get(subject).expect("linked");
        assert!(std::ptr::eq(forward, reverse));
        assert_eq!(forward.number(), subject);
    }
    drop(view);
    drop(store);
    settle_all(&gauge, &live);
}

/// Makes the store part with everything that it has replaced so far: whole nodes that are cut off are
/// never kept waiting.
fn hand_over(store: &EdgeStore<Boxed<Tracked>>, live: &Live) {
    store.link_all((0..200).map(|object| (u64::MAX, object, Boxed(live.value(object)))));
    assert_eq!(store.drop_subject(u64::MAX), 200);
}

/// After each kind of change the props that live are those of the edges, no fewer and no more.
#[test]
fn props_are_dropped_once_with_their_edge() {
    let live = Live::default();
    let props = |number| Boxed(live.value(number));
    let store = boxed((0..20).flat_map(|s| (0..20).map(move |o| (s, o))), &live);
    let gauge = store.gauge();
    let lives = |edges: usize| {
        assert_eq!(store.view().len(), edges);
        hand_over(&store, &live);
        eventually("the props that live are those of the edges", || {
            live.count() == edges as i64 && store.info().memory.payloads == edges as u64
        });
    };
    lives(400);
    assert!(!store.link(3, 3, props(1)) && store.link(3, 50, props(2)));
    lives(401);
    assert!(store.unlink(3, 50) && !store.unlink(3, 50));
    lives(400);
    store.link_all((0..300).map(|n| (n % 20, n % 3, props(n))));
    lives(400);
    store.replace(4, (10..30).chain(10..30).map(|n| (n, props(n))));
    lives(400);
    store.replace(5, []);
    lives(380);
    assert_eq!((store.drop_subject(6), store.drop_object(6)), (20, 17));
    lives(380 - 37);
    let hold = store.hold();
    assert_eq!(store.drop_object(15), 18);
    eventually("other garbage is gone", || {
        store.info().memory.payloads == 343
    });
    let held = store.at(&hold).expect("a hold of this store");
    assert_eq!(
        held.to(15)
            .iter()
            .filter(|(_, props)| props.number() < 400)
            .count(),
        18
    );
    drop(held);
    drop(hold);
    lives(343 - 18);
    drop(store);
    settle_all(&gauge, &live);
}

#[test]
fn edges_that_are_not_linked_after_all_drop_their_props() {
    let live = Live::default();
    let store = EdgeStore::new();
    let props = |number| Boxed(live.value(number));
    let edges = (0..10).map(|n| (n, n, props(n)));
    let failing = edges.chain(std::iter::once_with(|| {
        std::panic::resume_unwind(Box::new(()))
    }));
    let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        store.link_all(failing);
    }));
    assert!(refused.is_err());
    assert_eq!((live.count(), store.view().len()), (0, 0));
    assert!(store.link(1, 2, props(1)));
}

/// Props of one word that are no bytes at all, as most relations have them.
fn no_props() -> SlimBlob {
    SlimBlob::bytes(0, &[])
}

/// The bytes an edge of both directions together, props included.
fn bytes_an_edge(store: EdgeStore<SlimBlob>) -> f64 {
    drain();
    let info = store.info();
    assert_eq!(info.memory.payloads, 0);
    let gauge = store.gauge();
    drop(store);
    settle(&gauge);
    info.memory.bytes as f64 / info.rows as f64
}

fn linked_one_by_one(edges: impl Iterator<Item = (u64, u64)>) -> EdgeStore<SlimBlob> {
    let store = EdgeStore::new();
    for (subject, object) in edges {
        store.link(subject, object, no_props());
    }
    store
}

fn takes_sixty_bytes_at_most(shape: &str, store: EdgeStore<SlimBlob>) {
    let bytes = bytes_an_edge(store);
    println!("{shape}: {bytes:.1} bytes an edge");
    let most = if cfg!(tiny_nodes) { 300.0 } else { 60.0 };
    assert!(bytes <= most, "{shape}: {bytes:.1} bytes an edge");
}

#[test]
fn an_edge_of_a_million_appended_takes_sixty_bytes_at_most() {
    let edges = (0..1_000_000 / SHRUNKEN).map(|n| (n, n));
    takes_sixty_bytes_at_most("appended", linked_one_by_one(edges));
}

#[test]
fn an_edge_at_random_takes_sixty_bytes_at_most() {
    let mut rng = Rng::new();
    let edges = scale(250_000, 1_000_000) / SHRUNKEN;
    let ids = edges / 20;
    let edges = (0..edges).map(|_| (rng.below(ids), rng.next()));
    takes_sixty_bytes_at_most("random", linked_one_by_one(edges));
}

#[test]
fn an_edge_takes_sixty_bytes_at_most_however_the_relation_grows() {
    let edges = scale(100_000, 1_000_000) / SHRUNKEN;
    let ids = edges / 20;
    let grown =
        |edge: fn(u64, u64) -> (u64, u64)| linked_one_by_one((0..edges).map(|n| edge(n, ids)));
    takes_sixty_bytes_at_most("hubs", grown(|n, _| (n / 1000, n)));
    takes_sixty_bytes_at_most("new objects", grown(|n, ids| (n * 7919 % ids, n)));
    let batch = EdgeStore::new();
    batch.link_all((0..edges).map(|n| (n % ids, n, no_props())));
    takes_sixty_bytes_at_most("in one batch", batch);
}

/// Objects that are linked and unlinked once, while the subjects stay.
#[test]
fn churn_of_distinct_objects_leaves_nothing() {
    let mut rng = Rng::new();
    let live = Live::default();
    let store = boxed((0..1000).map(|n| (n % 10, n)), &live);
    let gauge = store.gauge();
    let settled = || {
        hand_over(&store, &live);
        drain();
        store.info().memory
    };
    let before = settled();
    for round in 0..100 {
        let first = 1000 + round * 10_000 / SHRUNKEN;
        let mut edges: Vec<(u64, u64)> = (first..first + 10_000 / SHRUNKEN)
            .map(|object| (rng.below(10), object))
            .collect();
        for (subject, object) in &edges {
            assert!(store.link(*subject, *object, Boxed(live.value(*object))));
        }
        if rng.chance(2) {
            rng.shuffle(&mut edges);
        }
        for (subject, object) in edges {
            assert!(store.unlink(subject, object));
        }
        assert_eq!(store.view().len(), 1000);
    }
    eventually("the payloads of the churn are gone", || {
        settled().payloads == 1000 && live.count() == 1000
    });
    let after = settled();
    assert!(after.bytes < before.bytes * 5 / 4, "{before:?} {after:?}");
    assert_eq!(
        (0..10).map(|id| store.drop_subject(id)).sum::<usize>(),
        1000
    );
    eventually("the memory of all edges is gone", || {
        store.info().memory.nodes == 0 && live.count() == 0
    });
    drop(store);
    settle_all(&gauge, &live);
}

/// What one batch of `edges` makes in an empty store.
fn nodes_of_a_batch(edges: u64, ends: impl Fn(u64) -> (u64, u64)) -> u64 {
    let store = EdgeStore::new();
    let before = store.info().memory;
    store.link_all((0..edges).map(|n| (ends(n).0, ends(n).1, n)));
    let after = store.info().memory;
    assert_eq!(store.view().len(), edges as usize);
    assert_eq!(after.versions - before.versions, 1);
    after.nodes
}

/// Counted in nodes and publications, not in time.
#[test]
fn a_batch_of_one_heavy_end_makes_nodes_for_its_edges_only() {
    for ends in [|n| (1, n), |n| (n, 1), |n| (n, n)] {
        let (few, many) = (
            nodes_of_a_batch(12_000, ends),
            nodes_of_a_batch(120_000, ends),
        );
        assert!(many <= few * 10 + 10, "{few} nodes, then {many}");
    }
}

/// The hold keeps all nodes that are replaced, so what there is more of was made.
#[test]
fn one_edge_of_a_heavy_subject_costs_its_paths() {
    let store = EdgeStore::new();
    store.link_all((0..120_000).map(|n| (1, 2 * n, n)));
    let hold = store.hold();
    let mut nodes = store.info().memory.nodes;
    let mut made = |what: &str| {
        let before = std::mem::replace(&mut nodes, store.info().memory.nodes);
        let most = if cfg!(tiny_nodes) { 80 } else { 12 };
        assert!(nodes - before <= most, "{} nodes to {what}", nodes - before);
    };
    store.link(1, 120_001, 0);
    made("link");
    store.unlink(1, 60_000);
    made("unlink");
    store.link(1, 60_002, 0);
    made("link again");
    store.unlink(1, 60_001);
    made("unlink nothing");
    store.drop_object(90_000);
    made("drop an object");
    assert_eq!(
        store.at(&hold).map(|view| view.from(1).len()),
        Some(120_000)
    );
    assert_eq!(store.view().from(1).len(), 119_999);
}
