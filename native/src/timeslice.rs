//! Time that a NIF takes from its scheduler, reported so that neighbours get their turn.

use std::time::{Duration, Instant};

use rustler::{schedule, Env};

/// What a NIF does at most in one call when the work can be continued in another.
const BUDGET: Duration = Duration::from_micros(400);

/// One percent of what the VM grants a process in one turn, a millisecond.
const PERCENT: Duration = Duration::from_micros(10);

/// A stretch of work on a scheduler thread.
pub(crate) struct Timeslice {
    begin: Instant,
}

impl Timeslice {
    pub(crate) fn begin() -> Self {
        Self {
            begin: Instant::now(),
        }
    }

    /// Whether the rest of the work should be left to another call.
    pub(crate) fn is_spent(&self) -> bool {
        self.begin.elapsed() > BUDGET
    }

    /// Reports the time that passed to the scheduler of the calling process.
    pub(crate) fn end(self, env: Env<'_>) {
        let percent = self.begin.elapsed().as_micros() / PERCENT.as_micros();
        schedule::consume_timeslice(env, percent.clamp(1, 100) as i32);
    }
}

/// Bytes of values that are encoded or decoded in a hundredth of a timeslice, at the least.
const BYTES_PER_PERCENT: usize = 10 << 10;

/// Reports the work on one value. The clock is not read: nearly every value is small.
#[inline]
pub(crate) fn report_bytes(env: Env<'_>, bytes: usize) {
    let percent = bytes / BYTES_PER_PERCENT;
    if percent > 0 {
        schedule::consume_timeslice(env, percent.min(100) as i32);
    }
}

/// Bytes that take long enough for the clock to be read.
const LONG: usize = 4 << 10;

/// Does work on so many bytes, and reports it when they are many.
#[inline]
pub(crate) fn timed<R>(env: Env<'_>, bytes: usize, work: impl FnOnce() -> R) -> R {
    if bytes < LONG {
        return work();
    }
    let timeslice = Timeslice::begin();
    let done = work();
    timeslice.end(env);
    done
}
