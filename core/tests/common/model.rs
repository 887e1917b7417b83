//! What the tests against a model have in common.

use echo_data_core::Gauge;
use proptest::prelude::ProptestConfig;

use super::{scale, settle_all, Live};

/// How many sequences of operations are tried, and for how long a failing one is made shorter.
pub fn config() -> ProptestConfig {
    ProptestConfig {
        // A leak is only known when the wait for its end is over, so shrinking one could take for ever.
        max_shrink_time: 60_000,
        ..ProptestConfig::with_cases(scale(48, 2000) as u32)
    }
}

/// A store, the model that tells what it is to answer, and held moments of both. Its values count themselves.
pub struct Subject<S, H, M> {
    pub store: S,
    pub model: M,
    pub held: Vec<(H, M)>,
    pub live: Live,
    gauge: Gauge,
}

impl<S, H, M: Default> Subject<S, H, M> {
    /// Begins with an empty store and a model of nothing.
    pub fn of(store: S, gauge: Gauge) -> Self {
        Self {
            store,
            model: M::default(),
            held: Vec::new(),
            live: Live::default(),
            gauge,
        }
    }

    /// One of the held moments, if there are any.
    pub fn one_held(&self, any: usize) -> Option<&(H, M)> {
        self.held.get(any % self.held.len().max(1))
    }

    /// Gives up one of the held moments, if there are any.
    pub fn release(&mut self, any: usize) -> Option<(H, M)> {
        let at = any % self.held.len().max(1);
        (at < self.held.len()).then(|| self.held.swap_remove(at))
    }

    /// Ends the store and the held moments and waits until nothing is left of them. Whichever goes first, the
    /// other finds nothing left to free twice.
    pub fn close(self) {
        if self.live.count() % 2 == 0 {
            drop(self.store);
            drop(self.held);
        } else {
            drop(self.held);
            drop(self.store);
        }
        settle_all(&self.gauge, &self.live);
    }
}
