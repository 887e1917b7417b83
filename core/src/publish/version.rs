//! Versions: immutable records of a store's roots, each linked to what it replaced.
#![allow(unsafe_code)] // owns the chain of replaced versions and frees it

use std::ptr::{self, NonNull};

use crate::sync::Race;

use super::ahead::INDEXES;
use super::block::Block;
use super::growth::{Grown, Growth};
use super::pool;
use super::tally::Tally;

/// The roots of all indexes of one store, as one value.
///
/// # Safety
/// `grown` and `subtrees` name every node that is reachable from the roots, and nothing else.
pub(crate) unsafe trait Roots: Send + Sync + Sized + 'static {
    /// Whether these are the roots of one index, whose versions grow in place: the entries of several
    /// must come at once.
    const GROWS: bool;

    /// Roots of empty indexes.
    fn empty() -> Self;

    /// The same roots, after `entries` were appended in place.
    ///
    /// # Safety
    /// That many were: the version's growth says so. What is answered is used only where the version
    /// is protected: by an epoch guard taken before it was found, or by a registered snapshot.
    unsafe fn grown(&self, entries: usize) -> Self;

    /// Visits the payloads of the last `entries` entries, which are in the rightmost leaf.
    fn last_payloads(&self, entries: usize, visit: impl FnMut(Block));

    /// Where the top nodes of the first indexes are, of those that have entries.
    fn tops(&self) -> [Option<*mut u8>; INDEXES];

    /// Everything below the roots, to be retired when a store closes.
    fn subtrees(&self) -> Vec<super::reclaim::Subtree>;
}

/// One published state of a store. The blocks that it no longer reaches follow the record in memory:
/// an append to several indexes has none, and its record is a few cache lines.
pub(crate) struct Version<R> {
    /// Counts publications, from 1; the store's only clock.
    pub(crate) number: u64,
    pub(crate) roots: R,
    /// Everything that was ever published in this store up to this version.
    pub(crate) born: Tally,
    /// Bytes handed to the reclaimer so far, cut subtrees not counted.
    pub(crate) handed_over: u64,
    /// Bytes waiting in the chain of versions below.
    pub(crate) limbo: u32,
    /// How many blocks follow.
    pub(crate) replaced: u32,
    /// The version that this one replaced, if it has not been handed to the reclaimer yet: the list
    /// of garbage is the chain of versions itself, so retiring costs no atomic operation of its own.
    pub(crate) previous: *mut Version<R>,
    /// What was appended in place since.
    pub(crate) growth: Growth,
    /// Where loom watches the record.
    pub(crate) race: Race,
}

// SAFETY: but for its growth a version is immutable after publication, and its pointers are only followed by whoever owns
// the chain (the reclaimer, after a grace period) or is protected from it.
unsafe impl<R: Send> Send for Version<R> {}
// SAFETY: as above.
unsafe impl<R: Sync> Sync for Version<R> {}

impl<R: Roots> Version<R> {
    /// The roots, with what was appended in place.
    ///
    /// # Safety
    /// As for [`Roots::grown`]; `grown` was read from this version's growth.
    #[inline]
    pub(crate) unsafe fn roots(&self, grown: Grown) -> R {
        // SAFETY: as the caller says.
        unsafe { self.roots.grown(grown.entries()) }
    }

    /// Everything that was published in this store up to this version and what was appended to it.
    ///
    /// # Safety
    /// As for [`roots`](Self::roots).
    pub(crate) unsafe fn born(&self, grown: Grown) -> Tally {
        let mut born = self.born;
        if grown.entries() > 0 {
            // SAFETY: as the caller says.
            let roots = unsafe { self.roots(grown) };
            roots.last_payloads(grown.entries(), |payload| born.add_block(payload));
        }
        born
    }
}

impl<R> Version<R> {
    const BLOCKS: usize = size_of::<Self>().next_multiple_of(align_of::<Block>());

    /// The bytes of a record that `replaced` blocks follow.
    pub(crate) const fn bytes(replaced: usize) -> usize {
        pool::rounded(Self::BLOCKS + replaced * size_of::<Block>())
    }

    /// Moves the record to the heap, with the blocks that it no longer reaches behind it.
    pub(crate) fn into_raw(mut self, replaced: &[Block]) -> *mut Self {
        const { assert!(align_of::<Self>() <= pool::ALIGN) };
        let count = u32::try_from(replaced.len());
        self.replaced = count.expect("what is not handed over at once is little");
        let memory = pool::allocate(Self::bytes(replaced.len()));
        let record = memory.cast::<Self>();
        // SAFETY: new memory with room for both, aligned for any block.
        unsafe {
            let blocks = memory.add(Self::BLOCKS).cast::<Block>();
            ptr::copy_nonoverlapping(replaced.as_ptr(), blocks.as_ptr(), replaced.len());
            record.write(self);
        }
        record.as_ptr()
    }

    /// Frees the record's memory. It does not own the blocks that it names.
    ///
    /// # Safety
    /// `record` comes from `into_raw` and nobody else reads it any more.
    pub(crate) unsafe fn free(record: *mut Self) {
        // SAFETY: as the caller says.
        unsafe {
            (*record).race.free();
            let bytes = Self::bytes((*record).replaced as usize);
            record.drop_in_place();
            pool::release(NonNull::new_unchecked(record).cast(), bytes);
        }
    }

    /// The blocks that this version no longer reaches.
    ///
    /// # Safety
    /// `record` comes from `into_raw` and is not freed during `'a`.
    unsafe fn replaced<'a>(record: *const Self) -> &'a [Block] {
        // SAFETY: `into_raw` put them there.
        unsafe {
            let blocks = record.cast::<u8>().add(Self::BLOCKS).cast::<Block>();
            std::slice::from_raw_parts(blocks, (*record).replaced as usize)
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
            let record = next;
            // SAFETY: the records of a chain are owned by it alone; each is freed after its last use.
            unsafe {
                let replaced = Version::replaced(record);
                for &block in replaced {
                    visit(block, (*record).number);
                }
                freed.versions += 1;
                freed.bytes += Version::<R>::bytes(replaced.len()) as u64;
                next = (*record).previous;
                Version::free(record);
            }
        }
        freed
    }
}
