//! What cannot be reached through the public doors in a lifetime: the end of the ids of groups; and the
//! search for keys, of which each store makes only some.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::bits::{Bits, Encoded, Field};
use super::key::{Member, NameKey, Place, Tie, LAST_GROUP};
use super::name::Fresh;
use crate::index::tests::assert_places;
use crate::index::Key;

#[test]
fn ids_follow_the_largest_and_then_fill_gaps() {
    let mut fresh = Fresh::beside(None);
    let ids: Vec<u32> = (0..3).map(|_| fresh.next(77, |_| false)).collect();
    assert_eq!(ids, [0, 1, 2]);

    let used: BTreeSet<u32> = [0, 1, LAST_GROUP - 1, LAST_GROUP, 77, 79].into();
    let mut fresh = Fresh::beside(Some(LAST_GROUP - 2));
    let in_use = |id: u32| used.contains(&id);
    assert_eq!(fresh.next(77, |_| false), LAST_GROUP - 1);
    assert_eq!(fresh.next(77, |_| false), LAST_GROUP);
    assert_eq!(fresh.next(77, in_use), 78);
    assert_eq!(fresh.next(77, in_use), 80);
    assert_eq!(fresh.next(u64::from(LAST_GROUP), in_use), 2);
    assert_eq!(fresh.next(u64::from(LAST_GROUP) - 1, in_use), 3);
}

/// Few values at the ends of the range, so that many keys have words in common.
fn words() -> impl Strategy<Value = u64> {
    prop_oneof![0..3_u64, u64::MAX - 1..=u64::MAX]
}

fn fields() -> impl Strategy<Value = Field> {
    prop_oneof![
        Just(Field::NIL),
        words().prop_map(|bits| Field::integer(bits as i64)),
    ]
}

/// Rows of a ranking: group, two fields of a score, id.
fn rows() -> impl Strategy<Value = Vec<(u32, [Field; 2], u64)>> {
    let groups = prop_oneof![0..2_u32, Just(LAST_GROUP)];
    prop::collection::vec((groups, [fields(), fields()], words()), 1..70)
}

/// Looks for each of `keys` among every other one.
fn assert_found<K: Key>(keys: impl Iterator<Item = K>) {
    let wanted: Vec<K> = keys.collect();
    let keys: BTreeSet<K> = wanted.iter().step_by(2).copied().collect();
    let keys: Vec<K> = keys.into_iter().collect();
    for wanted in &wanted {
        assert_places(&keys, wanted);
    }
}

fn assert_scores<B: Bits>(rows: &[(u32, [Field; 2], u64)], score: impl Fn([Field; 2]) -> B) {
    let rows = || rows.iter().copied();
    assert_found(rows().map(|(group, fields, id)| Place::new(group, score(fields), id)));
    assert_found(rows().map(|(group, fields, _)| Tie::new(group, score(fields))));
    // The order of the keys is that of what they stand for.
    let keys: BTreeSet<_> = rows()
        .map(|(group, fields, id)| Place::new(group, score(fields), id))
        .collect();
    let told: BTreeSet<_> = rows()
        .map(|(group, fields, id)| (group, score(fields), id))
        .collect();
    let keys = keys.iter().map(|key| (key.group(), key.score(), key.id));
    assert!(keys.eq(told));
}

proptest! {
    #[test]
    fn every_key_is_found_among_others(rows in rows()) {
        assert_scores(&rows, Encoded);
        assert_scores(&rows, |[field, _]| Encoded([field]));
        assert_found(rows.iter().map(|&(group, _, id)| Member { group, id }));
        assert_found(rows.iter().map(|&(group, _, hash)| NameKey { hash, group }));
    }
}
