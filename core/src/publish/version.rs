//! Versions: immutable records of a store's roots, each linked to what it replaced.
#![allow(unsafe_code)] // owns the chain of replaced versions and frees it

use std::ptr::NonNull;

use crate::sync::Race;

use super::block::Block;
use super::edit::Blocks;
use super::pool;
use super::tally::Tally;

/// The roots of all indexes of one store, as one value.
///
/// # Safety
/// `duplicate` and `subtrees` name every node that is reachable from the roots, and nothing else.
pub(crate) unsafe trait Roots: Send + Sync + Sized + 'static {
    /// Roots of empty indexes.
    fn empty() -> Self;

    /// A second name for the same roots.
    ///
    /// # Safety
    /// The copy is used only where the original's version is protected: by an epoch guard taken
    /// before the original was read, or by a registered snapshot.
    unsafe fn duplicate(&self) -> Self;

    /// Everything below the roots, to be retired when a store closes.
    fn subtrees(&self) -> Vec<super::reclaim::Subtree>;
}

/// One published moment of a store.
pub(crate) struct Version<R> {
    /// Counts publications, from 1; the store's only clock.
    pub(crate) number: u64,
    pub(crate) roots: R,
    /// Everything that was ever published in this store up to this version.
    pub(crate) born: Tally,
    /// Bytes waiting in the chain of versions below.
    pub(crate) limbo: u64,
    /// Bytes handed to the reclaimer so far, cut subtrees not counted.
    pub(crate) handed_over: u64,
    /// The version that this one replaced, if it has not been handed to the reclaimer yet: the list
    /// of garbage is the chain of versions itself, so retiring costs no atomic operation of its own.
    pub(crate) previous: *mut Version<R>,
    /// The blocks that this version no longer reaches.
    pub(crate) replaced: Blocks,
    /// Where loom watches the record.
    pub(crate) race: Race,
}

// SAFETY: a version is immutable after publication and its pointers are only followed by whoever owns
// the chain (the reclaimer, after a grace period) or is protected from it.
unsafe impl<R: Send> Send for Version<R> {}
// SAFETY: as above.
unsafe impl<R: Sync> Sync for Version<R> {}

impl<R> Version<R> {
    /// The bytes of a version's own record.
    pub(crate) const BYTES: usize = pool::rounded(size_of::<Self>());

    /// Moves the record to the heap.
    pub(crate) fn into_raw(self) -> *mut Self {
        const { assert!(align_of::<Self>() <= pool::GRAIN) };
        let memory = pool::allocate(size_of::<Self>()).cast::<Self>();
        // SAFETY: new memory of this size, aligned to a grain.
        unsafe { memory.write(self) };
        memory.as_ptr()
    }

    /// Takes the record back, and frees its memory. The record does not own the blocks that it names.
    ///
    /// # Safety
    /// `record` comes from `into_raw` and nobody else reads it any more.
    pub(crate) unsafe fn from_raw(record: *mut Self) -> Self {
        // SAFETY: as the caller says.
        unsafe {
            (*record).race.free();
            let version = record.read();
            pool::release(NonNull::new_unchecked(record).cast(), size_of::<Self>());
            version
        }
    }
}

/// Replaced versions, newest first, owned by whoever frees them.
pub(crate) struct Chain<R>(pub(crate) *mut Version<R>);

// SAFETY: the chain is owned: it was unlinked by the one publication that took it over.
unsafe impl<R: Send> Send for Chain<R> {}

impl<R> Chain<R> {
    /// Takes the chain apart: `visit` gets each block with the number of the version that replaced it.
    /// Returns the version records freed.
    ///
    /// # Safety
    /// A grace period has passed since the chain was unlinked, so nobody reads its records.
    pub(crate) unsafe fn dismantle(self, mut visit: impl FnMut(Block, u64)) -> Tally {
        let mut freed = Tally::default();
        let mut next = self.0;
        while !next.is_null() {
            // SAFETY: the records of a chain are owned by it alone.
            let version = unsafe { Version::from_raw(next) };
            for &block in &version.replaced {
                visit(block, version.number);
            }
            freed.versions += 1;
            freed.bytes += Version::<R>::BYTES as u64;
            next = version.previous;
        }
        freed
    }
}
