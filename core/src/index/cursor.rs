//! Cursors: walking the entries between two positions, from either end.
#![allow(unsafe_code)] // steps from a protected node to its neighbours

use std::ops::Range;

use crate::value::Slot;

use super::node::{Inner, Leaf};
use super::{Key, Root, Top};

/// Neighbouring entries of one leaf, given from either end. One number moves for each entry: a scan
/// is as fast as that number comes back from the store buffer.
struct Run<'g, K, S> {
    keys: &'g [K],
    slots: &'g [S],
    range: Range<usize>,
}

impl<'g, K: Key, S: Slot> Run<'g, K, S> {
    const EMPTY: Self = Self {
        keys: &[],
        slots: &[],
        range: 0..0,
    };

    fn new(leaf: &Leaf<'g, K, S>, range: Range<usize>) -> Self {
        let (keys, slots) = (leaf.keys(), leaf.slots());
        assert!(range.end <= keys.len() && keys.len() == slots.len());
        Self { keys, slots, range }
    }

    #[inline]
    fn entry(&self, at: usize) -> (&'g K, &'g S) {
        // SAFETY: the range only shrinks, and began within both slices.
        unsafe { (self.keys.get_unchecked(at), self.slots.get_unchecked(at)) }
    }

    #[inline]
    fn next(&mut self) -> Option<(&'g K, &'g S)> {
        let at = self.range.next()?;
        Some(self.entry(at))
    }

    #[inline]
    fn next_back(&mut self) -> Option<(&'g K, &'g S)> {
        let at = self.range.next_back()?;
        Some(self.entry(at))
    }

    fn nth(&mut self, n: usize) -> Option<(&'g K, &'g S)> {
        let at = self.range.nth(n)?;
        Some(self.entry(at))
    }

    fn len(&self) -> usize {
        self.range.len()
    }

    #[inline]
    fn peek(&self) -> Option<&'g K> {
        let Range { start, end } = self.range;
        (start < end).then(|| self.entry(start).0)
    }

    #[inline]
    fn peek_back(&self) -> Option<&'g K> {
        let Range { start, end } = self.range;
        (start < end).then(|| self.entry(end - 1).0)
    }

    #[inline]
    fn rest(&self) -> &'g [K] {
        &self.keys[self.range.clone()]
    }
}

/// One end of a walk: the entries at hand, and the way to the next leaf.
struct End<'g, K, S> {
    run: Run<'g, K, S>,
    /// The parent of the leaf at hand and the leaf's place in it, if the walk came by there. With it
    /// the next leaf is one step away; without it, or at the parent's edge, one descent.
    parent: Option<(Inner<'g, K>, usize)>,
}

impl<'g, K: Key, S: Slot> End<'g, K, S> {
    const START: Self = Self {
        run: Run::EMPTY,
        parent: None,
    };

    /// The neighbour of the leaf at hand, to the right (`step` 1) or left (-1), under the same parent.
    fn sibling(&mut self, top: Top, step: isize) -> Option<Leaf<'g, K, S>> {
        let (inner, at) = self.parent.as_mut()?;
        let next = at.checked_add_signed(step)?;
        let &node = inner.children().get(next)?;
        *at = next;
        self.prefetch_beyond(step);
        Some(top.leaf(node))
    }

    /// The leaf of the entry at `position`, and the place of that entry in the leaf.
    fn locate(&mut self, top: Top, entries: usize, position: usize) -> (Leaf<'g, K, S>, usize) {
        let tail_start = entries - top.tail_len as usize;
        if position >= tail_start {
            self.parent = None;
            return (top.leaf(top.tail), position - tail_start);
        }
        let (mut node, mut inside) = (top.node, position);
        for _ in 0..top.height {
            // SAFETY: nodes reached from a protected root are protected; above height 0 they are inner.
            let inner = unsafe { Inner::new(node) };
            let at = inner.child_at(inside);
            inside -= inner.starts()[at];
            node = inner.children()[at];
            self.parent = Some((inner, at));
        }
        (top.leaf(node), inside)
    }

    /// Asks for the leaf after the one at hand, so that it is near when the walk gets there.
    fn prefetch_beyond(&self, step: isize) {
        if let Some((inner, at)) = self.parent {
            let next = at.wrapping_add_signed(step);
            if let Some(&node) = inner.children().get(next) {
                Leaf::<K, S>::prefetch(node);
            }
        }
    }
}

