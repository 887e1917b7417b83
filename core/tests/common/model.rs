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

/// Ends a store and its held moments and waits until nothing is left of them. Whichever goes first, the
/// other finds nothing left to free twice.
pub fn close<S, H>(store: S, held: Vec<H>, gauge: &Gauge, live: &Live) {
    if live.count() % 2 == 0 {
        drop(store);
        drop(held);
    } else {
        drop(held);
        drop(store);
    }
    settle_all(gauge, live);
}
