//! The edge store through its public door: every function and its edges, from both ends.

mod common;

use std::collections::BTreeSet;
use std::ops::Bound;

use common::{settle, within, Rng};
use echo_data_core::{drain, EdgeStore, EdgeView, HeldEdges, Replaced, Tally};

/// Ids at both ends of what an id can be.
const EXTREMES: [u64; 4] = [0, 1, u64::MAX - 1, u64::MAX];

fn objects(view: &EdgeView<'_, u64>, subject: u64) -> Vec<(u64, u64)> {
    let links = view.from(subject).into_iter();
    links.map(|(object, props)| (object, *props)).collect()
}

fn subjects(view: &EdgeView<'_, u64>, object: u64) -> Vec<(u64, u64)> {
    let links = view.to(object).into_iter();
    links.map(|(subject, props)| (subject, *props)).collect()
}

fn linked(edges: impl IntoIterator<Item = (u64, u64, u64)>) -> EdgeStore<u64> {
    let store = EdgeStore::new();
    store.link_all(edges);
    store
}

/// One subject, 1, with `count` objects 3, 6, 9, …, and neighbours on all sides that are not its own.
fn hub(count: u64) -> EdgeStore<u64> {
    let own = (1..=count).map(|n| (1, 3 * n, n));
    let others = [(0, u64::MAX, 0), (2, 0, 0), (2, 3, 0)];
    linked(own.chain(others))
}

#[test]
fn handles_cross_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<EdgeStore<u64>>();
    is_shared::<HeldEdges<u64>>();
}

#[test]
fn an_empty_store_answers_everything() {
    for store in [EdgeStore::<u64>::new(), EdgeStore::default(), linked([])] {
        let view = store.view();
        assert_eq!((view.len(), view.is_empty()), (0, true));
        for id in EXTREMES {
            let (from, to) = (view.from(id), view.to(id));
            assert!(from.is_empty() && to.is_empty());
            assert_eq!((from.len(), to.len()), (0, 0));
            assert_eq!((from.get(id), to.get(id)), (None, None));
            assert!(!from.contains(id) && !to.contains(id));
            assert_eq!((from.count(..), to.count(3..9)), (0, 0));
            assert_eq!((from.select(0), to.select(usize::MAX)), (None, None));
            assert_eq!((from.iter().next(), to.iter().next_back()), (None, None));
            assert_eq!((from.iter().nth(1), to.range(3..).len()), (None, 0));
            assert_eq!(from.common(view.from(id)).next(), None);
            assert_eq!(to.common(view.to(0)).next(), None);
            assert!(!store.unlink(id, id));
            assert_eq!((store.drop_subject(id), store.drop_object(id)), (0, 0));
            assert_eq!(store.replace(id, []), Replaced::default());
        }
        store.link_all([]);
        assert_eq!((store.info().rows, store.info().memory.nodes), (0, 0));
    }
}

#[test]
fn an_edge_is_found_from_both_ends() {
    let store = EdgeStore::new();
    assert!(store.link(1, 7, 10));
    assert!(store.link(2, 7, 20));
    assert!(store.link(1, 8, 30));
    let view = store.view();
    assert_eq!((view.len(), view.is_empty()), (3, false));
    assert_eq!(objects(&view, 1), [(7, 10), (8, 30)]);
    assert_eq!(objects(&view, 2), [(7, 20)]);
    assert_eq!(subjects(&view, 7), [(1, 10), (2, 20)]);
    assert_eq!(subjects(&view, 8), [(1, 30)]);
    assert_eq!((view.from(7).len(), view.to(1).len()), (0, 0));
    assert_eq!(
        (view.from(1).get(7), view.to(7).get(1)),
        (Some(&10), Some(&10))
    );
    assert_eq!((view.from(7).get(1), view.to(1).get(7)), (None, None));
    assert!(view.from(2).contains(7) && view.to(7).contains(2));
    assert!(!view.from(2).contains(8) && !view.to(8).contains(2));
}

