//! The memory of rankings: bytes a member, what deletions and groups that are gone leave behind, and what
//! a huge count makes a query reserve.

mod common;

use common::{eventually, scale, settle, Rng};
use echo_data_core::{drain, Order, Ranked, Score, Ties, When};

/// A write into shrunken nodes takes several times as long.
const SHRUNKEN: u64 = if cfg!(tiny_nodes) { 10 } else { 1 };

/// A million in `make soak`.
fn members() -> u64 {
    scale(60_000, 1_000_000) / SHRUNKEN
}

fn bytes<S: Score>(set: &Ranked<S>) -> u64 {
    drain();
    set.info().memory.bytes
}

/// Distinct scores for ids in random order.
fn filled(ids: impl Iterator<Item = u64>, rng: &mut Rng) -> Ranked<i64> {
    let set = Ranked::new();
    for id in ids {
        let score = rng.next() as i64;
        set.put(b"", id, score, When::ALWAYS).expect("an integer");
    }
    set
}

#[test]
fn a_member_takes_eighty_bytes_at_most() {
    let mut rng = Rng::new();
    let mut ids: Vec<u64> = (0..members()).collect();
    let ascending = filled(ids.iter().copied(), &mut rng);
    rng.shuffle(&mut ids);
    let random = filled(ids.iter().map(|id| id << 20), &mut rng);
    let batch = Ranked::<i64>::new();
    let rows = ids.iter().map(|&id| (id, rng.next() as i64));
    batch
        .put_all(b"", rows.collect::<Vec<_>>())
        .expect("integers");
    let a_member = |set: &Ranked<i64>| {
        assert_eq!(set.view().group(b"").distinct() as u64, members());
        bytes(set) as f64 / members() as f64
    };
    let sizes = [
        ("ids ascending", a_member(&ascending)),
        ("ids at random", a_member(&random)),
        ("in one batch", a_member(&batch)),
    ];
    println!("bytes a member: {sizes:.1?}");
    let most = if cfg!(tiny_nodes) { 400.0 } else { 80.0 };
    assert!(sizes.iter().all(|(_, bytes)| *bytes <= most), "{sizes:.1?}");
}

#[test]
fn deletions_give_memory_back() {
    let mut rng = Rng::new();
    let mut ids: Vec<u64> = (0..members()).collect();
    rng.shuffle(&mut ids);
    let set = filled(ids.iter().copied(), &mut rng);
    rng.shuffle(&mut ids);
    let (gone, rest) = ids.split_at(ids.len() / 20 * 19);
    for &id in gone {
        assert!(set.delete(b"", id).is_some());
    }
    let fresh = filled(rest.iter().copied(), &mut rng);
    let (left, fresh) = (bytes(&set), bytes(&fresh));
    println!("{left} bytes after deletions, {fresh} in a fresh set");
    assert_eq!(set.view().len(), rest.len());
    assert!(left <= 2 * fresh, "{left} bytes, {fresh} in a fresh set");
}

#[test]
fn a_group_is_dropped_by_cutting() {
    let set = Ranked::<i64>::new();
    for group in 0..3_u8 {
        let rows = (0..20_000).map(|id| (id, (id * 7919 % 5000) as i64));
        set.put_all(&[group], rows).expect("integers");
    }
    let hold = set.hold();
    let nodes = set.info().memory.nodes;
    assert_eq!(set.drop_group(&[1]), 20_000);
    // The hold keeps all nodes that are replaced, so what there is more of was made: the paths at the ends
    // of three cuts, and that of the name.
    let made = set.info().memory.nodes - nodes;
    let most = if cfg!(tiny_nodes) { 150 } else { 25 };
    assert!(made <= most, "{made} nodes to drop a group");
    assert_eq!((set.view().len(), set.view().group_count()), (40_000, 2));
    let held = set.at(&hold).expect("a hold of this set");
    assert_eq!(held.group(&[1]).distinct(), 5000);
    drop(held);
    drop(hold);
    eventually("the members of the group are gone", || {
        set.info().memory.nodes <= nodes * 2 / 3 + made
    });
}

