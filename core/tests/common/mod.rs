//! What the tests share: values that count themselves, random numbers with a seed that is told, and
//! waiting for the reclaimer.
#![allow(dead_code)] // each test binary uses its part

pub mod beside;
pub mod model;
pub mod numbered;

use std::ops::RangeBounds;
use std::panic;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use echo_data_core::{drain, Gauge, Tally};

/// Far beyond what any wait here takes on a loaded machine; reaching it means that it never ends.
const DEADLINE: Duration = Duration::from_secs(30);

/// How much work a test does: the first in `make test`, the second with `ECHO_SOAK=1`.
pub fn scale(normal: u64, soak: u64) -> u64 {
    if std::env::var_os("ECHO_SOAK").is_some_and(|soak| soak == "1") {
        soak
    } else {
        normal
    }
}

/// Counts the values that live.
#[derive(Clone, Default)]
pub struct Live(Arc<AtomicI64>);

impl Live {
    /// A value that counts until it is dropped.
    pub fn value(&self, number: u64) -> Tracked {
        self.0.fetch_add(1, Ordering::SeqCst);
        Tracked {
            number,
            check: !number,
            live: self.clone(),
        }
    }

    /// Values made and not dropped yet. Negative if one was dropped twice.
    pub fn count(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// A number that knows when it is read after its end, and that counts its drops.
pub struct Tracked {
    number: u64,
    check: u64,
    live: Live,
}

impl Tracked {
    /// The number, if this value is alive and whole.
    pub fn number(&self) -> u64 {
        assert_eq!(self.number, !self.check, "a value was read after its end");
        self.number
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        assert_eq!(self.number, !self.check, "a value was dropped twice");
        self.check = self.number;
        self.live.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A value whose destructor panics every so often.
pub struct Grenade(Tracked);

impl Grenade {
    /// Panics when it is dropped if `number` is a multiple of 100.
    pub fn new(number: u64, live: &Live) -> Self {
        static QUIET: Once = Once::new();
        QUIET.call_once(|| {
            let report = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                if info.payload_as_str() != Some(Self::MEANT) {
                    report(info);
                }
            }));
        });
        Self(live.value(number))
    }

    const MEANT: &str = "a panic that is meant";
}

impl Drop for Grenade {
    fn drop(&mut self) {
        if self.0.number().is_multiple_of(100) {
            panic!("{}", Self::MEANT);
        }
    }
}

/// Random numbers (SplitMix64), the same for the same seed.
pub struct Rng(u64);

impl Rng {
    /// Starts from a new seed, or from `ECHO_SEED`, and prints it: the test harness shows it when the
    /// test fails.
    pub fn new() -> Self {
        let seed = match std::env::var("ECHO_SEED") {
            Ok(seed) => seed.parse().expect("ECHO_SEED is a number"),
            Err(_) => std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0),
        };
        println!("repeat with ECHO_SEED={seed}");
        Self(seed)
    }

    /// Another generator, for another thread.
    pub fn fork(&mut self) -> Self {
        Self(self.next())
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at as u64 + 1) as usize);
        }
    }
}

/// Waits until `done`, and does nothing for it.
pub fn wait_until(what: &str, done: impl Fn() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !done() {
        assert!(Instant::now() < deadline, "never came true: {what}");
        std::thread::yield_now();
    }
}

/// Drains until `done`: another thread may be in the middle of freeing when a drain returns.
pub fn eventually(what: &str, done: impl Fn() -> bool) {
    wait_until(what, || {
        done() || {
            drain();
            false
        }
    });
}

/// Waits until a closed store has given everything back.
pub fn settle(gauge: &Gauge) {
    eventually("nothing is left of the closed store", || {
        gauge.left() == Some(Tally::default())
    });
}

/// Waits until the store is gone and so are all its values.
pub fn settle_all(gauge: &Gauge, live: &Live) {
    settle(gauge);
    eventually("all values are dropped", || live.count() == 0);
}

/// The sorted `keys` that are in `range`.
pub fn within(keys: &[u64], range: impl RangeBounds<u64>) -> Vec<u64> {
    let inside = keys.iter().filter(|key| range.contains(key));
    inside.copied().collect()
}
