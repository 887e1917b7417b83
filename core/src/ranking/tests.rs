//! What cannot be reached through the public doors in a lifetime: the end of the ids of groups.

use std::collections::BTreeSet;

use super::key::LAST_GROUP;
use super::name::Fresh;

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