/// Every pair of the extreme ids, self edges among them: neighbours of one id never run into those of
/// the next.
#[test]
fn the_smallest_and_largest_ids_are_ids_like_others() {
    let pairs = EXTREMES.map(|subject| EXTREMES.map(|object| (subject, object)));
    let mut edges: Vec<(u64, u64)> = pairs.concat();
    Rng::new().shuffle(&mut edges);
    let store = EdgeStore::new();
    for (subject, object) in edges {
        assert!(store.link(subject, object, subject ^ object));
    }
    let view = store.view();
    assert_eq!(view.len(), 16);
    for id in EXTREMES {
        let wanted = EXTREMES.map(|other| (other, id ^ other));
        assert_eq!(objects(&view, id), wanted);
        assert_eq!(subjects(&view, id), wanted);
        let from = view.from(id);
        assert_eq!((from.count(..), from.count(..u64::MAX)), (4, 3));
        assert_eq!((from.count(..=0), from.count(u64::MAX..)), (1, 1));
        assert_eq!(from.count((Bound::Excluded(u64::MAX), Bound::Unbounded)), 0);
        assert_eq!(from.select(3).map(|(object, _)| object), Some(u64::MAX));
        assert_eq!(from.select(4), None);
        assert!(from.common(view.from(0)).eq(EXTREMES));
    }
    assert_eq!(store.drop_subject(u64::MAX), 4);
    assert_eq!(store.drop_object(0), 3);
    assert!(store.unlink(0, u64::MAX) && !store.unlink(u64::MAX, 0));
    let view = store.view();
    assert_eq!(view.len(), 8);
    assert_eq!(view.from(0).len() + view.from(u64::MAX).len(), 2);
    assert_eq!(subjects(&view, u64::MAX).len(), 2);
}

#[test]
fn a_self_edge_is_an_edge_like_any_other() {
    let store = linked([(5, 5, 1), (5, 6, 2), (4, 5, 3)]);
    assert!(store.view().from(5).contains(5) && store.view().to(5).contains(5));
    assert!(!store.link(5, 5, 4));
    assert_eq!(objects(&store.view(), 5), [(5, 4), (6, 2)]);
    assert_eq!(subjects(&store.view(), 5), [(4, 3), (5, 4)]);
    assert!(store.unlink(5, 5) && !store.unlink(5, 5));
    assert_eq!(objects(&store.view(), 5), [(6, 2)]);
    assert_eq!(subjects(&store.view(), 5), [(4, 3)]);
}

#[test]
fn linking_again_replaces_the_props_in_both_directions() {
    let store = linked([(1, 7, 0), (1, 8, 0), (2, 7, 0)]);
    let size = |store: &EdgeStore<u64>| {
        drain();
        store.info().memory.bytes
    };
    let before = size(&store);
    for props in 1..=1000 {
        assert!(!store.link(1, 7, props));
        let view = store.view();
        assert_eq!(view.from(1).get(7), Some(&props));
        assert_eq!(view.to(7).get(1), Some(&props));
        assert_eq!((view.from(1).len(), view.to(7).len()), (2, 2));
    }
    assert_eq!(store.view().len(), 3);
    let (after, most) = (size(&store), before + (32 << 10));
    assert!(after < most, "{after} bytes, {before} before");
}

#[test]
fn unlinking_what_is_not_there_changes_neither_direction() {
    let store = linked([(1, 7, 10), (2, 8, 20)]);
    let before = store.info();
    for (subject, object) in [(1, 8), (2, 7), (7, 1), (3, 7), (1, 0), (0, u64::MAX)] {
        assert!(!store.unlink(subject, object));
    }
    assert_eq!(store.info(), before);
    assert_eq!(subjects(&store.view(), 7), [(1, 10)]);
    assert_eq!(objects(&store.view(), 1), [(7, 10)]);
    assert!(store.unlink(1, 7));
    assert!(store.view().from(1).is_empty() && store.view().to(7).is_empty());
    assert_eq!(subjects(&store.view(), 8), [(2, 20)]);
}

