//! One attempt at a change: what it made, what it replaces, and how to take it back.
#![allow(unsafe_code)] // owns the unpublished blocks of an attempt and frees them when it is lost

use smallvec::SmallVec;

use super::block::{Block, Kind};
use super::reclaim::Subtree;
use super::tally::Tally;

/// The blocks of a path from root to leaf in each of three indexes of a million rows.
pub(crate) type Blocks = SmallVec<[Block; 16]>;

/// A change being prepared against one version.
///
/// Blocks made here are private until the publication succeeds; if it fails they are freed and the
/// change is prepared again against the newer version.
pub(crate) struct Edit {
    /// The version that the change will be published as.
    birth: u64,
    made: Blocks,
    /// Blocks of older versions that this change leaves out of the new one.
    replaced: Blocks,
    /// The same for whole subtrees, which are walked when they are freed and not before.
    cut: Vec<Subtree>,
    /// What the new version has beyond the old one, if it is published.
    tally: Tally,
    replaced_bytes: usize,
    /// Blocks among `made` that the change itself has replaced again.
    stillborn: Blocks,
    /// Tail slots owned since an earlier attempt of the same change.
    claims: SmallVec<[(Block, usize); 2]>,
    /// Entries that this attempt wrote into tail slots.
    appended: usize,
}

impl Edit {
    pub(crate) fn new() -> Self {
        Self {
            birth: 0,
            made: Blocks::new(),
            replaced: Blocks::new(),
            cut: Vec::new(),
            tally: Tally::default(),
            replaced_bytes: 0,
            stillborn: Blocks::new(),
            claims: SmallVec::new(),
            appended: 0,
        }
    }

    /// Starts an attempt whose version, if it is published, will be `birth`.
    pub(crate) fn begin(&mut self, birth: u64) {
        debug_assert!(self.made.is_empty() && self.replaced.is_empty() && self.cut.is_empty());
        self.birth = birth;
    }

    /// Allocates a node of this attempt.
    pub(crate) fn allocate(
        &mut self,
        kind: Kind,
        width: usize,
        filled: usize,
        bytes: usize,
    ) -> Block {
        let block = Block::allocate(kind, width, filled, bytes);
        // SAFETY: just made, nobody else has it.
        unsafe { block.set_birth(self.birth) };
        self.tally.add_block(block);
        self.made.push(block);
        block
    }

    /// Makes a payload part of this attempt. Its owner keeps it if the attempt is lost.
    pub(crate) fn adopt(&mut self, payload: Block) {
        // SAFETY: a staged payload has one owner, who is preparing this very change.
        unsafe { payload.set_birth(self.birth) };
        self.tally.add_block(payload);
    }

    /// Leaves a block out of the new version.
    pub(crate) fn retire(&mut self, block: Block) {
        if block.birth() == self.birth && matches!(block.kind(), Kind::Leaf | Kind::Inner) {
            self.stillborn.push(block);
        } else {
            self.replaced_bytes = self.replaced_bytes.saturating_add(block.weight());
            self.replaced.push(block);
        }
    }

    /// Leaves a whole subtree of the old version out of the new one, in constant time.
    pub(crate) fn retire_subtree(&mut self, subtree: Subtree) {
        self.cut.push(subtree);
    }

    /// Tries to own slot `slot` of a tail leaf, whose published length is `slot`.
    #[inline]
    pub(crate) fn claim(&mut self, leaf: Block, slot: usize) -> bool {
        // An earlier attempt of this change may own the slot already; a published leaf cannot have been
        // freed and made again in between, because the attempts share one epoch guard. A leaf of this
        // attempt can, so what is claimed there is not remembered.
        let owned = (!self.claims.is_empty() && self.claims.contains(&(leaf, slot))) || {
            let won = leaf.claim(slot);
            if won && leaf.birth() != self.birth {
                self.claims.push((leaf, slot));
            }
            won
        };
        self.appended += usize::from(owned);
        owned
    }

    /// How many entries the change appends in place, if it does nothing else.
    #[inline]
    pub(crate) fn only_appends(&self) -> Option<usize> {
        let only = self.made.is_empty() && self.replaced.is_empty() && self.cut.is_empty();
        (only && self.appended > 0).then_some(self.appended)
    }

    /// Forgets the slots owned: called when the epoch guard is renewed.
    pub(crate) fn forget_claims(&mut self) {
        self.claims.clear();
    }

    /// Bytes that this change leaves to the reclaimer, cut subtrees not counted.
    pub(crate) fn replaced_bytes(&self) -> usize {
        self.replaced_bytes
    }

    pub(crate) fn has_cut(&self) -> bool {
        !self.cut.is_empty()
    }

    /// What the new version adds. Blocks made and replaced again in the same change do not count.
    pub(crate) fn tally(&self) -> Tally {
        let mut stillborn = Tally::default();
        for &block in &self.stillborn {
            stillborn.add_block(block);
        }
        self.tally.minus(stillborn)
    }

    /// Hands over what the change replaced; called when the change is about to be published.
    pub(crate) fn take_replaced(&mut self) -> Blocks {
        std::mem::take(&mut self.replaced)
    }

    pub(crate) fn take_cut(&mut self) -> Vec<Subtree> {
        std::mem::take(&mut self.cut)
    }

    /// The change is published: its blocks belong to the version now.
    pub(crate) fn commit(&mut self) {
        self.made.clear();
        self.made.append(&mut self.stillborn);
        self.discard();
    }

    /// The attempt is lost or not wanted: frees what it made.
    #[inline]
    pub(crate) fn discard(&mut self) {
        if !self.made.is_empty() {
            self.free_made();
        }
        self.stillborn.clear();
        self.replaced.clear();
        self.cut.clear();
        self.tally = Tally::default();
        self.replaced_bytes = 0;
        self.appended = 0;
    }
}

impl Edit {
    fn free_made(&mut self) {
        for block in self.made.drain(..) {
            // SAFETY: made by this attempt and never published.
            unsafe { block.free() };
        }
    }
}

impl Drop for Edit {
    fn drop(&mut self) {
        self.discard();
    }
}
