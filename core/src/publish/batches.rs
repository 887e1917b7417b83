//! Garbage that waits for its grace period: a list that many may add to and take from.
//!
//! Whoever keeps a batch is handed the call that says that its time has come, which any thread may make;
//! a sweep by any thread does what is ripe then.
#![allow(unsafe_code)] // owns the list of batches

use std::ptr;

use crate::sync::{Arc, AtomicBool, AtomicPtr, AtomicU64, Ordering, Race};

type Work = Box<dyn FnOnce() + Send>;

/// What one hand-over left behind.
struct Batch {
    /// Set when the grace period is over.
    ripe: Arc<AtomicBool>,
    work: Work,
    next: *mut Batch,
    /// Where loom watches the batch.
    race: Race,
}

/// Batches in no order.
pub(super) struct Batches {
    first: AtomicPtr<Batch>,
    /// How many batches are in the list, and how many of them are ripe. Hints: they order nothing.
    waiting: AtomicU64,
    ripened: AtomicU64,
}

impl Batches {
    pub(super) fn new() -> Self {
        Self {
            first: AtomicPtr::new(ptr::null_mut()),
            waiting: AtomicU64::new(0),
            ripened: AtomicU64::new(0),
        }
    }

    /// Keeps `work`; what is answered is to be called when it may be done.
    pub(super) fn keep(
        &'static self,
        work: impl FnOnce() + Send + 'static,
    ) -> impl FnOnce() + Send + 'static {
        let ripe = Arc::new(AtomicBool::new(false));
        let batch = Batch {
            ripe: Arc::clone(&ripe),
            work: Box::new(work),
            next: ptr::null_mut(),
            race: Race::new(1),
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
        let mut first = self.first.load(Ordering::Relaxed);
        loop {
            // SAFETY: ours until the exchange below succeeds.
            unsafe {
                (*batch).race.write(0);
                (*batch).next = first;
            }
            // Release: pairs with the Acquire in `sweep`, which reads the batch.
            match self.first.compare_exchange_weak(
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
    pub(super) fn sweep_if_worth_it(&self) -> u64 {
        let ripened = self.ripened.load(Ordering::Relaxed);
        match ripened > 0 && ripened * 2 >= self.waiting.load(Ordering::Relaxed) {
            true => self.sweep(),
            false => 0,
        }
    }

    /// Does the work that is due. The list is taken whole, so each batch has one taker. Answers how
    /// many batches were looked at.
    pub(super) fn sweep(&self) -> u64 {
        // Acquire: pairs with the Release in `push`.
        let mut next = self.first.swap(ptr::null_mut(), Ordering::Acquire);
        let mut seen = 0;
        while !next.is_null() {
            let batch = next;
            seen += 1;
            // SAFETY: batches come from `Box::into_raw`; the swap made this thread their owner.
            unsafe {
                (*batch).race.read(0..1);
                next = (*batch).next;
                // Acquire: pairs with the Release in `keep`.
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

#[cfg(all(test, loom))]
mod loom_models;

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    const BATCHES: u64 = 1000;

    #[test]
    fn batches_behind_a_stalled_reader_are_not_looked_at() {
        static KEPT: LazyLock<Batches> = LazyLock::new(Batches::new);
        let (batches, done) = (&*KEPT, Arc::new(AtomicU64::new(0)));
        let mut ripen = Vec::new();
        for _ in 0..BATCHES {
            let done = Arc::clone(&done);
            ripen.push(batches.keep(move || {
                done.fetch_add(1, Ordering::Relaxed);
            }));
            assert_eq!(batches.sweep_if_worth_it(), 0);
        }
        let mut seen = 0;
        for ripen in ripen {
            ripen();
            seen += batches.sweep_if_worth_it();
        }
        assert_eq!(done.load(Ordering::Relaxed), BATCHES);
        assert!(seen <= 2 * BATCHES, "{seen} looks at {BATCHES} batches");
    }

    #[test]
    fn a_sweep_does_what_is_ripe_and_keeps_the_rest() {
        static KEPT: LazyLock<Batches> = LazyLock::new(Batches::new);
        let (batches, done) = (&*KEPT, Arc::new(AtomicU64::new(0)));
        let keep = |bit: u32| {
            let done = Arc::clone(&done);
            batches.keep(move || {
                done.fetch_add(1 << bit, Ordering::Relaxed);
            })
        };
        let (first, second, third) = (keep(0), keep(1), keep(2));
        second();
        assert_eq!(batches.sweep(), 3);
        assert_eq!(done.load(Ordering::Relaxed), 0b010);
        third();
        assert_eq!(batches.sweep_if_worth_it(), 2);
        assert_eq!(done.load(Ordering::Relaxed), 0b110);
        assert_eq!(batches.sweep_if_worth_it(), 0);
        first();
        assert_eq!(batches.sweep_if_worth_it(), 1);
        assert_eq!(done.load(Ordering::Relaxed), 0b111);
    }
}