#[test]
fn every_kind_of_bound_is_kept_in_both_orders() {
    for count in [0, 1, 2, 5, 64, 300] {
        let store = hub(count);
        let view = store.view();
        let from = view.from(1);
        let all: Vec<u64> = (1..=count).map(|n| 3 * n).collect();
        let last = 3 * count;
        let probes = [0, 2, 3, 4, last / 2, last, last + 1, u64::MAX];
        let bounds = probes
            .into_iter()
            .flat_map(|id| [Bound::Included(id), Bound::Excluded(id)])
            .chain([Bound::Unbounded]);
        for low in bounds.clone() {
            for high in bounds.clone() {
                let wanted = within(&all, (low, high));
                assert_eq!(from.count((low, high)), wanted.len(), "{low:?} {high:?}");
                let links = from.range((low, high));
                assert_eq!(links.len(), wanted.len());
                let oldest_first = links.map(|(object, _)| object);
                assert!(oldest_first.eq(wanted.iter().copied()), "{low:?} {high:?}");
                let newest_first = from.range((low, high)).rev().map(|(object, _)| object);
                assert!(
                    newest_first.eq(wanted.into_iter().rev()),
                    "{low:?} {high:?}"
                );
            }
        }
    }
}

#[test]
#[allow(clippy::reversed_empty_ranges)] // what a caller computes may be reversed
fn inverted_ranges_are_empty() {
    let store = hub(100);
    let view = store.view();
    for (low, high) in [(50, 10), (u64::MAX, 0), (51, 51)] {
        assert_eq!(view.from(1).count(low..high), 0);
        assert_eq!(view.from(1).range(low..high).next(), None);
        assert_eq!(view.from(1).range(low..high).next_back(), None);
        assert_eq!(view.to(3).count(low..high), 0);
    }
    let nothing = (Bound::Excluded(51), Bound::Excluded(51));
    assert_eq!(view.from(1).range(nothing).count(), 0);
}

#[test]
fn positions_count_from_the_first_neighbour() {
    for count in [0, 1, 4, 63, 64, 65, 1000] {
        let store = hub(count);
        let view = store.view();
        let from = view.from(1);
        assert_eq!(from.len(), count as usize);
        for n in 1..=count {
            assert_eq!(from.select(n as usize - 1), Some((3 * n, &n)));
        }
        for beyond in [count as usize, count as usize + 1, usize::MAX] {
            assert_eq!(from.select(beyond), None);
        }
        assert!(view.to(3).select(0).is_some());
        assert_eq!(view.to(3).len(), 1 + usize::from(count > 0));
    }
}

/// Reads pages, each from the last id of the one before, until well after the last.
fn pages(page: impl Fn(Bound<u64>) -> Vec<u64>) -> Vec<u64> {
    let (mut cursor, mut seen) = (Bound::Unbounded, Vec::new());
    for _ in 0..30 {
        let ids = page(cursor);
        cursor = ids.last().map_or(cursor, |last| Bound::Excluded(*last));
        seen.extend(ids);
    }
    seen
}

#[test]
fn pages_continue_from_a_cursor_both_ways() {
    let store = hub(490);
    let view = store.view();
    let id = |(object, _): (u64, &u64)| object;
    let oldest_first = pages(|after| {
        let links = view.from(1).range((after, Bound::Unbounded));
        links.take(20).map(id).collect()
    });
    let newest_first = pages(|before| {
        let links = view.from(1).range((Bound::Unbounded, before)).rev();
        links.take(20).map(id).collect()
    });
    assert!(oldest_first.iter().copied().eq((1..=490).map(|n| 3 * n)));
    assert!(oldest_first.iter().eq(newest_first.iter().rev()));
}

