//! Taking turns: how a writer that lost a race gets its change in, without a lock.
//!
//! Two writers that alternate fetch every cache line from each other, and a large change loses to a
//! stream of small ones for ever. So a loser first stays away for a moment, in which the winner gets
//! many writes done undisturbed; then it says how long it needs, and others let it go first. Both
//! waits are bounded: a writer that is stopped by the system in its turn, or whose change panics, delays
//! the others once and blocks nobody.

pub(super) use implementation::Turns;

#[cfg(not(loom))]
mod implementation {
    use std::sync::LazyLock;
    use std::thread;
    use std::time::{Duration, Instant};

    use crate::sync::{AtomicU64, Ordering};

    /// How long a loser stays away after a chance meeting: a few writes.
    const STEP_ASIDE: Duration = Duration::from_micros(4);
    /// How long it stays away where writers keep meeting: hundreds of writes.
    const STAY_AWAY: Duration = Duration::from_micros(100);
    /// Writers keep meeting if they met no longer ago than this.
    const AGAIN: Duration = Duration::from_millis(1);
    /// How long a loser is let go first when it does not know what it needs.
    const ONE_WRITE: Duration = Duration::from_micros(4);
    /// How long it is let go first at the most; a change that needs longer wins when others pause.
    const AT_MOST: Duration = Duration::from_millis(100);
    /// Waits shorter than this are spun; a thread that sleeps comes back late.
    const SPIN: Duration = Duration::from_micros(50);

    /// Who is next at one store.
    pub(in crate::publish) struct Turns {
        /// Nanoseconds that a loser wants for itself, or 0. A hint: it orders nothing.
        wanted: AtomicU64,
        /// When a race was lost last, in nanoseconds since some start. Another hint.
        met: AtomicU64,
    }

    /// One writer's part in it.
    #[derive(Default)]
    pub(in crate::publish) struct Turn {
        /// When the present attempt began, if it is not the first.
        began: Option<Instant>,
        /// The shortest attempt so far: a longer one may only have been interrupted.
        shortest: Option<Duration>,
    }

    impl Turns {
        pub(in crate::publish) fn new() -> Self {
            Self {
                wanted: AtomicU64::new(0),
                met: AtomicU64::new(0),
            }
        }

        /// Before a writer's first attempt: lets a loser go first, if there is one.
        #[inline]
        pub(in crate::publish) fn arrive(&self) -> Turn {
            if self.wanted.load(Ordering::Relaxed) != 0 {
                self.give_way();
            }
            Turn::default()
        }

        #[cold]
        fn give_way(&self) {
            let wanted = Duration::from_nanos(self.wanted.load(Ordering::Relaxed));
            if !wait(wanted, || self.wanted.load(Ordering::Relaxed) == 0) {
                // It is not coming; nobody else needs to wait for it.
                self.wanted.store(0, Ordering::Relaxed);
            }
        }

        /// After a lost attempt.
        #[cold]
        pub(in crate::publish) fn lost(&self, turn: &mut Turn) {
            if let Some(began) = turn.began {
                let took = began.elapsed();
                turn.shortest = Some(turn.shortest.map_or(took, |shortest| shortest.min(took)));
            } else {
                let away = if self.met_before() {
                    STAY_AWAY
                } else {
                    STEP_ASIDE
                };
                wait(away, || false);
            }
            let needs = turn.shortest.map_or(ONE_WRITE, |shortest| shortest * 2);
            let needs = needs.clamp(ONE_WRITE, AT_MOST).as_nanos() as u64;
            self.wanted.store(needs, Ordering::Relaxed);
            turn.began = Some(Instant::now());
        }

        /// Whether writers met here a moment ago. They did now.
        fn met_before(&self) -> bool {
            static START: LazyLock<Instant> = LazyLock::new(Instant::now);
            let now = START.elapsed().as_nanos() as u64;
            let last = self.met.swap(now, Ordering::Relaxed);
            last != 0 && now.saturating_sub(last) < AGAIN.as_nanos() as u64
        }

        /// After the change is in, or not wanted any more.
        #[inline]
        pub(in crate::publish) fn done(&self, turn: &Turn) {
            if turn.began.is_some() {
                self.wanted.store(0, Ordering::Relaxed);
            }
        }
    }

    /// Waits until `over` or for `limit`; answers whether it was over.
    fn wait(limit: Duration, over: impl Fn() -> bool) -> bool {
        let began = Instant::now();
        loop {
            if over() {
                return true;
            }
            let waited = began.elapsed();
            if waited >= limit {
                return false;
            }
            if waited < SPIN {
                std::hint::spin_loop();
            } else {
                thread::sleep(SPIN);
            }
        }
    }
}

/// A hint that orders nothing is nothing to a model, but for letting others run.
#[cfg(loom)]
mod implementation {
    pub(in crate::publish) struct Turns;

    pub(in crate::publish) struct Turn;

    impl Turns {
        pub(in crate::publish) fn new() -> Self {
            Self
        }

        pub(in crate::publish) fn arrive(&self) -> Turn {
            Turn
        }

        pub(in crate::publish) fn lost(&self, _turn: &mut Turn) {
            crate::sync::yield_now();
        }

        pub(in crate::publish) fn done(&self, _turn: &Turn) {}
    }
}
