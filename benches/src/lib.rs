//! Pure-Rust harness: the core beside its peers, on the same keys, in the same run.
//!
//! The traits [`Map`], [`relation::Relation`] and [`expiry::Expiring`] are what the workloads need of a
//! subject; [`race`] runs subjects in turn, so that a machine that slows down slows all of them, and
//! answers medians.

pub mod expiry;
pub mod relation;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_skiplist::SkipMap;
use echo_data_core::OrderedStore;

/// A map from `u64` to `u64`, as the workloads see it.
pub trait Map {
    /// What the tables call it.
    const NAME: &'static str;

    /// An empty map.
    fn empty() -> Self;

    /// Puts `value` under `key`.
    fn put(&mut self, key: u64, value: u64);

    /// The value under `key`.
    fn get(&self, key: u64) -> Option<u64>;

    /// Combines the `count` newest rows, so that they are really read.
    fn newest(&self, count: usize) -> u64;

    /// Combines `count` rows from `key` on.
    fn scan(&self, key: u64, count: usize) -> u64;

    /// A map of `keys`, in the given order.
    fn of(keys: &[u64]) -> Self
    where
        Self: Sized,
    {
        let mut map = Self::empty();
        for &key in keys {
            map.put(key, key);
        }
        map
    }
}

/// The core's ordered store.
pub type Core = OrderedStore<u64>;

impl Map for Core {
    const NAME: &'static str = "echo_data";

    fn empty() -> Self {
        OrderedStore::new()
    }

    fn put(&mut self, key: u64, value: u64) {
        OrderedStore::put(self, key, value);
    }

    fn get(&self, key: u64) -> Option<u64> {
        self.view().get(key).copied()
    }

    fn newest(&self, count: usize) -> u64 {
        let view = self.view();
        view.iter()
            .rev()
            .take(count)
            .fold(0, |sum, (key, value)| sum ^ key ^ value)
    }

    fn scan(&self, key: u64, count: usize) -> u64 {
        let view = self.view();
        view.range(key..)
            .take(count)
            .fold(0, |sum, (key, value)| sum ^ key ^ value)
    }
}

impl Map for BTreeMap<u64, u64> {
    const NAME: &'static str = "BTreeMap";

    fn empty() -> Self {
        BTreeMap::new()
    }

    fn put(&mut self, key: u64, value: u64) {
        self.insert(key, value);
    }

    fn get(&self, key: u64) -> Option<u64> {
        BTreeMap::get(self, &key).copied()
    }

    fn newest(&self, count: usize) -> u64 {
        self.iter()
            .rev()
            .take(count)
            .fold(0, |sum, (key, value)| sum ^ key ^ value)
    }

    fn scan(&self, key: u64, count: usize) -> u64 {
        self.range(key..)
            .take(count)
            .fold(0, |sum, (key, value)| sum ^ key ^ value)
    }
}

impl Map for SkipMap<u64, u64> {
    const NAME: &'static str = "crossbeam-skiplist";

    fn empty() -> Self {
        SkipMap::new()
    }

    fn put(&mut self, key: u64, value: u64) {
        self.insert(key, value);
    }

    fn get(&self, key: u64) -> Option<u64> {
        SkipMap::get(self, &key).map(|entry| *entry.value())
    }

    fn newest(&self, count: usize) -> u64 {
        self.iter()
            .rev()
            .take(count)
            .fold(0, |sum, entry| sum ^ entry.key() ^ entry.value())
    }

    fn scan(&self, key: u64, count: usize) -> u64 {
        self.range(key..)
            .take(count)
            .fold(0, |sum, entry| sum ^ entry.key() ^ entry.value())
    }
}

/// `count` keys below 2^63 in random order, the same for the same seed.
pub fn random_keys(count: usize, seed: u64) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| random.u64(..) >> 1).collect()
}

/// `count` ascending keys, spaced like snowflakes of one node minted as fast as can be.
pub fn ascending_keys(count: usize) -> Vec<u64> {
    (1..=count as u64).map(|key| key << 10).collect()
}

/// `count` of `keys`, drawn at random with repetition.
pub fn probes(keys: &[u64], count: usize, seed: u64) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count)
        .map(|_| keys[random.usize(..keys.len())])
        .collect()
}

/// One timed piece of work: it answers how long its own part took and for how many operations.
pub type Lap<'a> = Box<dyn FnMut() -> (Duration, usize) + 'a>;

/// Times `work`, which does `operations` of something.
pub fn lap<'a>(operations: usize, mut work: impl FnMut() + 'a) -> Lap<'a> {
    Box::new(move || {
        let start = Instant::now();
        work();
        (start.elapsed(), operations)
    })
}

/// Runs `read` while another thread writes, with a number that counts its turns.
pub fn while_writing<T>(write: impl Fn(u64) + Sync, read: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0.. {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                write(turn);
            }
        });
        let answer = read();
        over.store(true, Ordering::Relaxed);
        answer
    })
}

/// Nanoseconds an operation over the rounds of a race.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// The fastest round.
    pub min: f64,
    /// The round to quote.
    pub median: f64,
    /// The slowest round.
    pub max: f64,
}

/// Runs every subject once a round, in turn, after one round to warm up.
pub fn race(rounds: usize, subjects: &mut [Lap<'_>]) -> Vec<Spread> {
    let mut times = vec![Vec::with_capacity(rounds); subjects.len()];
    for round in 0..=rounds {
        for (subject, times) in subjects.iter_mut().zip(&mut times) {
            let (took, operations) = subject();
            if round > 0 {
                times.push(took.as_nanos() as f64 / operations as f64);
            }
        }
    }
    times.into_iter().map(spread).collect()
}

fn spread(mut times: Vec<f64>) -> Spread {
    times.sort_unstable_by(f64::total_cmp);
    Spread {
        min: times[0],
        median: times[times.len() / 2],
        max: times[times.len() - 1],
    }
}

/// The resident memory of this process, in bytes, as Linux counts it.
pub fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm
        .split(' ')
        .nth(1)
        .and_then(|field| field.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}
