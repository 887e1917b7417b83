//! Growth: how a version of one index takes appends in place.
//!
//! An ascending key needs no version of its own. Whoever owns the next slot of the rightmost leaf writes
//! it and then counts it here, in the version that is current. Readers add the count to the lengths that
//! the version's root gives. Whoever publishes another version first seals the growth of the one that
//! it replaces, so that this is whole in its successor and never grows again: each pair of a version and
//! a growth was the state of the store at some moment.

use crate::sync::{AtomicU64, Ordering};

/// The growth is final.
const SEALED: u64 = 1;
/// One entry.
const ENTRY: u64 = 2;

/// How many entries were appended to a version in place, and whether more may be.
pub(crate) struct Growth(AtomicU64);

/// A look at a growth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grown(u64);

impl Grown {
    /// Entries appended.
    #[inline]
    pub(crate) fn entries(self) -> usize {
        (self.0 / ENTRY) as usize
    }

    #[inline]
    pub(crate) fn is_sealed(self) -> bool {
        self.0 & SEALED != 0
    }
}

impl Growth {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    #[inline]
    pub(crate) fn get(&self) -> Grown {
        // Acquire: pairs with the Release in `add`; the slots that the count covers are seen as written.
        Grown(self.0.load(Ordering::Acquire))
    }

    /// Counts `entries` more, which the caller has written behind those that it has `seen`. Answers
    /// whether it did: not if the growth was sealed meanwhile.
    #[inline]
    pub(crate) fn add(&self, seen: Grown, entries: usize) -> bool {
        debug_assert!(!seen.is_sealed());
        // Release: pairs with the Acquire in `get` and `seal`. Relaxed on failure: nothing is read then.
        self.0
            .compare_exchange(
                seen.0,
                seen.0 + entries as u64 * ENTRY,
                Ordering::Release,
                Ordering::Relaxed,
            )
            .is_ok()
    }

    /// Seals the growth if it is as it was `seen`. Answers whether it is sealed so, by whomever.
    #[inline]
    pub(crate) fn seal_at(&self, seen: Grown) -> bool {
        let sealed = Grown(seen.0 | SEALED);
        // Relaxed: what the count covers was seen when it was read, and who finds the seal looks at
        // nothing that the sealer wrote. An exchange passes on the Release of the `add` before it.
        seen.is_sealed()
            || match self
                .0
                .compare_exchange(seen.0, sealed.0, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => true,
                Err(found) => Grown(found) == sealed,
            }
    }

    /// Seals the growth as it is.
    pub(crate) fn seal(&self) -> Grown {
        // Acquire: as in `get`.
        Grown(self.0.fetch_or(SEALED, Ordering::Acquire) | SEALED)
    }
}
