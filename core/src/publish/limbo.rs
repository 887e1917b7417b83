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

    use crate::sync::{epoch, Arc, AtomicBool, AtomicPtr, AtomicU64, Ordering};

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
        /// How many batches are in the list, and how many of them are ripe. Hints: they order nothing.
        waiting: AtomicU64,
        ripened: AtomicU64,
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
        let ripen = place.keep(work);
        guard.defer(ripen);
        // An idle thread would keep a deferred call to itself for ever.
        guard.flush();
        place.sweep_if_worth_it();
    }

    /// Does what is due for all threads.
    pub(in crate::publish) fn scavenge() {
        for place in places() {
            place.sweep();
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
                batches: AtomicPtr::new(ptr::null_mut()),
                waiting: AtomicU64::new(0),
                ripened: AtomicU64::new(0),
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
            let new = Box::leak(Box::new(Self::new()));
            let mut first = PLACES.load(Ordering::Acquire);
            loop {
                // SAFETY: places are never freed.
                new.next = unsafe { first.as_ref() };
                let address = ptr::from_mut(new);
                // Release: pairs with the Acquire in `places`; Acquire: the place before it is complete.
                match PLACES.compare_exchange(first, address, Ordering::Release, Ordering::Acquire)
                {
                    Ok(_) => return new,
                    Err(newer) => first = newer,
                }
            }
        }

        /// The place of any thread.
        fn any() -> &'static Self {
            places().next().unwrap_or_else(Self::add)
        }

        /// Keeps `work`; what is answered is to be called when it may be done.
        fn keep(
            &'static self,
            work: impl FnOnce() + Send + 'static,
        ) -> impl FnOnce() + Send + 'static {
            let ripe = Arc::new(AtomicBool::new(false));
            let batch = Batch {
                ripe: Arc::clone(&ripe),
                work: Box::new(work),
                next: ptr::null_mut(),
            };
            self.waiting.fetch_add(1, Ordering::Relaxed);
            self.push(Box::into_raw(Box::new(batch)));
            move || {
                // Counted first, so that no sweep does what is not counted.
                self.ripened.fetch_add(1, Ordering::Relaxed);
                // Release: pairs with the Acquire in `sweep`; the reads of those who were pinned come before.
                ripe.store(true, Ordering::Release);
            }
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

        /// Sweeps when half of what waits is ripe, so that each batch is looked at twice or so: behind a
        /// reader that stays pinned the list is long, and nothing in it is ripe. Answers as `sweep`.
        fn sweep_if_worth_it(&self) -> u64 {
            let ripened = self.ripened.load(Ordering::Relaxed);
            match ripened > 0 && ripened * 2 >= self.waiting.load(Ordering::Relaxed) {
                true => self.sweep(),
                false => 0,
            }
        }

        /// Does the work that is due. The list is taken whole, so each batch has one taker. Answers how
        /// many batches were looked at.
        fn sweep(&self) -> u64 {
            // Acquire: pairs with the Release in `push`.
            let mut next = self.batches.swap(ptr::null_mut(), Ordering::Acquire);
            let mut seen = 0;
            while !next.is_null() {
                let batch = next;
                seen += 1;
                // SAFETY: batches come from `Box::into_raw`; the swap made this thread their owner.
                unsafe {
                    next = (*batch).next;
                    if (*batch).ripe.load(Ordering::Acquire) {
                        self.ripened.fetch_sub(1, Ordering::Relaxed);
                        self.waiting.fetch_sub(1, Ordering::Relaxed);
                        (Box::from_raw(batch).work)();
                    } else {
                        self.push(batch);
                    }
                }
            }
            seen
        }
    }

    #[cfg(test)]
    mod tests {
        use std::sync::LazyLock;

        use super::*;

        const BATCHES: u64 = 1000;

        #[test]
        fn batches_behind_a_stalled_reader_are_not_looked_at() {
            static PLACE: LazyLock<Limbo> = LazyLock::new(Limbo::new);
            let (place, done) = (&*PLACE, Arc::new(AtomicU64::new(0)));
            let mut ripen = Vec::new();
            for _ in 0..BATCHES {
                let done = Arc::clone(&done);
                ripen.push(place.keep(move || {
                    done.fetch_add(1, Ordering::Relaxed);
                }));
                assert_eq!(place.sweep_if_worth_it(), 0);
            }
            let mut seen = 0;
            for ripen in ripen {
                ripen();
                seen += place.sweep_if_worth_it();
            }
            assert_eq!(done.load(Ordering::Relaxed), BATCHES);
            assert!(seen <= 2 * BATCHES, "{seen} looks at {BATCHES} batches");
        }

        #[test]
        fn a_sweep_does_what_is_ripe_and_keeps_the_rest() {
            static PLACE: LazyLock<Limbo> = LazyLock::new(Limbo::new);
            let (place, done) = (&*PLACE, Arc::new(AtomicU64::new(0)));
            let keep = |bit: u32| {
                let done = Arc::clone(&done);
                place.keep(move || {
                    done.fetch_add(1 << bit, Ordering::Relaxed);
                })
            };
            let (first, second, third) = (keep(0), keep(1), keep(2));
            second();
            assert_eq!(place.sweep(), 3);
            assert_eq!(done.load(Ordering::Relaxed), 0b010);
            third();
            assert_eq!(place.sweep_if_worth_it(), 2);
            assert_eq!(done.load(Ordering::Relaxed), 0b110);
            assert_eq!(place.sweep_if_worth_it(), 0);
            first();
            assert_eq!(place.sweep_if_worth_it(), 1);
            assert_eq!(done.load(Ordering::Relaxed), 0b111);
        }
    }
}
