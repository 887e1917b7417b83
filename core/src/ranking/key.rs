//! The keys of the four indexes of a ranking: plain bits without padding, since every byte of a key is
//! paid for by each member.

use std::ops::RangeInclusive;

use crate::index::{by_first, by_last, Key, Root};
use crate::value::{Blob, Inline, Value};

use super::bits::Bits;

/// What stands for a group in the keys: at most [`LAST_GROUP`].
pub(crate) type GroupId = u32;

/// A bit less than a word, which is the first bit of the score.
pub(super) const LAST_GROUP: GroupId = GroupId::MAX >> 1;

/// A group, and the first bit of a score in it.
#[inline]
fn head(group: GroupId, first: bool) -> u32 {
    group << 1 | u32::from(first)
}

/// A place in the enumeration of all members: by group, score and id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C, packed)]
pub(crate) struct Place<B: Bits> {
    head: u32,
    tail: B::Tail,
    pub(super) id: u64,
}

/// A member of a group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C, packed)]
pub(crate) struct Member {
    pub(super) group: GroupId,
    pub(super) id: u64,
}

/// All members of a group with one score.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C, packed)]
pub(crate) struct Tie<B: Bits> {
    head: u32,
    tail: B::Tail,
}

/// A group by the hash of its name. Names with the same hash are told apart by the group's id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C, packed)]
pub(crate) struct NameKey {
    pub(super) hash: u64,
    pub(super) group: GroupId,
}

pub(crate) type Places<B> = Root<Place<B>, Inline<()>>;
pub(crate) type Scores<B> = Root<Member, Inline<B>>;
/// How many members share a score.
pub(crate) type Multiplicities<B> = Root<Tie<B>, Inline<u64>>;
pub(crate) type Names = Root<NameKey, <Blob as Value>::Slot>;

impl<B: Bits> Place<B> {
    #[inline]
    pub(super) fn new(group: GroupId, score: B, id: u64) -> Self {
        let (first, tail) = score.split();
        Self {
            head: head(group, first),
            tail,
            id,
        }
    }

    pub(super) fn of_group(group: GroupId) -> RangeInclusive<Self> {
        Self::of_groups(group, group)
    }

    pub(super) fn of_groups(first: GroupId, last: GroupId) -> RangeInclusive<Self> {
        Self::first(first, B::LOWEST)..=Self::last(last, B::HIGHEST)
    }

    /// At or before every member of the group with this score.
    #[inline]
    pub(super) fn first(group: GroupId, score: B) -> Self {
        Self::new(group, score, 0)
    }

    /// At or after every member of the group with this score.
    #[inline]
    pub(super) fn last(group: GroupId, score: B) -> Self {
        Self::new(group, score, u64::MAX)
    }

    #[inline]
    pub(super) fn group(&self) -> GroupId {
        self.head >> 1
    }

    #[inline]
    pub(super) fn score(&self) -> B {
        self.tie().score()
    }

    /// All who have the score.
    #[inline]
    pub(super) fn tie(&self) -> Tie<B> {
        let (head, tail) = (self.head, self.tail);
        Tie { head, tail }
    }
}

impl Member {
    pub(super) fn of_group(group: GroupId) -> RangeInclusive<Self> {
        Self::of_groups(group, group)
    }

    pub(super) fn of_groups(first: GroupId, last: GroupId) -> RangeInclusive<Self> {
        let first = Self {
            group: first,
            id: 0,
        };
        let last = Self {
            group: last,
            id: u64::MAX,
        };
        first..=last
    }
}

impl<B: Bits> Tie<B> {
    #[inline]
    pub(super) fn new(group: GroupId, score: B) -> Self {
        let (first, tail) = score.split();
        Self {
            head: head(group, first),
            tail,
        }
    }

    pub(super) fn of_group(group: GroupId) -> RangeInclusive<Self> {
        Self::of_groups(group, group)
    }

    pub(super) fn of_groups(first: GroupId, last: GroupId) -> RangeInclusive<Self> {
        Self::new(first, B::LOWEST)..=Self::new(last, B::HIGHEST)
    }

    #[inline]
    pub(super) fn score(&self) -> B {
        B::join(self.head & 1 == 1, self.tail)
    }
}

impl<B: Bits> Key for Place<B> {
    #[inline]
    fn place_among(&self, keys: &[Self], inclusive: bool) -> usize {
        let by_id = |keys: &[Self]| by_last(keys, |key| key.id, self.id, inclusive);
        let by_score = |keys: &[Self]| B::place_by(keys, |key| key.tail, self.tail, by_id);
        by_first(keys, |key| key.head.into(), self.head.into(), by_score)
    }
}

impl Key for Member {
    #[inline]
    fn place_among(&self, keys: &[Self], inclusive: bool) -> usize {
        let by_id = |keys: &[Self]| by_last(keys, |key| key.id, self.id, inclusive);
        by_first(keys, |key| key.group.into(), self.group.into(), by_id)
    }
}

impl<B: Bits> Key for Tie<B> {
    #[inline]
    fn place_among(&self, keys: &[Self], inclusive: bool) -> usize {
        // Whoever shares the score is the same.
        let by_score = |keys: &[Self]| {
            B::place_by(
                keys,
                |key| key.tail,
                self.tail,
                |same| usize::from(inclusive) * same.len(),
            )
        };
        by_first(keys, |key| key.head.into(), self.head.into(), by_score)
    }
}

impl Key for NameKey {
    #[inline]
    fn place_among(&self, keys: &[Self], inclusive: bool) -> usize {
        let by_group =
            |keys: &[Self]| by_last(keys, |key| key.group.into(), self.group.into(), inclusive);
        by_first(keys, |key| key.hash, self.hash, by_group)
    }
}
