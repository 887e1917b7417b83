//! The keys of the four indexes of a ranking: plain bits without padding, since every byte of a key is
//! paid for by each member.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use crate::index::Root;
use crate::value::{Blob, Inline, Value};

use super::score::{first_less, Bits};

/// What stands for a group in the keys.
pub(crate) type GroupId = u32;

/// A place in the enumeration of all members: by group, score and id.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C, packed)]
pub(crate) struct Place<B> {
    pub(super) group: GroupId,
    pub(super) score: B,
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
pub(crate) struct Tie<B> {
    pub(super) group: GroupId,
    pub(super) score: B,
}

/// A group by the hash of its name. Names with the same hash are told apart by the group's id.
#[derive(Clone, Copy, PartialEq, Eq)]
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
    pub(super) fn of_group(group: GroupId) -> RangeInclusive<Self> {
        Self::first(group, B::LOWEST)..=Self::last(group, B::HIGHEST)
    }

    /// At or before every member of the group with this score.
    pub(super) fn first(group: GroupId, score: B) -> Self {
        Self {
            group,
            score,
            id: 0,
        }
    }

    /// At or after every member of the group with this score.
    pub(super) fn last(group: GroupId, score: B) -> Self {
        Self {
            group,
            score,
            id: u64::MAX,
        }
    }

    #[inline]
    fn less(self, other: Self, tie: bool) -> bool {
        let ids = ids_less(self.id, other.id, tie);
        self.score.less(self.group, other.score, other.group, ids)
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
    fn less(self, other: Self, tie: bool) -> bool {
        let ids = ids_less(self.id, other.id, tie);
        first_less(self.group.into(), other.group.into(), ids)
    }
}

impl<B: Bits> Tie<B> {
    pub(super) fn of_group(group: GroupId) -> RangeInclusive<Self> {
        Self {
            group,
            score: B::LOWEST,
        }..=Self {
            group,
            score: B::HIGHEST,
        }
    }

    #[inline]
    fn less(self, other: Self, tie: bool) -> bool {
        self.score.less(self.group, other.score, other.group, tie)
    }
}

impl NameKey {
    #[inline]
    fn wide(self) -> u128 {
        u128::from(self.hash) << 32 | u128::from(self.group)
    }

    #[inline]
    fn less(self, other: Self, tie: bool) -> bool {
        (self.wide() < other.wide()) | (tie & (self.wide() == other.wide()))
    }
}

#[inline]
fn ids_less(a: u64, b: u64, tie: bool) -> bool {
    if tie {
        a <= b
    } else {
        a < b
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
    [] NameKey;
}
