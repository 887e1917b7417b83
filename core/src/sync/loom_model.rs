//! What stands in for epochs and for plain memory while loom checks a model.

pub(crate) mod epoch {
    //! The contract of crossbeam-epoch, without its queues: a deferred call runs once every guard that
    //! was alive when it was deferred is gone, at the next pin or flush of any thread.
    //!
    //! The real crate can be put under loom too, but there a deferred call waits for two more epochs, so
    //! a small model ends before anything is freed. Here it runs at the earliest legal moment.
    //!
    //! Threads are ordered in these two ways and in no other, so that a model fails where the program
    //! relies on more:
    //! - The end of a guard comes before every call that was deferred after the guard began. In
    //!   crossbeam, unpinning releases the thread's epoch, and whoever advances the global epoch acquires
    //!   the epochs of all threads. The deferring thread is pinned itself, so this also orders what it
    //!   did before the deferral.
    //! - A deferral comes before a pin that it does not wait for, so that the later reader finds the
    //!   object unlinked. In crossbeam both execute a sequentially consistent fence; so do they here.

    use std::sync::{Arc, Mutex, PoisonError};

    use loom::sync::atomic::{fence, AtomicBool, AtomicUsize, Ordering};
    use loom::thread::{self, ThreadId};

    struct Pin {
        thread: ThreadId,
        gone: AtomicBool,
    }

    struct Deferred {
        after: Vec<Arc<Pin>>,
        call: Box<dyn FnOnce() + Send>,
    }

    #[derive(Default)]
    struct Collector {
        alive: Vec<Arc<Pin>>,
        /// The last guard of each thread that has ended; it stands for the ones before it.
        ended: Vec<Arc<Pin>>,
        deferred: Vec<Deferred>,
    }

    impl Collector {
        fn is_due(&self, deferred: &Deferred) -> bool {
            let alive = |pin| self.alive.iter().any(|other| Arc::ptr_eq(pin, other));
            !deferred.after.iter().any(alive)
        }
    }

    loom::lazy_static! {
        /// A lock of the standard library orders nothing in loom's eyes.
        static ref COLLECTOR: Mutex<Collector> = Mutex::default();
        /// Touched with every access to the collector: loom tries both orders of two threads only where
        /// they touch something that it sees.
        static ref TURN: AtomicUsize = AtomicUsize::new(0);
    }

    fn with<T>(access: impl FnOnce(&mut Collector) -> T) -> T {
        // Relaxed: it orders nothing that the fences do not order.
        TURN.fetch_add(1, Ordering::Relaxed);
        access(&mut COLLECTOR.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) struct Guard(Arc<Pin>);

    pub(crate) fn pin() -> Guard {
        let thread = thread::current().id();
        let pin = Arc::new(Pin {
            thread,
            gone: AtomicBool::new(false),
        });
        let nested = with(|collector| {
            let nested = collector.alive.iter().any(|other| other.thread == thread);
            collector.alive.push(Arc::clone(&pin));
            nested
        });
        if !nested {
            fence(Ordering::SeqCst);
            collect();
        }
        Guard(pin)
    }

    impl Guard {
        pub(crate) fn defer(&self, call: impl FnOnce() + Send + 'static) {
            with(|collector| {
                fence(Ordering::SeqCst);
                let pins = collector.alive.iter().chain(&collector.ended);
                let deferred = Deferred {
                    after: pins.cloned().collect(),
                    call: Box::new(call),
                };
                collector.deferred.push(deferred);
            });
        }

        pub(crate) fn flush(&self) {
            collect();
        }
    }

    impl Drop for Guard {
        fn drop(&mut self) {
            // Release: pairs with the Acquire in `collect`.
            self.0.gone.store(true, Ordering::Release);
            with(|collector| {
                collector.alive.retain(|pin| !Arc::ptr_eq(pin, &self.0));
                collector.ended.retain(|pin| pin.thread != self.0.thread);
                collector.ended.push(Arc::clone(&self.0));
            });
        }
    }

    /// Runs every deferred call whose time has come.
    fn collect() {
        while let Some(deferred) = with(|collector| {
            let due = |deferred: &Deferred| collector.is_due(deferred);
            let at = collector.deferred.iter().position(due)?;
            Some(collector.deferred.remove(at))
        }) {
            for pin in &deferred.after {
                // A read-modify-write sees the latest value, never an older `false`.
                assert!(pin.gone.fetch_or(false, Ordering::Acquire));
            }
            (deferred.call)();
        }
    }
}

pub(crate) mod race {
    use std::cell::{Cell, RefCell};
    use std::collections::VecDeque;
    use std::ops::Range;

    use loom::cell::UnsafeCell;

    pub(crate) struct Race {
        whole: UnsafeCell<()>,
        slots: Vec<UnsafeCell<()>>,
        freed: Cell<bool>,
    }

    impl Race {
        pub(crate) fn new(slots: usize) -> Self {
            Self {
                whole: UnsafeCell::new(()),
                slots: (0..slots).map(|_| UnsafeCell::new(())).collect(),
                freed: Cell::new(false),
            }
        }

        pub(crate) fn read(&self, slots: Range<usize>) {
            assert!(!self.freed.get(), "read after free");
            self.whole.with(|_| ());
            for slot in &self.slots[slots] {
                slot.with(|_| ());
            }
        }

        pub(crate) fn write(&self, slot: usize) {
            assert!(!self.freed.get(), "written after free");
            self.whole.with(|_| ());
            self.slots[slot].with_mut(|_| ());
        }

        pub(crate) fn free(&self) {
            assert!(!self.freed.replace(true), "freed twice");
            self.whole.with_mut(|_| ());
            for slot in &self.slots {
                slot.with_mut(|_| ());
            }
        }
    }

    /// Frees that are put off, so that a witness in freed memory can still tell of a late access. More
    /// than one run of a model makes.
    const BURIED: usize = 1000;

    pub(crate) fn bury(free: impl FnOnce() + 'static) {
        thread_local! {
            static GRAVES: RefCell<VecDeque<Box<dyn FnOnce()>>> = RefCell::default();
        }
        GRAVES.with(|graves| {
            let mut graves = graves.borrow_mut();
            graves.push_back(Box::new(free));
            if graves.len() > BURIED {
                if let Some(free) = graves.pop_front() {
                    free();
                }
            }
        });
    }
}