#[test]
fn a_walk_goes_on_over_edges_that_are_unlinked_meanwhile() {
    let store = linked((1..=5).map(|object| (1, object, 10 * object)));
    let view = store.view();
    let (mut there, mut back) = (view.from(1).range(2..=4), view.from(1).range(2..=4).rev());
    assert_eq!(
        (there.next(), back.next()),
        (Some((2, &20)), Some((4, &40)))
    );
    assert!(store.unlink(1, 3));
    assert_eq!(
        (there.next(), back.next()),
        (Some((3, &30)), Some((3, &30)))
    );
    assert_eq!(store.drop_subject(1), 4);
    assert_eq!(
        (there.next(), back.next()),
        (Some((4, &40)), Some((2, &20)))
    );
    assert_eq!((there.next(), back.next()), (None, None));
    assert!(store.view().is_empty());
}

#[test]
fn links_can_be_taken_from_both_ends_and_skipped() {
    let store = hub(200);
    let view = store.view();
    let mut links = view.from(1).range(4..=594);
    assert_eq!(links.size_hint(), (197, Some(197)));
    assert_eq!(links.next(), Some((6, &2)));
    assert_eq!(links.next_back(), Some((594, &198)));
    assert_eq!(links.nth(100), Some((309, &103)));
    assert_eq!(links.nth_back(10), Some((561, &187)));
    assert_eq!(links.len(), 187 - 103 - 1);
    assert_eq!(links.nth(usize::MAX), None);
    assert_eq!(
        (links.next(), links.next_back(), links.len()),
        (None, None, 0)
    );
}

#[test]
fn of_edges_with_the_same_ends_the_last_is_linked() {
    let store = linked([(1, 7, 1), (2, 7, 2), (1, 7, 3), (7, 1, 4), (1, 7, 5)]);
    let view = store.view();
    assert_eq!(view.len(), 3);
    assert_eq!(objects(&view, 1), [(7, 5)]);
    assert_eq!(subjects(&view, 7), [(1, 5), (2, 2)]);
    assert_eq!(subjects(&view, 1), [(7, 4)]);
}

#[test]
fn a_batch_mixes_with_what_is_there() {
    let mut rng = Rng::new();
    let store = EdgeStore::new();
    let mut wanted = std::collections::BTreeMap::new();
    for round in 0..20 {
        let size = [0, 1, 3, 64, 500][rng.below(5) as usize];
        let batch: Vec<_> = (0..size)
            .map(|n| (rng.below(30), rng.below(30), 1000 * round + n))
            .collect();
        wanted.extend(
            batch
                .iter()
                .map(|&(subject, object, n)| ((subject, object), n)),
        );
        store.link_all(batch);
        let view = store.view();
        assert_eq!(view.len(), wanted.len());
        for id in 0..30 {
            let from = wanted.iter().filter(|((subject, _), _)| *subject == id);
            assert!(objects(&view, id)
                .into_iter()
                .eq(from.map(|(&(_, o), &n)| (o, n))));
            let to = wanted.iter().filter(|((_, object), _)| *object == id);
            assert!(subjects(&view, id)
                .into_iter()
                .eq(to.map(|(&(s, _), &n)| (s, n))));
        }
    }
}

#[test]
fn changes_that_change_nothing_publish_nothing() {
    let store = hub(50);
    let before = store.info();
    store.link_all([]);
    assert_eq!(store.replace(9, []), Replaced::default());
    assert_eq!((store.drop_subject(9), store.drop_object(1)), (0, 0));
    assert!(!store.unlink(9, 9));
    assert_eq!(store.info(), before);
}

#[test]
fn replacing_keeps_shared_objects_from_both_ends() {
    let (a, other, b, c, d) = (1, 2, 11, 12, 13);
    let store = linked([(a, b, 1), (a, c, 2), (other, c, 3), (other, b, 4)]);
    let replaced = store.replace(a, [(d, 6), (b, 5)]);
    assert_eq!(
        replaced,
        Replaced {
            added: 1,
            kept: 1,
            removed: 1
        }
    );
    let view = store.view();
    assert_eq!(objects(&view, a), [(b, 5), (d, 6)]);
    assert_eq!(subjects(&view, b), [(a, 5), (other, 4)]);
    assert_eq!(subjects(&view, c), [(other, 3)]);
    assert_eq!(subjects(&view, d), [(a, 6)]);
    assert_eq!(view.len(), 4);
}

