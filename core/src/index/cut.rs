//! Cutting: taking a range of positions out of the index, whatever its size, in O(log n).
#![allow(unsafe_code)] // steps from a protected node to its children

use std::ops::Range;

use crate::publish::Edit;
use crate::value::Slot;

use super::batch::{mend, pack_inner, Children};
use super::node::{Child, Inner, Leaf, INNER};
use super::{Key, Root};

impl<K: Key, S: Slot> Root<K, S> {
    /// Removes the entries at `positions`, cut to what there is, and answers how many there were.
    ///
    /// Only the two paths at the ends of the range are rebuilt; what lies between them is handed to
    /// the reclaimer as whole subtrees.
    pub(crate) fn cut(&mut self, edit: &mut Edit, positions: Range<usize>) -> usize {
        let end = positions.end.min(self.entries);
        let range = positions.start.min(end)..end;
        let Some(top) = self.top.filter(|_| !range.is_empty()) else {
            return 0;
        };
        if range.len() == self.entries {
            edit.retire_subtree(Self::subtree_of(top.node, top.height, self.entries));
            *self = Self::EMPTY;
            return range.len();
        }
        let Some(&low) = self.last().map(|(key, _)| key) else {
            return 0;
        };
        // The leftmost subtree's lower bound separates it from nothing, so any key will do.
        let child = Child {
            low,
            node: top.node,
            entries: self.entries,
        };
        let children = Self::cut_child(edit, child, top.height, range.clone());
        self.plant(edit, children, top.height);
        range.len()
    }

    /// What is left of a subtree without the positions in `range`, which are some of its own but not
    /// all.
    fn cut_child(
        edit: &mut Edit,
        child: Child<K>,
        height: u32,
        range: Range<usize>,
    ) -> Children<K> {
        edit.retire(child.node);
        if height == 0 {
            return vec![Self::cut_leaf(edit, child, range)];
        }
        // SAFETY: nodes reached from a protected root are protected; above height 0 they are inner.
        let inner = unsafe { Inner::<K>::new(child.node) };
        let mut below = Children::with_capacity(INNER + 1);
        for (at, sub) in inner.to_children(child.low, child.entries).enumerate() {
            let extent = inner.extent(at, child.entries);
            let (start, end) = (range.start.max(extent.start), range.end.min(extent.end));
            if start >= end {
                below.push(sub);
            } else if end - start == extent.len() {
                edit.retire_subtree(Self::subtree_of(sub.node, height - 1, sub.entries));
            } else {
                let inside = start - extent.start..end - extent.start;
                below.append(&mut Self::cut_child(edit, sub, height - 1, inside));
            }
        }
        mend::<K, S>(edit, &mut below, height - 1, false);
        pack_inner(edit, below, false)
    }

    fn cut_leaf(edit: &mut Edit, child: Child<K>, range: Range<usize>) -> Child<K> {
        // SAFETY: a leaf of a protected version; the counts give its length.
        let leaf = unsafe { Leaf::<K, S>::new(child.node, child.entries) };
        let (keys, slots) = (leaf.keys(), leaf.slots());
        for slot in &slots[range.clone()] {
            Self::retire_payload(edit, slot);
        }
        let entries = keys.len() - range.len();
        let runs = [
            (&keys[..range.start], &slots[..range.start]),
            (&keys[range.end..], &slots[range.end..]),
        ];
        let node = Leaf::build(edit, entries, &runs);
        Child {
            low: child.low,
            node,
            entries,
        }
    }
}
