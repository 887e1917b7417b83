//! Limbo: garbage that waits for its grace period, kept by the thread that retired it.
//!
//! Whoever collects may run what crossbeam-epoch defers, so with two writers each would free, and then
//! use again, memory that is in the other's cache: two threads on two stores were no faster than one.
//! Therefore the deferred call only says that the grace period is over, and the thread that retired
//! the garbage frees it when it next comes by. For threads that do not come by any more, the background
//! thread does ([`scavenge`]).
#![allow(unsafe_code)] // owns the lists of batches and of threads

#[cfg(not(loom))]
pub(super) use implementation::{retire, scavenge};

/// Under loom the deferred call frees: models have no idle threads and no caches.
#[cfg(loom)]
pub(super) fn retire(guard: &crate::sync::epoch::Guard, work: impl FnOnce() + Send + 'static) {
    guard.defer(work);
    guard.flush();
}

#[cfg(not(loom))]
mod implementation {
    use std::ptr;

    use crate::sync::{epoch, Arc, AtomicBool, AtomicPtr, Ordering};

    type Work = Box<dyn FnOnce() + Send>;

    /// What one hand-over left behind.
    struct Batch {
        /// Set when the grace period is over.
        ripe: Arc<AtomicBool>,
        work: Work,
        next: *mut Batch,
    }

    /// The batches of one thread.
    struct Limbo {
        batches: AtomicPtr<Batch>,
        /// Whether a running thread adds to it.
        owned: AtomicBool,
        next: *mut Limbo,
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
        let ripe = Arc::new(AtomicBool::new(false));
        let batch = Batch {
            ripe: Arc::clone(&ripe),
            work: Box::new(work),
            next: ptr::null_mut(),
        };
        // Release: pairs with the Acquire in `sweep`; the reads of those who were pinned come before.
        guard.defer(move || ripe.store(true, Ordering::Release));
        // An idle thread would keep a deferred call to itself for ever.
        guard.flush();
        let place = MINE.try_with(|mine| mine.0);
        // A thread that is ending leaves its batches in a place of somebody else's, where they are as
        // good as anywhere.
        let place = place.unwrap_or_else(|_| Limbo::any());
        place.push(Box::into_raw(Box::new(batch)));
        place.sweep();
    }

    /// Does what is due for all threads.
    pub(in crate::publish) fn scavenge() {
        let mut place = PLACES.load(Ordering::Acquire);
        // SAFETY: places are never freed.
        while let Some(limbo) = unsafe { place.as_ref() } {
            limbo.sweep();
            place = limbo.next;
        }
    }

    impl Limbo {
        /// A place for the calling thread.
        fn adopt() -> &'static Self {
            // Acquire: pairs with the Release below; a place is complete before it is found.
            let mut place = PLACES.load(Ordering::Acquire);
            // SAFETY: places are never freed.
            while let Some(limbo) = unsafe { place.as_ref() } {
                if !limbo.owned.swap(true, Ordering::Acquire) {
                    return limbo;
                }
                place = limbo.next;
            }
            Self::add()
        }

        fn add() -> &'static Self {
            let new = Box::leak(Box::new(Self {
                batches: AtomicPtr::new(ptr::null_mut()),
                owned: AtomicBool::new(true),
                next: PLACES.load(Ordering::Relaxed),
            }));
            loop {
                let (first, address) = (new.next, ptr::from_mut(new));
                // Release: pairs with the Acquire of those who walk the list.
                match PLACES.compare_exchange(first, address, Ordering::Release, Ordering::Relaxed)
                {
                    Ok(_) => return new,
                    Err(newer) => new.next = newer,
                }
            }
        }

        /// The place of any thread.
        fn any() -> &'static Self {
            // SAFETY: places are never freed.
            let first = unsafe { PLACES.load(Ordering::Acquire).as_ref() };
            first.unwrap_or_else(Self::add)
        }

        fn push(&self, batch: *mut Batch) {
            let mut first = self.batches.load(Ordering::Relaxed);
            loop {
                // SAFETY: ours until the exchange below succeeds.
                unsafe { (*batch).next = first };
                // Release: pairs with the Acquire in `sweep`, which reads the batch.
                match self.batches.compare_exchange_weak(
                    first,
                    batch,
                    Ordering::Release,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => return,
                    Err(newer) => first = newer,
                }
            }
        }

        /// Does the work that is due. The list is taken whole, so each batch has one taker.
        fn sweep(&self) {
            // Acquire: pairs with the Release in `push`.
            let mut next = self.batches.swap(ptr::null_mut(), Ordering::Acquire);
            while !next.is_null() {
                let batch = next;
                // SAFETY: batches come from `Box::into_raw`; the swap made this thread their owner.
                unsafe {
                    next = (*batch).next;
                    if (*batch).ripe.load(Ordering::Acquire) {
                        (Box::from_raw(batch).work)();
                    } else {
                        self.push(batch);
                    }
                }
            }
        }
    }
}
