//! Writing one entry: an append in place, a copied path, or, when nodes must split or merge, the
//! general rebuild of [`batch`](super::batch).
#![allow(unsafe_code)] // steps from a protected node to its children; writes claimed tail slots

use smallvec::SmallVec;

use crate::publish::{Block, Edit};
use crate::value::Slot;

use super::batch::Change;
use super::node::{Inner, Leaf, LEAF, LEAF_MIN};
use super::{Key, Root, Top};

/// The inner nodes from the root to a leaf, each with the child taken.
type Path<'g, K> = SmallVec<[(Inner<'g, K>, usize); 8]>;

impl<K: Key, S: Slot> Root<K, S> {
    /// Puts `slot` under `key` and answers the slot that was there, whose payload is retired.
    /// O(log n); an ascending key writes into the rightmost leaf in O(1).
    pub(crate) fn insert(&mut self, edit: &mut Edit, key: K, slot: S) -> Option<S> {
        let appends = self.last().is_none_or(|(last, _)| key > *last);
        if appends && self.append_in_place(edit, key, slot) {
            return None;
        }
        let Some(top) = self.top else {
            self.rebuild(edit, &[(key, Change::Put(slot))]);
            return None;
        };
        let (path, leaf) = self.path_to(top, &key);
        let right_edge = leaf.block() == top.tail;
        match leaf.search(&key) {
            Ok(at) => {
                let old = leaf.slots()[at];
                let width = Self::width_for(leaf.len(), right_edge, self.entries);
                let copy = leaf.with_replaced(edit, at, slot, width);
                self.replace_leaf(edit, top, &path, leaf, copy, 0);
                Self::retire_payload(edit, &old);
                Some(old)
            }
            Err(at) if leaf.len() < LEAF => {
                let width = Self::width_for(leaf.len() + 1, right_edge, self.entries);
                let copy = leaf.with_inserted(edit, at, key, slot, width);
                self.replace_leaf(edit, top, &path, leaf, copy, 1);
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
        let top = self.top?;
        let (path, leaf) = self.path_to(top, key);
        let at = leaf.search(key).ok()?;
        let old = leaf.slots()[at];
        if leaf.len() > LEAF_MIN || (path.is_empty() && leaf.len() > 1) {
            let width = Self::width_for(leaf.len() - 1, leaf.block() == top.tail, self.entries);
            let copy = leaf.with_removed(edit, at, width);
            self.replace_leaf(edit, top, &path, leaf, copy, -1);
            Self::retire_payload(edit, &old);
        } else {
            self.rebuild(edit, &[(*key, Change::Remove)]);
        }
        Some(old)
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

    pub(super) fn retire_payload(edit: &mut Edit, slot: &S) {
        if let Some(payload) = slot.payload() {
            edit.retire(payload);
        }
    }

    /// The way to the leaf of `key`. It is not borrowed from `self`, which the caller goes on to edit:
    /// the nodes belong to the old version, which the caller's edit keeps protected.
    fn path_to<'g>(&self, top: Top, key: &K) -> (Path<'g, K>, Leaf<'g, K, S>) {
        let mut path = Path::new();
        let mut node = top.node;
        for height in (0..top.height).rev() {
            // SAFETY: nodes reached from a protected root are protected; above height 0 they are inner.
            let inner = unsafe { Inner::new(node) };
            let at = inner.child_of(key);
            path.push((inner, at));
            node = inner.children()[at];
            Self::prefetch(node, height);
        }
        (path, top.leaf(node))
    }

    /// Puts `copy` in the place of `leaf`, copying the path above it.
    fn replace_leaf(
        &mut self,
        edit: &mut Edit,
        mut top: Top,
        path: &Path<'_, K>,
        leaf: Leaf<'_, K, S>,
        copy: Block,
        delta: isize,
    ) {
        if leaf.block() == top.tail {
            top.tail = copy;
            top.tail_len = top.tail_len.wrapping_add_signed(delta as i32);
        }
        edit.retire(leaf.block());
        let mut node = copy;
        for (inner, at) in path.iter().rev() {
            node = inner.with_child(edit, *at, node, delta);
            edit.retire(inner.block());
        }
        top.node = node;
        self.top = Some(top);
        self.entries = self.entries.wrapping_add_signed(delta);
    }
}
