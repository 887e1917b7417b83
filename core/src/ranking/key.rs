//! The keys of the four indexes of a ranking: plain bits without padding, since every byte of a key is
//! paid for by each member.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use crate::index::Root;
use crate::value::{Blob, Inline, Value};

use super::bits::{first_less, Bits};

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
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C, packed)]
pub(crate) struct Place<B: Bits> {
    head: u32,
    tail: B::Tail,
    pub(super) id: u64,
}

/// A member of a group.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C, packed)]
pub(crate) struct Member {
    pub(super) group: GroupId,
    pub(super) id: u64,
}

/// All members of a group with one score.
#[derive(Clone, Copy, PartialEq, Eq)]
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
        Self::first(group, B::LOWEST)..=Self::last(group, B::HIGHEST)
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
        B::join(self.head & 1 == 1, self.tail)
    }

    #[inline]
    fn less(self, other: Self, same: bool) -> bool {
        let rest = B::less((self.tail, self.id), (other.tail, other.id), same);
        first_less(self.head.into(), other.head.into(), rest)
    }
}

impl Member {
    pub(super) fn of_group(group: GroupId) -> RangeInclusive<Self> {
        Self { group, id: 0 }..=Self {
            group,
            id: u64::MAX,
        }
    }

    #[inline]
    fn less(self, other: Self, same: bool) -> bool {
        let ids = if same {
            self.id <= other.id
        } else {
            self.id < other.id
        };
        first_less(self.group.into(), other.group.into(), ids)
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
        Self::new(group, B::LOWEST)..=Self::new(group, B::HIGHEST)
    }

    #[inline]
    pub(super) fn score(&self) -> B {
        B::join(self.head & 1 == 1, self.tail)
    }

    #[inline]
    fn less(self, other: Self, same: bool) -> bool {
        let rest = B::less((self.tail, 0), (other.tail, 0), same);
        first_less(self.head.into(), other.head.into(), rest)
    }
}

/// The order of a key by its `less`, which the searches of the index go by.
macro_rules! ordered {
    ($([$($bound:tt)*] $key:ty;)+) => {$(
        impl<$($bound)*> PartialOrd for $key {
            #[inline]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }

            #[inline]
            fn lt(&self, other: &Self) -> bool {
                self.less(*other, false)
            }

            #[inline]
            fn le(&self, other: &Self) -> bool {
                self.less(*other, true)
            }

            #[inline]
            fn gt(&self, other: &Self) -> bool {
                other.less(*self, false)
            }

            #[inline]
            fn ge(&self, other: &Self) -> bool {
                other.less(*self, true)
            }
        }

        impl<$($bound)*> Ord for $key {
            #[inline]
            fn cmp(&self, other: &Self) -> Ordering {
                other.less(*self, false).cmp(&self.less(*other, false))
            }
        }
    )+};
}

ordered! {
    [B: Bits] Place<B>;
    [] Member;
    [B: Bits] Tie<B>;
}
