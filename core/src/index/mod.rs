//! The index: a persistent, counted B+tree.
//!
//! A [`Root`] names one state of one index. Edits copy the path from the root to a leaf and leave the
//! old state as it was; every inner node keeps how many entries are left of each child, so that rank,
//! select and the count of a range are one descent. Ascending keys fill the rightmost leaf in place.
//!
//! The index knows keys and counts. It does not know ids, stores or threads; it asks `publish` for
//! memory and hands back what an edit replaced.
#![allow(unsafe_code)] // node memory: see `node`

mod batch;
mod cursor;
mod cut;
mod key;
mod node;
mod path;
mod read;
#[cfg(test)]
pub(crate) mod tests;
mod write;

pub(crate) use batch::Change;
pub(crate) use cursor::Entries;
pub(crate) use key::Key;
pub(crate) use key::{by_first, by_last};
pub(crate) use path::Path;

use crate::publish::{Block, Frame, Roots, Subtree, INDEXES};
use crate::value::Slot;

use node::{Inner, Leaf};

/// One state of an index.
///
/// There is no safe way to copy a root: one is reached by reference only, from a version or a snapshot
/// that protects its nodes, or from the draft that an edit is given.
pub(crate) struct Root<K, S> {
    /// The topmost node, if there are entries.
    top: Option<Top>,
    entries: usize,
    types: std::marker::PhantomData<fn() -> (K, S)>,
}

#[derive(Clone, Copy)]
struct Top {
    node: Block,
    /// Inner nodes between this node and a leaf, itself included.
    height: u32,
    /// Entries of the rightmost leaf. Every other leaf is as long as it is wide.
    tail_len: u32,
    /// The rightmost leaf.
    tail: Block,
}

impl Top {
    /// A leaf of this tree, in its full length.
    #[inline]
    fn leaf<'g, K: Key, S: Slot>(self, node: Block) -> Leaf<'g, K, S> {
        let len = if node == self.tail {
            self.tail_len as usize
        } else {
            node.width()
        };
        // SAFETY: `node` was reached from a protected root, which protects it; every leaf but the
        // rightmost is as long as it is wide.
        unsafe { Leaf::new(node, len) }
    }
}

impl<K: Key, S: Slot> Root<K, S> {
    const EMPTY: Self = Self {
        top: None,
        entries: 0,
        types: std::marker::PhantomData,
    };

    /// How many entries there are. O(1).
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries
    }

    /// The rightmost leaf, if there are entries.
    fn tail(&self) -> Option<Leaf<'_, K, S>> {
        self.top.map(|top| top.leaf(top.tail))
    }

    /// The same index after `entries` were appended to its rightmost leaf in place.
    #[inline]
    fn grown(&self, entries: usize) -> Self {
        let top = self.top.map(|top| Top {
            tail_len: top.tail_len + entries as u32,
            ..top
        });
        Self {
            top,
            entries: self.entries + entries,
            ..*self
        }
    }

    /// Visits the payloads of the last `entries` entries, which are in the rightmost leaf.
    fn last_payloads(&self, entries: usize, visit: impl FnMut(Block)) {
        if let (Some(leaf), true) = (self.tail(), S::HAS_PAYLOAD) {
            let last = &leaf.slots()[leaf.len() - entries..];
            last.iter().filter_map(Slot::payload).for_each(visit);
        }
    }

    /// Asks for a node at `height` that is about to be searched.
    #[inline]
    fn prefetch(node: Block, height: u32) {
        if height == 0 {
            Leaf::<K, S>::prefetch(node);
        } else {
            Inner::<K>::prefetch(node);
        }
    }

    fn subtree(&self) -> Option<Subtree> {
        self.top
            .map(|top| Self::subtree_of(top.node, top.height, self.entries))
    }

    /// Names a subtree for the reclaimer.
    fn subtree_of(node: Block, height: u32, entries: usize) -> Subtree {
        Subtree {
            top: Frame {
                node,
                height,
                entries,
            },
            step: Self::dismantle,
        }
    }

    /// Visits one node of a retired subtree.
    ///
    /// # Safety
    /// The frame's node is of this index and its subtree is retired and not freed yet.
    unsafe fn dismantle(frame: Frame, below: &mut Vec<Frame>, visit: &mut dyn FnMut(Block)) {
        if frame.height > 0 {
            // SAFETY: as the caller says; above height 0 there are inner nodes only.
            let inner = unsafe { Inner::<K>::new(frame.node) };
            for (at, &node) in inner.children().iter().enumerate() {
                below.push(Frame {
                    node,
                    height: frame.height - 1,
                    entries: inner.extent(at, frame.entries).len(),
                });
            }
        } else if S::HAS_PAYLOAD {
            // SAFETY: as the caller says; the counts give the leaf's length.
            let leaf = unsafe { Leaf::<K, S>::new(frame.node, frame.entries) };
            leaf.slots()
                .iter()
                .filter_map(Slot::payload)
                .for_each(&mut *visit);
        }
        visit(frame.node);
    }
}

macro_rules! roots_of_tuples {
    ($(($($key:ident $slot:ident $at:tt),+);)+) => {$(
        // SAFETY: `subtrees` names the whole of each index; `grown` copies nothing else.
        unsafe impl<$($key: Key, $slot: Slot),+> Roots for ($(Root<$key, $slot>,)+) {
            const GROWS: bool = [$($at),+].len() == 1;

            fn empty() -> Self {
                ($(Root::<$key, $slot>::EMPTY,)+)
            }

            #[inline]
            unsafe fn grown(&self, entries: usize) -> Self {
                ($(self.$at.grown(entries),)+)
            }

            fn last_payloads(&self, entries: usize, mut visit: impl FnMut(Block)) {
                $(self.$at.last_payloads(entries, &mut visit);)+
            }

            #[inline]
            fn tops(&self) -> [Option<*mut u8>; INDEXES] {
                let all = [$(self.$at.top.map(|top| top.node.address().cast_mut())),+];
                std::array::from_fn(|at| all.get(at).copied().flatten())
            }

            fn subtrees(&self) -> Vec<Subtree> {
                [$(self.$at.subtree()),+].into_iter().flatten().collect()
            }
        }
    )+};
}

roots_of_tuples! {
    (K0 S0 0);
    (K0 S0 0, K1 S1 1);
    (K0 S0 0, K1 S1 1, K2 S2 2);
    (K0 S0 0, K1 S1 1, K2 S2 2, K3 S3 3);
    (K0 S0 0, K1 S1 1, K2 S2 2, K3 S3 3, K4 S4 4, K5 S5 5);
}
