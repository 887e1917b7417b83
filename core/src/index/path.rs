//! The way to an entry, found before the entry is changed.
//!
//! A change of several indexes goes down all of them by turns, so that it waits for the memory of all
//! together and not of one after the other; and what it has looked up it does not search again.
#![allow(unsafe_code)] // steps from a protected node to its children

use smallvec::SmallVec;

use crate::publish::Block;
use crate::value::Slot;

use super::node::{Inner, Leaf};
use super::{Key, Root};

/// The way from the top of an index to where a key is or would be.
///
/// It belongs to one state of the index. In any other it is found again, so that a change may use a path
/// without asking what it changed before. It does not outlive the attempt at a change in which it was
/// begun.
pub(crate) struct Path<K> {
    pub(super) key: K,
    /// The state: which node is the topmost, and how many entries there are.
    state: Option<(Block, usize)>,
    /// The inner nodes so far, each with the child taken.
    pub(super) steps: SmallVec<[(Block, usize); 8]>,
    /// The node below them.
    node: Option<Block>,
    /// Where the key is in its leaf, or would be.
    place: Option<Result<usize, usize>>,
}

impl<K: Key, S: Slot> Root<K, S> {
    /// Begins the way to `key`.
    #[inline]
    pub(crate) fn begin(&self, key: K) -> Path<K> {
        Path {
            key,
            state: self.state(),
            steps: SmallVec::new(),
            node: self.top.map(|top| top.node),
            place: None,
        }
    }

    fn state(&self) -> Option<(Block, usize)> {
        self.top.map(|top| (top.node, self.entries))
    }

    /// Goes one level down and asks for the memory there; answers whether there was a level.
    #[inline]
    pub(crate) fn step(&self, path: &mut Path<K>) -> bool {
        let (Some(top), Some(node)) = (self.top, path.node) else {
            return false;
        };
        // Of another state: an index that has shrunk is not as high as the path is long.
        if path.state != self.state() {
            return false;
        }
        let below = top.height as usize - path.steps.len();
        if below == 0 {
            return false;
        }
        // SAFETY: the path is of this state, whose root protects its nodes; above the leaves they are
        // inner.
        let inner = unsafe { Inner::<K>::new(node) };
        let at = inner.child_of(&path.key);
        let child = inner.children()[at];
        Self::prefetch(child, below as u32 - 1);
        path.steps.push((node, at));
        path.node = Some(child);
        true
    }

    /// The slot of the key that the path leads to. O(log n), less what of the way is known.
    #[inline]
    pub(crate) fn found(&self, path: &mut Path<K>) -> Option<&S> {
        let (leaf, place) = self.arrive(path)?;
        place.ok().map(|at| &leaf.slots()[at])
    }

    /// Whether both paths lead to the same leaf.
    #[inline]
    pub(crate) fn meet(&self, one: &mut Path<K>, other: &mut Path<K>) -> bool {
        match (self.reach(one), self.reach(other)) {
            (Some(one), Some(other)) => one.block() == other.block(),
            _ => false,
        }
    }

    /// Goes the rest of the way: to the leaf, and the place in it.
    #[inline]
    pub(super) fn arrive(
        &self,
        path: &mut Path<K>,
    ) -> Option<(Leaf<'_, K, S>, Result<usize, usize>)> {
        let leaf = self.reach(path)?;
        let place = *path.place.get_or_insert_with(|| leaf.search(&path.key));
        Some((leaf, place))
    }

    /// Goes the rest of the way to the leaf.
    #[inline]
    fn reach(&self, path: &mut Path<K>) -> Option<Leaf<'_, K, S>> {
        if path.state != self.state() {
            *path = self.begin(path.key);
        }
        while self.step(path) {}
        Some(self.top?.leaf(path.node?))
    }
}