#[test]
fn replacing_with_any_set_leaves_just_that_set() {
    let mut rng = Rng::new();
    let store = linked((0..40).map(|n| (if n % 2 == 0 { 4 } else { 6 }, n, 0)));
    let mut before = BTreeSet::from_iter((0..0).map(|n: u64| n));
    let others = |view: &EdgeView<'_, u64>| (objects(view, 4), objects(view, 6));
    let untouched = others(&store.view());
    let full: Vec<u64> = (0..300).collect();
    for round in 0..60 {
        let after: BTreeSet<u64> = match rng.below(5) {
            0 => BTreeSet::new(),
            1 => before.clone(),
            2 => full.iter().copied().collect(),
            3 => full.iter().map(|id| id + 1000).collect(),
            _ => full.iter().copied().filter(|_| rng.chance(3)).collect(),
        };
        let mut named: Vec<(u64, u64)> = after.iter().map(|object| (*object, round)).collect();
        rng.shuffle(&mut named);
        let replaced = store.replace(5, named);
        let kept = before.intersection(&after).count();
        assert_eq!(replaced.kept, kept);
        assert_eq!(replaced.added, after.len() - kept);
        assert_eq!(replaced.removed, before.len() - kept);
        let view = store.view();
        let wanted = after.iter().map(|object| (*object, round));
        assert!(objects(&view, 5).into_iter().eq(wanted));
        for object in before.union(&after) {
            let props = after.contains(object).then_some(&round);
            assert_eq!(view.to(*object).get(5), props);
        }
        assert_eq!(others(&view), untouched);
        before = after;
    }
}

#[test]
fn of_objects_named_twice_the_last_is_linked() {
    let store = linked([(1, 5, 0), (1, 6, 0)]);
    let replaced = store.replace(1, [(5, 1), (7, 2), (5, 3), (7, 4), (1, 5)]);
    let wanted = Replaced {
        added: 2,
        kept: 1,
        removed: 1,
    };
    assert_eq!(replaced, wanted);
    assert_eq!(objects(&store.view(), 1), [(1, 5), (5, 3), (7, 4)]);
    assert_eq!(subjects(&store.view(), 1), [(1, 5)]);
}

#[test]
fn a_dropped_end_takes_its_edges_in_both_directions() {
    for ids in [2, 3, 5, 20, 70] {
        let all = || (0..ids).flat_map(|s| (0..ids).map(move |o| (s, o, s * ids + o)));
        let (gone, rest) = (ids / 2, ids as usize - 1);
        let store = linked(all());
        assert_eq!(store.drop_subject(gone), ids as usize);
        assert_eq!(store.drop_subject(gone), 0);
        let view = store.view();
        assert!(view.from(gone).is_empty());
        assert_eq!(
            (view.to(gone).len(), view.len()),
            (rest, rest * ids as usize)
        );
        assert!((0..ids).all(|id| !view.to(id).contains(gone) && view.to(id).len() == rest));

        let store = linked(all());
        assert_eq!(store.drop_object(gone), ids as usize);
        assert_eq!(store.drop_object(gone), 0);
        let view = store.view();
        assert!(view.to(gone).is_empty());
        assert_eq!(
            (view.from(gone).len(), view.len()),
            (rest, rest * ids as usize)
        );
        assert!((0..ids).all(|id| !view.from(id).contains(gone) && view.from(id).len() == rest));
    }
}

