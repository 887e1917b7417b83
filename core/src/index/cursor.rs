//! Cursors: walking the entries between two positions, from either end.
#![allow(unsafe_code)] // steps from a protected node to its neighbours

use std::ops::Range;

use smallvec::SmallVec;

use crate::value::Slot;

use super::node::{Inner, Leaf};
use super::{Key, Root, Top};

/// A leaf on the way, and how to get to the next one.
struct Cursor<'g, K, S> {
    path: SmallVec<[(Inner<'g, K>, usize); 8]>,
    leaf: Leaf<'g, K, S>,
    /// The next entry to give; for a walk backwards, the one after it.
    at: usize,
}

impl<'g, K: Key, S: Slot> Cursor<'g, K, S> {
    /// A cursor before the entry at `position`, which may be one past the last.
    fn new(top: Top, entries: usize, position: usize) -> Self {
        let mut path = SmallVec::new();
        let (mut node, mut extent, mut inside) = (top.node, entries, position);
        for _ in 0..top.height {
            // SAFETY: nodes reached from a protected root are protected; above height 0 they are inner.
            let inner = unsafe { Inner::new(node) };
            let at = inner.child_at(inside);
            path.push((inner, at));
            node = inner.children()[at];
            let child = inner.extent(at, extent);
            (extent, inside) = (child.len(), inside - child.start);
        }
        Self {
            path,
            // SAFETY: as above; the counts give the leaf's length.
            leaf: unsafe { Leaf::new(node, extent) },
            at: inside,
        }
    }

    /// Moves to the neighbouring leaf on the right (`step` 1) or left (-1), if there is one.
    fn move_leaf(&mut self, top: Top, step: isize) -> bool {
        let Some(turn) = self.path.iter().rposition(|(inner, at)| {
            at.checked_add_signed(step)
                .is_some_and(|next| next < inner.width())
        }) else {
            return false;
        };
        let (inner, at) = &mut self.path[turn];
        *at = at.wrapping_add_signed(step);
        let mut node = inner.children()[*at];
        for level in turn + 1..self.path.len() {
            // SAFETY: as in `new`.
            let inner = unsafe { Inner::new(node) };
            let at = if step > 0 { 0 } else { inner.width() - 1 };
            self.path[level] = (inner, at);
            node = inner.children()[at];
        }
        let len = if node == top.tail {
            top.tail_len as usize
        } else {
            node.width()
        };
        // SAFETY: as in `new`; every leaf but the rightmost is as long as it is wide.
        self.leaf = unsafe { Leaf::new(node, len) };
        self.prefetch_beyond(step);
        true
    }

    /// Asks for the leaf after the present one, so that it is near when the walk gets there.
    fn prefetch_beyond(&self, step: isize) {
        if let Some((inner, at)) = self.path.last() {
            let next = at.wrapping_add_signed(step);
            if let Some(&node) = inner.children().get(next) {
                Leaf::<K, S>::prefetch(node);
            }
        }
    }
}

/// The entries at a range of positions, in key order, from either end.
pub struct Entries<'g, K, S> {
    top: Option<Top>,
    entries: usize,
    front: Option<Cursor<'g, K, S>>,
    back: Option<Cursor<'g, K, S>>,
    range: Range<usize>,
}

impl<K: Key, S: Slot> Root<K, S> {
    /// The entries at `positions`, which are cut to what there is. O(log n), then amortised O(1) each.
    pub(crate) fn entries(&self, positions: Range<usize>) -> Entries<'_, K, S> {
        let end = positions.end.min(self.entries);
        Entries {
            top: self.top,
            entries: self.entries,
            front: None,
            back: None,
            range: positions.start.min(end)..end,
        }
    }
}

impl<'g, K: Key, S: Slot> Entries<'g, K, S> {
    fn cursor_at(&self, position: usize) -> Option<Cursor<'g, K, S>> {
        self.top.map(|top| Cursor::new(top, self.entries, position))
    }
}

impl<'g, K: Key, S: Slot> Iterator for Entries<'g, K, S> {
    type Item = (&'g K, &'g S);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.range.is_empty() {
            return None;
        }
        if self.front.is_none() {
            self.front = self.cursor_at(self.range.start);
        }
        let cursor = self.front.as_mut()?;
        if cursor.at == cursor.leaf.len() {
            cursor.move_leaf(self.top?, 1);
            cursor.at = 0;
        }
        let at = cursor.at;
        cursor.at += 1;
        self.range.start += 1;
        Some((&cursor.leaf.keys()[at], &cursor.leaf.slots()[at]))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.range.len(), Some(self.range.len()))
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        self.range.start = self.range.start.saturating_add(n).min(self.range.end);
        self.front = None;
        self.next()
    }
}

impl<K: Key, S: Slot> DoubleEndedIterator for Entries<'_, K, S> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.range.is_empty() {
            return None;
        }
        if self.back.is_none() {
            self.back = self.cursor_at(self.range.end);
        }
        let cursor = self.back.as_mut()?;
        if cursor.at == 0 {
            cursor.move_leaf(self.top?, -1);
            cursor.at = cursor.leaf.len();
        }
        cursor.at -= 1;
        self.range.end -= 1;
        let at = cursor.at;
        Some((&cursor.leaf.keys()[at], &cursor.leaf.slots()[at]))
    }
}

impl<K: Key, S: Slot> ExactSizeIterator for Entries<'_, K, S> {}
impl<K: Key, S: Slot> std::iter::FusedIterator for Entries<'_, K, S> {}
