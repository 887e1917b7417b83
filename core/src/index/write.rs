//! Writing one entry: an append in place, a copied path, or, when nodes must split or merge, the
//! general rebuild of [`batch`](super::batch).
#![allow(unsafe_code)] // steps from a protected node to its children; writes claimed tail slots

use crate::publish::{Block, Edit};
use crate::value::Slot;

use super::batch::Change;
use super::node::{Inner, Leaf, LEAF, LEAF_MIN};
use super::path::Path;
use super::{Key, Root};

impl<K: Key, S: Slot> Root<K, S> {
    /// Puts `slot` under `key` and answers the slot that was there, whose payload is retired.
    /// O(log n); an ascending key writes into the rightmost leaf in O(1).
    pub(crate) fn insert(&mut self, edit: &mut Edit, key: K, slot: S) -> Option<S> {
        let mut path = self.begin(key);
        self.insert_at(edit, &mut path, slot)
    }

    /// [`insert`](Self::insert) at the end of a path.
    pub(crate) fn insert_at(&mut self, edit: &mut Edit, path: &mut Path<K>, slot: S) -> Option<S> {
        let key = path.key;
        let appends = self.last().is_none_or(|(last, _)| key > *last);
        if appends && self.append_in_place(edit, key, slot) {
            return None;
        }
        let Some((leaf, place)) = self.arrive(path) else {
            self.rebuild(edit, &[(key, Change::Put(slot))]);
            return None;
        };
        match place {
            Ok(at) => {
                let old = leaf.slots()[at];
                let copy = leaf.with_replaced(edit, at, slot, self.width_of(leaf, 0));
                self.replace_leaf(edit, path, leaf.block(), copy, 0);
                Self::retire_payload(edit, &old);
                Some(old)
            }
            Err(at) if leaf.len() < LEAF => {
                let copy = leaf.with_inserted(edit, at, key, slot, self.width_of(leaf, 1));
                self.replace_leaf(edit, path, leaf.block(), copy, 1);
                None
            }
            Err(_) => {
                self.rebuild(edit, &[(key, Change::Put(slot))]);
                None
            }
        }
    }

    /// Removes `key` and answers its slot, whose payload is retired. O(log n).
    pub(crate) fn remove(&mut self, edit: &mut Edit, key: &K) -> Option<S> {
        let mut path = self.begin(*key);
        self.remove_at(edit, &mut path)
    }

    /// [`remove`](Self::remove) at the end of a path.
    pub(crate) fn remove_at(&mut self, edit: &mut Edit, path: &mut Path<K>) -> Option<S> {
        let (leaf, place) = self.arrive(path)?;
        let at = place.ok()?;
        let old = leaf.slots()[at];
        if leaf.len() > LEAF_MIN || (path.steps.is_empty() && leaf.len() > 1) {
            let copy = leaf.with_removed(edit, at, self.width_of(leaf, -1));
            self.replace_leaf(edit, path, leaf.block(), copy, -1);
            Self::retire_payload(edit, &old);
        } else {
            self.rebuild(edit, &[(path.key, Change::Remove)]);
        }
        Some(old)
    }

    /// [`remove_at`](Self::remove_at) at the end of one path and [`insert_at`](Self::insert_at) at the end of
    /// another: one copied path where both end in the same leaf.
    pub(crate) fn move_at(
        &mut self,
        edit: &mut Edit,
        [from, to]: [&mut Path<K>; 2],
        slot: S,
    ) -> Option<S> {
        if self.meet(from, to) {
            if let (Some((leaf, Ok(out))), Some((_, Err(into)))) =
                (self.arrive(from), self.arrive(to))
            {
                let old = leaf.slots()[out];
                let entry = (to.key, slot);
                let copy = leaf.with_moved(edit, out, into, entry, self.width_of(leaf, 0));
                self.replace_leaf(edit, from, leaf.block(), copy, 0);
                Self::retire_payload(edit, &old);
                return Some(old);
            }
        }
        let old = self.remove_at(edit, from);
        self.insert_at(edit, to, slot);
        old
    }

    /// Writes into the next free slot of the rightmost leaf, if it has one and nobody else claimed it.
    #[inline]
    fn append_in_place(&mut self, edit: &mut Edit, key: K, slot: S) -> bool {
        let Some(top) = &mut self.top else {
            return false;
        };
        let len = top.tail_len as usize;
        if len == top.tail.width() || !edit.claim(top.tail, len) {
            return false;
        }
        // SAFETY: the tail is protected and the slot is claimed.
        unsafe { Leaf::new(top.tail, len).write_next(key, slot) };
        top.tail_len += 1;
        self.entries += 1;
        true
    }

    /// The width of a leaf that has `len` entries now, of `entries` in the index. The rightmost leaf gets
    /// room to be appended to: doubling while it is the only one, so that a small store stays small.
    pub(super) fn width_for(len: usize, right_edge: bool, entries: usize) -> usize {
        match (right_edge, entries > LEAF) {
            (false, _) => len,
            (true, false) => (len + 1).next_power_of_two().clamp(4, LEAF).max(len),
            (true, true) => LEAF,
        }
    }

    /// The width of a copy of `leaf` that has `delta` entries more.
    fn width_of(&self, leaf: Leaf<'_, K, S>, delta: isize) -> usize {
        let right_edge = self.top.is_some_and(|top| leaf.block() == top.tail);
        Self::width_for(
            leaf.len().wrapping_add_signed(delta),
            right_edge,
            self.entries,
        )
    }

    pub(super) fn retire_payload(edit: &mut Edit, slot: &S) {
        if let Some(payload) = slot.payload() {
            edit.retire(payload);
        }
    }

    /// Puts `copy`, which has `delta` entries more, in the place of `leaf`, copying the path above it.
    fn replace_leaf(
        &mut self,
        edit: &mut Edit,
        path: &Path<K>,
        leaf: Block,
        copy: Block,
        delta: isize,
    ) {
        let Some(top) = &mut self.top else { return };
        if leaf == top.tail {
            top.tail = copy;
            top.tail_len = top.tail_len.wrapping_add_signed(delta as i32);
        }
        edit.retire(leaf);
        let mut node = copy;
        for &(inner, at) in path.steps.iter().rev() {
            // SAFETY: `arrive` went this way; the nodes are the old version's, which stays protected.
            node = unsafe { Inner::<K>::new(inner) }.with_child(edit, at, node, delta);
            edit.retire(inner);
        }
        top.node = node;
        self.entries = self.entries.wrapping_add_signed(delta);
    }
}
