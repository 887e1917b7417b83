//! Reading: lookups, ranks and positions, each one descent.
#![allow(unsafe_code)] // steps from a protected node to its children

use std::ops::{Bound, Range, RangeBounds};

use crate::value::Slot;

use super::node::{Inner, Leaf};
use super::{Key, Root};

/// Keys that one round of [`Root::get_many`] keeps in flight: enough to cover a memory access with
/// the searches of the others, few enough to stay in the first-level cache.
const IN_FLIGHT: usize = 16;

impl<K: Key, S: Slot> Root<K, S> {
    /// The leaf that holds `key` if the tree does.
    #[inline]
    fn leaf_of(&self, key: &K) -> Option<Leaf<'_, K, S>> {
        let top = self.top?;
        let mut node = top.node;
        for height in (0..top.height).rev() {
            // SAFETY: nodes reached from a protected root are protected; above height 0 they are inner.
            let inner = unsafe { Inner::<K>::new(node) };
            node = inner.children()[inner.child_of(key)];
            Self::prefetch(node, height);
        }
        Some(top.leaf(node))
    }

    /// The slot of `key`. O(log n).
    #[inline]
    pub(crate) fn get(&self, key: &K) -> Option<&S> {
        let leaf = self.leaf_of(key)?;
        leaf.search(key).ok().map(|at| &leaf.slots()[at])
    }

    /// Looks up many keys, several at a time, so that their memory accesses overlap. `found` is called
    /// with each key's place in `keys`, in order.
    pub(crate) fn get_many<'a>(&'a self, keys: &[K], mut found: impl FnMut(usize, Option<&'a S>)) {
        for (round, group) in keys.chunks(IN_FLIGHT).enumerate() {
            let leaves = self.leaves_of(group);
            let mut slots = [None; IN_FLIGHT];
            for ((slot, leaf), key) in slots.iter_mut().zip(leaves).zip(group) {
                *slot = leaf.and_then(|(leaf, _)| {
                    let place = leaf.search(key).ok()?;
                    Some(leaf.prefetched_slot(place))
                });
            }
            for (at, slot) in slots.into_iter().take(group.len()).enumerate() {
                found(round * IN_FLIGHT + at, slot);
            }
        }
    }

    /// How many keys are below each of `keys`, or, if `inclusive`, at or below it; in order. The memory
    /// accesses of several overlap.
    pub(crate) fn count_many(&self, keys: &[K], inclusive: bool) -> Vec<usize> {
        let mut counts = Vec::with_capacity(keys.len());
        for group in keys.chunks(IN_FLIGHT) {
            for (leaf, key) in self.leaves_of(group).into_iter().zip(group) {
                counts.push(leaf.map_or(0, |(leaf, start)| {
                    start + key.place_among(leaf.keys(), inclusive)
                }));
            }
        }
        counts
    }

    /// The leaves of up to [`IN_FLIGHT`] keys, and the positions at which they begin. All leaves are
    /// equally deep, so the keys go down together, level by level. Only the keys of the leaves are asked
    /// for: with so many accesses under way, what may not be needed costs more than it spares.
    fn leaves_of(&self, keys: &[K]) -> [Option<(Leaf<'_, K, S>, usize)>; IN_FLIGHT] {
        let mut leaves = [None; IN_FLIGHT];
        let Some(top) = self.top else { return leaves };
        let mut nodes = [(top.node, 0); IN_FLIGHT];
        for height in (0..top.height).rev() {
            for ((node, start), key) in nodes.iter_mut().zip(keys) {
                // SAFETY: as in `leaf_of`.
                let inner = unsafe { Inner::<K>::new(*node) };
                let at = inner.child_of(key);
                *node = inner.children()[at];
                *start += inner.starts()[at];
                if height == 0 {
                    Leaf::<K, S>::prefetch_keys(*node);
                } else {
                    Inner::<K>::prefetch(*node);
                }
            }
        }
        for (leaf, (node, start)) in leaves.iter_mut().zip(nodes).take(keys.len()) {
            *leaf = Some((top.leaf(node), start));
        }
        leaves
    }

    /// Goes down to the leaf that `choose` leads to and answers `finish` of it and the position of its
    /// first entry.
    #[inline]
    fn descend<'a, T>(
        &'a self,
        choose: impl Fn(&Inner<'a, K>, usize) -> usize,
        finish: impl FnOnce(Leaf<'a, K, S>, usize) -> T,
    ) -> Option<T> {
        let top = self.top?;
        let (mut node, mut extent) = (top.node, 0..self.entries);
        for height in (0..top.height).rev() {
            // SAFETY: as in `leaf_of`.
            let inner = unsafe { Inner::<K>::new(node) };
            let at = choose(&inner, extent.start);
            let inside = inner.extent(at, extent.len());
            node = inner.children()[at];
            Self::prefetch(node, height);
            extent = extent.start + inside.start..extent.start + inside.end;
        }
        // SAFETY: as in `leaf_of`; the counts give the leaf's length.
        let leaf = unsafe { Leaf::new(node, extent.len()) };
        Some(finish(leaf, extent.start))
    }

    /// How many keys are below `key`. O(log n).
    #[inline]
    pub(crate) fn rank(&self, key: &K) -> usize {
        self.count(key, false)
    }

    /// How many keys are at or below `key`. O(log n).
    #[inline]
    pub(crate) fn rank_after(&self, key: &K) -> usize {
        self.count(key, true)
    }

    /// How many keys are below `key`, or, if `inclusive`, at or below it. O(log n).
    #[inline]
    pub(crate) fn count(&self, key: &K, inclusive: bool) -> usize {
        self.descend(
            |inner, _| inner.child_of(key),
            |leaf, start| start + key.place_among(leaf.keys(), inclusive),
        )
        .unwrap_or(0)
    }

    /// The entry at `position`, counted from 0. O(log n).
    #[inline]
    pub(crate) fn select(&self, position: usize) -> Option<(&K, &S)> {
        if position >= self.entries {
            return None;
        }
        self.descend(
            |inner, start| inner.child_at(position - start),
            |leaf, start| {
                (
                    &leaf.keys()[position - start],
                    &leaf.slots()[position - start],
                )
            },
        )
    }

    /// The first entry at or after `key`. O(log n).
    #[inline]
    pub(crate) fn first_from(&self, key: &K) -> Option<(&K, &S)> {
        let (leaf, start) =
            self.descend(|inner, _| inner.child_of(key), |leaf, start| (leaf, start))?;
        let at = leaf.search(key).unwrap_or_else(|at| at);
        match leaf.keys().get(at) {
            Some(found) => Some((found, &leaf.slots()[at])),
            None => self.select(start + at),
        }
    }

    /// The positions of the keys in `range`; empty when the range is inverted. O(log n).
    pub(crate) fn positions(&self, range: impl RangeBounds<K>) -> Range<usize> {
        let start = match range.start_bound() {
            Bound::Unbounded => 0,
            Bound::Included(low) => self.rank(low),
            Bound::Excluded(low) => self.rank_after(low),
        };
        let end = match range.end_bound() {
            Bound::Unbounded => self.entries,
            Bound::Included(high) => self.rank_after(high),
            Bound::Excluded(high) => self.rank(high),
        };
        start..end.max(start)
    }

    /// The last entry. O(1).
    pub(crate) fn last(&self) -> Option<(&K, &S)> {
        let leaf = self.tail()?;
        Some((leaf.keys().last()?, leaf.slots().last()?))
    }
}