/// Sets of the sizes and spreads at which the walk goes on step by step, jumps, or does both in turn.
#[test]
fn common_neighbours_are_the_intersection() {
    let mut rng = Rng::new();
    let sizes = [0, 1, 3, 60, 64, 65, 129, 4000];
    for (left, right) in sizes.iter().flat_map(|l| sizes.map(|r| (*l, r))) {
        let spread = [left.max(right) + 1, 10_000, u64::MAX][rng.below(3) as usize];
        let mut pick = |size| (0..size).map(|_| rng.below(spread)).collect();
        let (mut a, mut b): (BTreeSet<u64>, BTreeSet<u64>) = (pick(left), pick(right));
        // Some ids that both have, at the ends too.
        let shared: BTreeSet<u64> = pick(left.min(right) / 3 + 1);
        a.extend(shared.iter().chain(&EXTREMES[left as usize % 4..]));
        b.extend(shared.iter().chain(&EXTREMES[right as usize % 4..]));
        let edges = |id, set: &BTreeSet<u64>| set.iter().map(move |o| (id, *o, 0)).collect();
        let (one, two): (Vec<_>, Vec<_>) = (edges(1, &a), edges(2, &b));
        let there = one.into_iter().chain(two);
        let back = there
            .clone()
            .map(|(subject, object, n)| (object, subject, n));

        let store = linked(there);
        let view = store.view();
        let wanted = || a.intersection(&b).copied();
        assert!(view.from(1).common(view.from(2)).eq(wanted()));
        assert!(view.from(2).common(view.from(1)).eq(wanted()));
        assert!(view.from(1).common(view.from(1)).eq(a.iter().copied()));
        assert_eq!(view.from(1).common(view.from(3)).next(), None);
        let store = linked(back);
        let view = store.view();
        assert!(view.to(1).common(view.to(2)).eq(wanted()));
        let mut common = view.to(2).common(view.to(1));
        assert_eq!(common.by_ref().count(), wanted().count());
        assert_eq!((common.next(), common.next()), (None, None));
    }
}

#[test]
fn a_view_and_a_held_moment_stay_as_they_were() {
    let store = linked((0..300).map(|n| (n % 7, n, n)));
    let view = store.view();
    let hold = store.hold();
    let before: Vec<_> = (0..7).map(|id| objects(&view, id)).collect();
    store.link(0, 1000, 1);
    store.unlink(1, 1);
    store.replace(2, [(5, 5), (2, 0)]);
    assert_eq!((store.drop_subject(3), store.drop_object(4)), (43, 1));
    store.link_all((0..500).map(|n| (n % 7, n, 0)));
    assert_eq!(store.info().snapshots, 1);
    let held = store.at(&hold).expect("a hold of this store");
    for moment in [&view, &held] {
        assert_eq!(moment.len(), 300);
        assert!((0..7)
            .map(|id| objects(moment, id))
            .eq(before.iter().cloned()));
        assert!((0..300).all(|n| subjects(moment, n) == [(n % 7, n)]));
        assert!(moment.to(1000).is_empty());
    }
    drop(held);
    drop(hold);
    assert_eq!(store.info().snapshots, 0);
}

#[test]
fn a_hold_is_of_one_store_and_does_not_keep_it() {
    let (store, other) = (hub(100), hub(100));
    let gauge = store.gauge();
    let hold = store.hold();
    assert!(other.at(&hold).is_none() && store.at(&hold).is_some());
    store.drop_subject(1);
    drop(store);
    settle(&gauge);
    assert!(other.at(&hold).is_none());
    drop(hold);
    assert_eq!(gauge.left(), Some(Tally::default()));
}

#[test]
fn info_and_gauge_tell_what_there_is() {
    let store = hub(1000);
    let gauge = store.gauge();
    let info = store.info();
    assert_eq!((info.rows, info.snapshots), (1003, 0));
    assert_eq!((info.memory.payloads, info.memory.versions), (0, 2));
    assert_eq!(gauge.left(), None);
    let text = format!("{store:?}");
    let bytes = store.info().memory.bytes;
    assert_eq!(text, format!("EdgeStore {{ rows: 1003, bytes: {bytes} }}"));
    drop(store);
    settle(&gauge);
}
