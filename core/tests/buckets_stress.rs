//! Several threads on one bucket store: what a reader sees of a bucket while it expires, and that each
//! entry expires once. A few seconds; `ECHO_SOAK=1` makes it minutes. Each test that is random tells its
//! seed.

mod common;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use common::beside::{beside, Work};
use common::{eventually, scale, settle_all, Live, Rng, Tracked};
use echo_data_core::id::snowflake::{self, EPOCH_MS};
use echo_data_core::{Boxed, Buckets, BucketsView};

/// Rows of a bucket, over several nodes.
const ROWS: u64 = 300;
/// From this bucket on it is the future, which no test reaches.
const FUTURE: u64 = 1 << 30;
/// A bucket is so many bits of milliseconds.
const BITS: u32 = 4;

type Entries = Buckets<Boxed<Tracked>>;

fn entries() -> Entries {
    Buckets::new(BITS).expect("few bits")
}

/// Entry `n` of `bucket`, spread over its milliseconds.
fn id(bucket: u64, n: u64) -> u64 {
    snowflake::compose((bucket << BITS) + n * 16 / ROWS, 0, n as u16)
}

/// The first instant of `bucket`.
fn start(store: &Entries, bucket: u64) -> i64 {
    store.width().start_ms(bucket) as i64
}

fn fill(store: &Entries, bucket: u64, live: &Live) {
    store.put_all((0..ROWS).map(|n| (id(bucket, n), Boxed(live.value(bucket)))));
}

/// Writes and removes entries of the future.
fn disturb(store: &Entries, live: &Live, rng: &mut Rng) {
    let id = id(FUTURE + rng.below(4), rng.below(ROWS));
    if rng.chance(3) {
        store.remove(id);
    } else {
        store.put(id, Boxed(live.value(rng.next())));
    }
}

/// Every bucket before the future is whole, however one asks, and there are one or two of them.
fn past_is_whole(view: &BucketsView<'_, Boxed<Tracked>>) {
    let past = |bucket: &(u64, usize)| bucket.0 < FUTURE;
    let whole: Vec<(u64, usize)> = view.buckets().take_while(past).collect();
    assert!((1..=2).contains(&whole.len()), "{whole:?}");
    assert_eq!(view.oldest_bucket(), Some(whole[0].0));
    for (bucket, rows) in &whole {
        assert_eq!(
            (*rows as u64, view.bucket(*bucket).len() as u64),
            (ROWS, ROWS)
        );
        assert!(view
            .bucket(*bucket)
            .all(|(_, value)| value.number() == *bucket));
        assert_eq!(
            view.get(id(*bucket, ROWS / 2)).map(Tracked::number),
            Some(*bucket)
        );
    }
    let gone = whole[0].0 - 1;
    assert_eq!(
        (
            view.bucket(gone).len(),
            view.get(id(gone, 0)).map(Tracked::number)
        ),
        (0, None)
    );
    let future = view.range(id(FUTURE, 0)..).count();
    assert_eq!(view.len(), whole.len() * ROWS as usize + future);
    assert_eq!(view.rank(id(FUTURE, 0)), whole.len() * ROWS as usize);
}

#[test]
fn a_bucket_that_expires_is_seen_whole_or_not_at_all() {
    let mut rng = Rng::new();
    let live = Live::default();
    let store = entries();
    let gauge = store.gauge();
    let mut bucket = 1;
    fill(&store, bucket, &live);
    let (entries, values, mut noise) = (&store, &live, rng.fork());
    let expire = move || {
        fill(entries, bucket + 1, values);
        bucket += 1;
        assert_eq!(
            entries.expire_older_than(start(entries, bucket)),
            ROWS as usize
        );
    };
    let disturb = move || disturb(entries, values, &mut noise);
    beside([Box::new(expire) as Work<'_>, Box::new(disturb)], || {
        for _ in 0..scale(1500, 100_000) {
            let view = store.view();
            past_is_whole(&view);
            past_is_whole(&view);
            drop(view);
            let snapshot = store.snapshot();
            past_is_whole(&snapshot.view());
        }
    });
    past_is_whole(&store.view());
    drop(store);
    settle_all(&gauge, &live);
}

/// Whoever expires first counts an entry, and nobody else.
#[test]
fn each_entry_expires_once() {
    let mut rng = Rng::new();
    let live = Live::default();
    let store = entries();
    let gauge = store.gauge();
    let (clock, expired) = (AtomicU64::new(1), AtomicU64::new(0));
    let expire = || {
        let now = clock.load(Ordering::Relaxed);
        let dropped = store.expire_older_than((EPOCH_MS + now) as i64);
        expired.fetch_add(dropped as u64, Ordering::Relaxed);
    };
    let rows = scale(20_000, 1_000_000);
    beside([&expire, &expire], || {
        for row in 0..rows {
            // Not more than a bucket behind the clock, so some are put when their time is over.
            let time = (row / 50 + 20).saturating_sub(rng.below(40));
            let id = snowflake::compose(time, 0, (row % 4096) as u16);
            assert!(!store.put(id, Boxed(live.value(row))));
            clock.store(row / 50, Ordering::Relaxed);
        }
    });
    let last = store.expire_older_than(i64::MAX) as u64;
    assert_eq!(expired.into_inner() + last, rows);
    assert_eq!((store.info().rows, store.view().bucket_count()), (0, 0));
    eventually("the values of all entries are dropped", || {
        live.count() == 0
    });
    drop(store);
    settle_all(&gauge, &live);
}

/// Writers of all kinds, each of whom expires now and then: the values that are left are those of the
/// entries.
#[test]
fn everything_at_once_leaks_nothing() {
    let mut rng = Rng::new();
    let live = Live::default();
    let store = entries();
    let gauge = store.gauge();
    let work = |mut rng: Rng| {
        for number in 0..scale(5000, 500_000) {
            let id = id(rng.below(40), rng.below(ROWS));
            let value = || Boxed(live.value(number));
            match rng.below(20) {
                0..8 => drop(store.put(id, value())),
                8 => drop(store.put_if(id, value(), |present| present.is_none())),
                9..13 => drop(store.remove(id)),
                13..16 => drop(store.take(id, Tracked::number)),
                16 => fill(&store, rng.below(40), &live),
                17 => drop(store.expire_older_than(start(&store, rng.below(40)))),
                _ => {
                    let view = store.view();
                    let counted: usize = view.buckets().map(|(_, rows)| rows).sum();
                    assert_eq!(counted, view.len());
                }
            }
        }
    };
    thread::scope(|scope| {
        for rng in [rng.fork(), rng.fork(), rng.fork()] {
            scope.spawn(|| work(rng));
        }
    });
    let rows = store.view().len();
    let hold = store.hold();
    assert_eq!(store.expire_older_than(i64::MAX), rows);
    eventually("only the held entries' values live", || {
        live.count() == rows as i64
    });
    drop(hold);
    drop(store);
    settle_all(&gauge, &live);
}
