//! Limbo: garbage that waits for its grace period, kept by the thread that retired it.
//!
//! Whoever collects may run what crossbeam-epoch defers, so with two writers each would free, and then
//! use again, memory that is in the other's cache: two threads on two stores were no faster than one.
//! Therefore the deferred call only says that the grace period is over, and the thread that retired
//! the garbage frees it when it next comes by. For threads that do not come by any more, the background
//! thread does ([`scavenge`]).
#![allow(unsafe_code)] // owns the list of threads

#[cfg(not(loom))]
pub(super) use implementation::{retire, scavenge};

/// Under loom the deferred call frees: models have no idle threads and no caches, and a list of all
/// threads that ever were does not end with a model. The lists of batches have models of their own.
#[cfg(loom)]
pub(super) fn retire(guard: &crate::sync::epoch::Guard, work: impl FnOnce() + Send + 'static) {
    guard.defer(work);
    guard.flush();
}

#[cfg(not(loom))]
mod implementation {
    use std::ptr;

    use super::super::batches::Batches;
    use crate::sync::{epoch, AtomicBool, AtomicPtr, Ordering};

    /// The batches of one thread.
    struct Limbo {
        batches: Batches,
        /// Whether a running thread adds to it.
        owned: AtomicBool,
        next: Option<&'static Limbo>,
    }

    /// All that there ever were; a new thread takes over the place of one that ended.
    static PLACES: AtomicPtr<Limbo> = AtomicPtr::new(ptr::null_mut());

    thread_local! {
        static MINE: Mine = Mine(Limbo::adopt());
    }

    struct Mine(&'static Limbo);

    impl Drop for Mine {
        fn drop(&mut self) {
            // Release: pairs with the Acquire in `adopt`; the next owner comes after this one.
            self.0.owned.store(false, Ordering::Release);
        }
    }

    /// Keeps `work` until every thread that is pinned now has unpinned, and does what is due of earlier
    /// calls.
    pub(in crate::publish) fn retire(guard: &epoch::Guard, work: impl FnOnce() + Send + 'static) {
        let place = MINE.try_with(|mine| mine.0);
        // A thread that is ending leaves its batches in a place of somebody else's, where they are as
        // good as anywhere.
        let place = place.unwrap_or_else(|_| Limbo::any());
        let ripen = place.batches.keep(work);
        guard.defer(ripen);
        // An idle thread would keep a deferred call to itself for ever.
        guard.flush();
        place.batches.sweep_if_worth_it();
    }

    /// Does what is due for all threads.
    pub(in crate::publish) fn scavenge() {
        for place in places() {
            place.batches.sweep();
        }
    }

    fn places() -> impl Iterator<Item = &'static Limbo> {
        // Acquire: pairs with the Release in `add`; a place is complete before it is found.
        let first = PLACES.load(Ordering::Acquire);
        // SAFETY: places are never freed.
        let first: Option<&Limbo> = unsafe { first.as_ref() };
        std::iter::successors(first, |place| place.next)
    }

    impl Limbo {
        fn new() -> Self {
            Self {
                batches: Batches::new(),
                owned: AtomicBool::new(true),
                next: None,
            }
        }

        /// A place for the calling thread.
        fn adopt() -> &'static Self {
            // Acquire: pairs with the Release in `Mine::drop`.
            let free = places().find(|place| !place.owned.swap(true, Ordering::Acquire));
            free.unwrap_or_else(Self::add)
        }

        fn add() -> &'static Self {
            let new = Box::into_raw(Box::new(Self::new()));
            let mut first = PLACES.load(Ordering::Acquire);
            loop {
                // SAFETY: ours until the exchange below succeeds; places are never freed.
                unsafe { (*new).next = first.as_ref() };
                // Release: pairs with the Acquire in `places`; Acquire: the place before it is complete.
                match PLACES.compare_exchange(first, new, Ordering::Release, Ordering::Acquire) {
                    // SAFETY: never freed.
                    Ok(_) => return unsafe { &*new },
                    Err(newer) => first = newer,
                }
            }
        }

        /// The place of any thread.
        fn any() -> &'static Self {
            places().next().unwrap_or_else(Self::add)
        }
    }
}
