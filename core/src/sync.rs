//! The one door to shared-memory primitives: the standard library's, or loom's when a model is checked.
//!
//! Nothing else in this crate names `std::sync::atomic`, `crossbeam_epoch` or `loom`
//! (`tests/layers.rs` asserts it), so a model run with `--cfg loom` sees every atomic access that the
//! real program makes.

#[cfg(not(loom))]
pub(crate) use std::sync::{
    atomic::{AtomicBool, AtomicPtr, AtomicU16, AtomicU64, Ordering},
    Arc,
};

#[cfg(loom)]
pub(crate) use loom::sync::{
    atomic::{AtomicBool, AtomicPtr, AtomicU16, AtomicU64, Ordering},
    Arc,
};

#[cfg(loom)]
pub(crate) use loom::thread::yield_now;

#[cfg(loom)]
mod loom_model;

#[cfg(loom)]
pub(crate) use loom_model::{epoch, race};

pub(crate) use race::{bury, Race};

/// Epoch-based reclamation: who reads now, and what may be freed after them.
///
/// The collector is this crate's own. Nobody else's readers hold its garbage up, and nobody else's
/// garbage, whose destructors may panic, is collected in the middle of a publication.
#[cfg(not(loom))]
pub(crate) mod epoch {
    use std::sync::LazyLock;

    use crossbeam_epoch::{Collector, LocalHandle};

    pub(crate) use crossbeam_epoch::Guard;

    static COLLECTOR: LazyLock<Collector> = LazyLock::new(Collector::new);

    thread_local! {
        static THREAD: LocalHandle = COLLECTOR.register();
    }

    /// Pins the calling thread; one that is ending, too.
    #[inline]
    pub(crate) fn pin() -> Guard {
        let pinned = THREAD.try_with(LocalHandle::pin);
        pinned.unwrap_or_else(|_| COLLECTOR.register().pin())
    }
}

/// A witness of plain (non-atomic) accesses to one piece of memory.
///
/// Under loom each call is checked against every other thread's: a write, or a free, that is not
/// ordered after an earlier read fails the model. In the real program it is nothing.
#[cfg(not(loom))]
mod race {
    pub(crate) struct Race;

    impl Race {
        pub(crate) fn new(_slots: usize) -> Self {
            Self
        }

        #[inline(always)]
        pub(crate) fn read(&self, _slots: std::ops::Range<usize>) {}

        #[inline(always)]
        pub(crate) fn write(&self, _slot: usize) {}

        #[inline(always)]
        pub(crate) fn free(&self) {}
    }

    /// Gives memory back. Under loom this is put off, so that a witness in the memory can still tell of
    /// a late access.
    #[inline(always)]
    pub(crate) fn bury(free: impl FnOnce()) {
        free();
    }
}