/// The entries at a range of positions, in key order, from either end.
pub(crate) struct Entries<'g, K, S> {
    top: Option<Top>,
    entries: usize,
    /// Positions that are in no run yet.
    range: Range<usize>,
    front: End<'g, K, S>,
    back: End<'g, K, S>,
}

impl<K: Key, S: Slot> Root<K, S> {
    /// The entries at `positions`, which are cut to what there is. O(log n), then amortised O(1) each.
    #[inline]
    pub(crate) fn entries(&self, positions: Range<usize>) -> Entries<'_, K, S> {
        let end = positions.end.min(self.entries);
        Entries {
            top: self.top,
            entries: self.entries,
            range: positions.start.min(end)..end,
            front: End::START,
            back: End::START,
        }
    }
}

impl<'g, K: Key, S: Slot> Entries<'g, K, S> {
    /// The key that comes next from the front. Read in the branch that chose the run: to choose one first
    /// and then read costs a walk with last places a tenth.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<&'g K> {
        if self.front.run.len() == 0 && !self.refill_front() {
            return self.back.run.peek();
        }
        self.front.run.peek()
    }

    /// The key that comes next from the back.
    #[inline]
    pub(crate) fn peek_back(&mut self) -> Option<&'g K> {
        if self.back.run.len() == 0 && !self.refill_back() {
            return self.front.run.peek_back();
        }
        self.back.run.peek_back()
    }

    /// The keys that come next from the front and stand in one leaf; none only at the end.
    #[inline]
    pub(crate) fn at_hand(&mut self) -> &'g [K] {
        if self.front.run.len() == 0 && !self.refill_front() {
            return self.back.run.rest();
        }
        self.front.run.rest()
    }

    /// The keys that come next from the back, the nearest last, and stand in one leaf; none only at the
    /// end.
    #[inline]
    pub(crate) fn at_hand_back(&mut self) -> &'g [K] {
        if self.back.run.len() == 0 && !self.refill_back() {
            return self.front.run.rest();
        }
        self.back.run.rest()
    }

    /// Takes the next leaf from the front. False when there is none.
    #[inline(never)]
    fn refill_front(&mut self) -> bool {
        let Some(top) = self.top.filter(|_| !self.range.is_empty()) else {
            return false;
        };
        let (leaf, start) = match self.front.sibling(top, 1) {
            Some(leaf) => (leaf, 0),
            None => self.front.locate(top, self.entries, self.range.start),
        };
        let end = leaf.len().min(start + self.range.len());
        self.front.run = Run::new(&leaf, start..end);
        self.range.start += end - start;
        true
    }

    /// Takes the next leaf from the back. False when there is none.
    #[inline(never)]
    fn refill_back(&mut self) -> bool {
        let Some(top) = self.top.filter(|_| !self.range.is_empty()) else {
            return false;
        };
        let (leaf, end) = match self.back.sibling(top, -1) {
            Some(leaf) => (leaf, leaf.len()),
            None => {
                let last = self.range.end - 1;
                let (leaf, at) = self.back.locate(top, self.entries, last);
                (leaf, at + 1)
            }
        };
        let start = end.saturating_sub(self.range.len());
        self.back.run = Run::new(&leaf, start..end);
        self.range.end -= end - start;
        true
    }
}

impl<'g, K: Key, S: Slot> Iterator for Entries<'g, K, S> {
    type Item = (&'g K, &'g S);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.front.run.next() {
                return Some(entry);
            }
            if !self.refill_front() {
                return self.back.run.next();
            }
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.front.run.len() + self.range.len() + self.back.run.len();
        (len, Some(len))
    }

    /// O(log n): the entries in between are passed over without looking at them.
    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        let at_hand = self.front.run.len();
        if n < at_hand {
            return self.front.run.nth(n);
        }
        let beyond = (n - at_hand).min(self.range.len());
        if beyond > 0 {
            self.front = End::START;
            self.range.start += beyond;
        } else {
            self.front.run = Run::EMPTY;
        }
        if self.range.is_empty() {
            return self.back.run.nth(n - at_hand - beyond);
        }
        self.next()
    }
}

impl<K: Key, S: Slot> DoubleEndedIterator for Entries<'_, K, S> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.back.run.next_back() {
                return Some(entry);
            }
            if !self.refill_back() {
                return self.front.run.next_back();
            }
        }
    }
}

impl<K: Key, S: Slot> ExactSizeIterator for Entries<'_, K, S> {}
impl<K: Key, S: Slot> std::iter::FusedIterator for Entries<'_, K, S> {}
