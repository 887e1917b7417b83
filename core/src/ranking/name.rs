//! Names of groups: any bytes, for which a small id stands in the keys.
//!
//! The id of a group is a row of the same version as its members, so whoever finds a group finds the
//! members that it had at that moment. The row goes with the last member.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::hash::BuildHasher;

use crate::publish::Edit;
use crate::value::{Blob, BlobRef, Staged, Value};

use super::key::{GroupId, NameKey, Names, LAST_GROUP};

/// A group's name, and its row if it is to be written.
pub(crate) struct Name<'n> {
    bytes: Cow<'n, [u8]>,
    hash: u64,
    row: Option<Staged<Blob>>,
    /// Whether the attempt at hand wrote the row.
    entered: bool,
}

impl<'n> Name<'n> {
    /// Hashes with the store's own keys: nobody can choose names that collide. The empty name, under which
    /// sets without groups keep all, is not hashed.
    pub(crate) fn new(bytes: impl Into<Cow<'n, [u8]>>, hashing: &impl BuildHasher) -> Self {
        let bytes = bytes.into();
        Self {
            hash: match &*bytes {
                [] => 0,
                bytes => hashing.hash_one(bytes),
            },
            bytes,
            row: None,
            entered: false,
        }
    }

    /// The group of this name. O(log groups).
    #[inline]
    pub(super) fn find(&self, names: &Names) -> Option<GroupId> {
        let mut from = self.key(0);
        loop {
            let (key, slot) = names.first_from(&from)?;
            if key.hash != self.hash {
                return None;
            }
            if text(slot) == &*self.bytes {
                return Some(key.group);
            }
            from.group = key.group.checked_add(1)?;
        }
    }

    pub(super) fn key(&self, group: GroupId) -> NameKey {
        NameKey {
            hash: self.hash,
            group,
        }
    }

    /// Begins an attempt at a change, before anything is decided: what a lost one wrote is nowhere. For
    /// names that are kept over the attempts.
    pub(crate) fn begin(&mut self) {
        self.entered = false;
    }

    /// The slot with which this attempt makes the group known.
    pub(super) fn enter(&mut self, edit: &mut Edit) -> <Blob as Value>::Slot {
        let bytes = &self.bytes;
        let row = self
            .row
            .get_or_insert_with(|| Staged::new(Blob::bytes(0, bytes)));
        self.entered = true;
        row.enter(edit)
    }

    /// The change is published, or there was none. After a refusal a name is dropped instead, and its row
    /// with it.
    pub(crate) fn settle(self) {
        if let (Some(row), true) = (self.row, self.entered) {
            row.commit();
        }
    }
}

/// The name in a row.
pub(crate) fn text(slot: &<Blob as Value>::Slot) -> &[u8] {
    match Blob::read(slot) {
        BlobRef::Bytes(_, bytes) => bytes,
        BlobRef::Object(..) => unreachable!("names are bytes"),
    }
}

/// Ids that no group of a version has.
pub(super) struct Fresh {
    largest: Option<GroupId>,
    /// Those given out that are not the largest so far.
    others: BTreeSet<GroupId>,
}

impl Fresh {
    /// Ids beside those of a version, of which `largest` is one.
    pub(super) fn beside(largest: Option<GroupId>) -> Self {
        Self {
            largest,
            others: BTreeSet::new(),
        }
    }

    /// The id after the largest, so that new groups are appended. When that is the last one of all, any
    /// that is not `in_use`, looked for from `hash` on.
    ///
    /// # Panics
    /// If 2^31 groups are in use.
    pub(super) fn next(&mut self, hash: u64, in_use: impl Fn(GroupId) -> bool) -> GroupId {
        let next = self.largest.map_or(0, |largest| largest + 1);
        if next <= LAST_GROUP {
            self.largest = Some(next);
            return next;
        }
        let first = hash as GroupId;
        let mut candidates = (0..=LAST_GROUP).map(|step| first.wrapping_add(step) & LAST_GROUP);
        let free = candidates.find(|id| !self.others.contains(id) && !in_use(*id));
        let free = free.expect("fewer than 2^31 groups");
        self.others.insert(free);
        free
    }
}