/// As many groups as there are members, each with a name that does not fit its leaf, come and go.
#[test]
fn groups_that_are_gone_leave_nothing() {
    let mut rng = Rng::new();
    let set = Ranked::<i64>::new();
    let gauge = set.gauge();
    let name = |group: u64| format!("a name of some length for group {group}").into_bytes();
    let groups = scale(50_000, 1_000_000) / SHRUNKEN;
    // A window of groups that live, so that ids are taken and given back all the time.
    let alive = 1000.min(groups / 4);
    let mut most = 0;
    for group in 0..groups {
        let bytes = name(group);
        set.put_all(&bytes, [(1, 1), (2, 2)]).expect("integers");
        if let Some(old) = group.checked_sub(alive) {
            let old = name(old);
            match rng.below(3) {
                0 => assert_eq!(set.drop_group(&old), 2),
                1 => assert_eq!(set.pop_max(&old, 9).len(), 2),
                _ => assert!([1, 2].iter().all(|&id| set.delete(&old, id).is_some())),
            }
        }
        if group % (groups / 10) == groups / 10 - 1 {
            most = most.max(self::bytes(&set));
        }
    }
    println!("{most} bytes at most for {alive} groups");
    let limit = alive * if cfg!(tiny_nodes) { 3000 } else { 400 } + (256 << 10);
    assert!(most < limit, "{most} bytes for {alive} groups of two");
    assert_eq!(set.view().group_count() as u64, alive);
    let left: Vec<Vec<u8>> = set.view().groups().map(<[u8]>::to_vec).collect();
    for group in left {
        assert_eq!(set.drop_group(&group), 2);
    }
    eventually("nothing is left of the groups", || {
        (set.info().memory.nodes, set.info().memory.payloads) == (0, 0)
    });
    drop(set);
    settle(&gauge);
}

/// A query would not return if it reserved what it is asked for.
#[test]
fn huge_counts_reserve_nothing() {
    let set = Ranked::<i64>::new();
    set.put_all(b"", [(1, 10), (2, 20), (3, 30)])
        .expect("integers");
    let view = set.view();
    let board = view.group(b"");
    for reach in [1 << 40, usize::MAX] {
        let around = board.around(2, reach, Ties::Dense, Order::Ascending);
        assert_eq!(around.expect("a member").collect::<Vec<_>>().len(), 3);
    }
    let rows = board.by_rank(1..i64::MAX, Ties::Ordinal, Order::Ascending);
    assert_eq!(rows.collect::<Vec<_>>().len(), 2);
    drop(view);
    assert_eq!(set.pop_min(b"", usize::MAX).len(), 3);
}

/// A name that is refused, or that nothing is put under after all, is not kept.
#[test]
fn names_of_refused_changes_are_dropped() {
    let set = Ranked::<f64>::new().unique();
    let gauge = set.gauge();
    let name = [7; 200];
    assert!(set.put_all(&name, [(1, 1.0), (2, 1.0)]).is_err());
    assert!(set.put_all(&name, [(1, f64::NAN)]).is_err());
    assert_eq!(set.info().memory.payloads, 0);
    assert!(set.put(&name, 1, 1.0, When::ALWAYS).is_ok());
    assert!(set.put(&name, 2, 1.0, When::ALWAYS).is_err());
    assert_eq!(set.info().memory.payloads, 1);
    assert_eq!(set.delete(&name, 1), Some(1.0));
    eventually("the name is gone with the last member", || {
        // Other groups, so that what waits to be freed is handed over.
        set.put_all(b"", (0..500).map(|id| (id, id as f64)))
            .expect("distinct");
        set.drop_group(b"");
        set.info().memory.payloads == 0
    });
    drop(set);
    settle(&gauge);
}
