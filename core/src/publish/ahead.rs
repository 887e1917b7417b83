//! Where the top nodes are: a hint beside the pointer to the version.
//!
//! After a change by another core, a reader waits for the pointer, then for the version, then for the
//! top node, each of which is in that core's cache. With the hint it waits for the version and the top
//! node together.

pub(super) use implementation::Ahead;

/// Indexes whose top nodes are told: those that nearly every read begins with.
pub(crate) const INDEXES: usize = 2;

#[cfg(not(loom))]
mod implementation {
    use std::ptr;

    use crate::prefetch;
    use crate::sync::{AtomicPtr, Ordering};

    use super::INDEXES;

    /// What is asked for of a top node, in bytes: most have not many children.
    const START: usize = 640;

    /// The top nodes of a version that was published not long ago. They may be freed already: whoever
    /// asks for them does not read them.
    pub(in crate::publish) struct Ahead([AtomicPtr<u8>; INDEXES]);

    impl Ahead {
        pub(in crate::publish) fn new() -> Self {
            Self([const { AtomicPtr::new(ptr::null_mut()) }; INDEXES])
        }

        /// Tells the top nodes of a new version, of the indexes that have entries.
        #[inline]
        pub(in crate::publish) fn tell(&self, tops: [Option<*mut u8>; INDEXES]) {
            for (told, top) in self.0.iter().zip(tops) {
                if let Some(top) = top {
                    told.store(top, Ordering::Relaxed);
                }
            }
        }

        /// Asks the memory for the top nodes.
        #[inline]
        pub(in crate::publish) fn ask(&self) {
            for told in &self.0 {
                let top = told.load(Ordering::Relaxed);
                // The address 0 has no page, and would be searched for each time.
                if !top.is_null() {
                    prefetch::lines(top, START);
                }
            }
        }
    }
}

/// A hint that orders nothing is nothing to a model.
#[cfg(loom)]
mod implementation {
    pub(in crate::publish) struct Ahead;

    impl Ahead {
        pub(in crate::publish) fn new() -> Self {
            Self
        }

        pub(in crate::publish) fn tell(&self, _tops: [Option<*mut u8>; super::INDEXES]) {}

        pub(in crate::publish) fn ask(&self) {}
    }
}
