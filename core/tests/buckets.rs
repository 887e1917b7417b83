//! The bucket store through its public door: every function, and the edges of buckets and of time.

mod common;

use common::{settle, within};
use echo_data_core::id::snowflake::{self, EPOCH_MS, MAX_TIMESTAMP};
use echo_data_core::{
    Blob, BlobRef, BucketWidth, Buckets, BucketsSnapshot, Held, InvalidBucketBits, OrderedStore,
};

/// Widths from the narrowest to the widest.
const BITS: [u32; 7] = [0, 1, 10, 12, 20, 39, 40];

/// An instant so many milliseconds after the epoch.
fn at(since_epoch: u64) -> i64 {
    (EPOCH_MS + since_epoch) as i64
}

/// The first and the last id of a millisecond.
fn ids(since_epoch: u64) -> [u64; 2] {
    let first = snowflake::compose(since_epoch, 0, 0);
    let last = snowflake::compose(since_epoch, snowflake::MAX_NODE, snowflake::MAX_SEQUENCE);
    [first, last]
}

fn buckets(bits: u32, ids: impl IntoIterator<Item = u64>) -> Buckets<u64> {
    let store = Buckets::new(bits).expect("few bits");
    store.put_all(ids.into_iter().map(|id| (id, id)));
    store
}

fn left(store: &Buckets<u64>) -> Vec<u64> {
    let view = store.view();
    assert!(view.iter().all(|(id, value)| id == *value));
    view.iter().map(|(id, _)| id).collect()
}

#[test]
fn handles_cross_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Buckets<u64>>();
    is_shared::<BucketsSnapshot<'_, u64>>();
    is_shared::<Held<u64>>();
}

#[test]
fn a_bucket_has_at_most_forty_bits() {
    for bits in [41, 42, 63, 64, u32::MAX] {
        assert_eq!(
            Buckets::<u64>::new(bits).err(),
            Some(InvalidBucketBits(bits))
        );
        let error = BucketWidth::from_bits(bits).expect_err("too many");
        assert!(error.to_string().contains(&format!("0..=40, not {bits}")));
    }
    for bits in 0..=40 {
        let width = Buckets::<u64>::new(bits).expect("few bits").width();
        assert_eq!((width.bits(), width.millis()), (bits, 2_u64.pow(bits)));
        assert_eq!(width, BucketWidth::from_bits(bits).expect("few bits"));
    }
}

#[test]
fn a_bucket_is_the_time_of_its_ids_without_the_lowest_bits() {
    for bits in BITS {
        let width = BucketWidth::from_bits(bits).expect("few bits");
        for time in [0, 1, 1000, 1 << 20, 1 << 40, MAX_TIMESTAMP] {
            let bucket = time / width.millis();
            assert!(ids(time)
                .into_iter()
                .all(|id| width.bucket_of(id) == bucket));
            assert_eq!(width.bucket_at(at(time)), Some(bucket));
            let start = width.start_ms(bucket);
            assert_eq!(start, EPOCH_MS + bucket * width.millis());
            assert_eq!(width.bucket_at(start as i64), Some(bucket));
            let before = bucket.checked_sub(1);
            assert_eq!(width.bucket_at(start as i64 - 1), before);
        }
        assert_eq!(width.bucket_at(at(0) - 1), None);
        assert_eq!(width.bucket_at(i64::MIN), None);
        assert!(width.bucket_at(i64::MAX) > Some(width.bucket_of(snowflake::MAX)));
        assert_eq!(width.start_ms(u64::MAX), u64::MAX);
    }
}

#[test]
fn an_empty_store_answers_everything() {
    let store = buckets(12, []);
    let view = store.view();
    assert!(view.is_empty());
    assert_eq!((view.len(), view.bucket_count()), (0, 0));
    assert_eq!((view.oldest_bucket(), view.newest_bucket()), (None, None));
    assert_eq!(
        (view.buckets().next(), view.buckets().next_back()),
        (None, None)
    );
    assert_eq!(
        (view.bucket(0).count(), view.bucket(u64::MAX).count()),
        (0, 0)
    );
    assert_eq!(view.width(), store.width());
    for instant in [i64::MIN, 0, at(0), at(1 << 40), i64::MAX] {
        assert_eq!(store.expire_older_than(instant), 0);
    }
    assert_eq!(store.info().rows, 0);
}

/// Ids at the last instant of a bucket, the first of the next and the one after it, and the same instants
/// as limits.
#[test]
fn expiry_is_exact_at_the_edges_of_a_bucket() {
    for bits in BITS {
        let width = 1_u64 << bits;
        for k in [1, 2, 3, 1000]
            .into_iter()
            .filter(|k| k * width < MAX_TIMESTAMP)
        {
            let edges = [k * width - 1, k * width, k * width + 1];
            let all: Vec<u64> = edges.into_iter().flat_map(ids).collect();
            for (place, limit) in edges.into_iter().enumerate() {
                let store = buckets(bits, all.clone());
                // At a width of one millisecond every instant is a bucket.
                let expired = if bits == 0 { place } else { place.min(1) };
                assert_eq!(
                    store.expire_older_than(at(limit)),
                    2 * expired,
                    "{bits} {k} {limit}"
                );
                assert_eq!(left(&store), all[2 * expired..]);
                assert_eq!(store.expire_older_than(at(limit)), 0, "once is enough");
                assert_eq!(
                    (store.info().rows, store.view().len()),
                    (6 - 2 * expired, 6 - 2 * expired)
                );
            }
        }
    }
}

#[test]
fn an_instant_before_the_epoch_drops_nothing() {
    for bits in BITS {
        let all = [ids(0), ids(1)].concat();
        let store = buckets(bits, all.clone());
        for instant in [i64::MIN, -1, 0, 1, at(0) - 1, at(0)] {
            assert_eq!(store.expire_older_than(instant), 0, "{bits} {instant}");
        }
        assert_eq!(left(&store), all);
        assert_eq!(
            store.expire_older_than(store.width().start_ms(1) as i64),
            if bits == 0 { 2 } else { 4 }
        );
    }
}

#[test]
fn ids_of_the_future_stay() {
    for bits in BITS {
        let now = 1 << 40;
        let past = [0, now - 1];
        let future = [now, now + 1, now + 5000, MAX_TIMESTAMP - 1, MAX_TIMESTAMP];
        let all = past.into_iter().chain(future).flat_map(ids);
        let store = buckets(bits, all);
        assert_eq!(store.expire_older_than(at(now)), 4, "{bits}");
        assert_eq!(
            left(&store),
            future.into_iter().flat_map(ids).collect::<Vec<_>>()
        );
        // The last of all ids is only older than what no id can be.
        store.expire_older_than(at(MAX_TIMESTAMP));
        assert!(store.view().contains(snowflake::MAX));
        store.expire_older_than(at(MAX_TIMESTAMP) + 1);
        assert!(store.view().is_empty());
    }
    let store = buckets(40, [snowflake::MAX]);
    assert_eq!(store.expire_older_than(i64::MAX), 1);
}

/// One entry each in bucket 0, two in 1, three in 2 and so on, with every third bucket missing.
fn stairs(steps: u64) -> Buckets<u64> {
    let steps = (0..steps).filter(|step| step % 3 != 1);
    let ids =
        |step: u64| (0..=step).map(move |n| snowflake::compose((step << 4) + n % 16, 0, n as u16));
    buckets(4, steps.flat_map(ids))
}

#[test]
fn buckets_are_counted_one_by_one() {
    let store = stairs(90);
    let view = store.view();
    let wanted = (0..90)
        .filter(|step| step % 3 != 1)
        .map(|step| (step, step as usize + 1));
    assert!(view.buckets().eq(wanted.clone()));
    assert!(view.buckets().rev().eq(wanted.clone().rev()));
    assert_eq!(view.bucket_count(), 60);
    assert_eq!(
        (view.oldest_bucket(), view.newest_bucket()),
        (Some(0), Some(89))
    );
    let all: Vec<u64> = view.iter().map(|(id, _)| id).collect();
    for bucket in 0..91 {
        let ids = view.bucket(bucket).map(|(id, _)| id);
        let (first, next) = (bucket << 26, (bucket + 1) << 26);
        assert!(ids.eq(within(&all, first..next)), "bucket {bucket}");
        assert!(
            bucket == 90
                || view.bucket(bucket).len()
                    == wanted.clone().find(|w| w.0 == bucket).map_or(0, |w| w.1)
        );
    }
    let mut ends = view.buckets();
    let (mut from_front, mut from_back) = (Vec::new(), Vec::new());
    while let Some(bucket) = ends.next() {
        from_front.push(bucket);
        from_back.extend(ends.next_back());
    }
    from_front.extend(from_back.into_iter().rev());
    assert!(from_front.into_iter().eq(wanted));
    assert_eq!((ends.next(), ends.next_back()), (None, None));
}

#[test]
fn a_bucket_goes_when_its_last_entry_does() {
    let store = buckets(10, [ids(0), ids(1024), ids(2048)].concat());
    assert_eq!(store.view().bucket_count(), 3);
    for id in ids(1024) {
        assert!(store.remove(id));
    }
    assert!(store.view().buckets().eq([(0, 2), (2, 2)]));
    assert_eq!(store.expire_older_than(at(2047)), 2);
    assert!(store.view().buckets().eq([(2, 2)]));
}

/// Of stores of any size, at any bucket: rows, counts and sizes agree after each step.
#[test]
fn the_size_never_counts_what_has_expired() {
    for rows in [1_u64, 63, 64, 65, 1000, 5000] {
        let all: Vec<u64> = (0..rows)
            .map(|n| snowflake::compose(n * 10, 1, n as u16 % 4096))
            .collect();
        let store = buckets(8, all.iter().copied());
        let mut size = all.len();
        for limit in (0..rows * 10 + 900).step_by(300) {
            let end = snowflake::min_for(store.width().start_ms(limit >> 8) as i64);
            let wanted = within(&all, end..);
            assert_eq!(store.expire_older_than(at(limit)), size - wanted.len());
            size = wanted.len();
            let view = store.view();
            assert_eq!((view.len(), store.info().rows), (size, size));
            assert_eq!(view.buckets().map(|(_, rows)| rows).sum::<usize>(), size);
            assert_eq!(view.iter().count(), size);
            assert_eq!(view.first().map(|(id, _)| id), wanted.first().copied());
        }
        assert_eq!(size, 0);
    }
}

/// What is put under an old id later is an entry like any other.
#[test]
fn an_expired_bucket_can_be_filled_again() {
    let store = buckets(10, [ids(5), ids(2000)].concat());
    assert_eq!(store.expire_older_than(at(1500)), 2);
    assert!(!store.put(ids(5)[0], ids(5)[0]));
    assert!(store.view().buckets().eq([(0, 1), (1, 2)]));
    assert_eq!(store.expire_older_than(at(1500)), 1);
}

#[test]
fn entries_are_put_read_and_removed_by_their_id() {
    let mut store: Buckets<Blob> = Buckets::of_width(BucketWidth::from_bits(12).expect("few bits"));
    let text = |text: &'static str| Blob::bytes(1, text.as_bytes());
    let read = |id| {
        store.view().get(id).map(|value| match value {
            BlobRef::Bytes(_, bytes) => String::from_utf8_lossy(bytes).into_owned(),
            BlobRef::Object(..) => unreachable!("no objects are put"),
        })
    };
    assert!(!store.put(7, text("seven")) && store.put(7, text("VII")));
    assert_eq!(read(7).as_deref(), Some("VII"));
    assert!(!store.put_if(7, text("7"), |present| present.is_none()));
    assert!(store.put_if(8, text("eight"), |present| present.is_none()));
    store.put_all([(9, text("nine")), (10, text("ten")), (9, text("IX"))]);
    assert_eq!(read(9).as_deref(), Some("IX"));
    let mut found = Vec::new();
    let view = store.view();
    view.get_many(&[8, 99, 10], |at, value| found.push((at, value.is_some())));
    assert_eq!(found, [(0, true), (1, false), (2, true)]);
    drop(view);
    assert!(store.remove(8) && !store.remove(8));
    assert_eq!(
        store.take(9, |value| value == BlobRef::Bytes(1, b"IX")),
        Some(true)
    );
    assert_eq!(
        store.take(9, |_| unreachable!("there is no value")),
        None::<()>
    );
    store.extend([(11, text("eleven"))]);
    assert_eq!((store.view().len(), store.info().rows), (3, 3));
    assert!(format!("{store:?}").starts_with("Buckets { rows: 3"));
}

#[test]
fn a_held_moment_shows_what_has_expired_since() {
    let store = stairs(30);
    let (snapshot, hold) = (store.snapshot(), store.hold());
    let (rows, counts): (usize, Vec<_>) = (store.view().len(), store.view().buckets().collect());
    assert_eq!(store.expire_older_than(i64::MAX), rows);
    store.put(1, 1);
    let then = [
        snapshot.view(),
        store.at(&hold).expect("a hold of this store"),
    ];
    for view in then {
        assert_eq!((view.len(), view.bucket_count()), (rows, counts.len()));
        assert!(view.buckets().eq(counts.iter().copied()));
        assert_eq!(view.bucket(29).len(), 30);
        assert_eq!(view.width(), store.width());
    }
    assert_eq!(store.info().snapshots, 2);
    let others = (stairs(30), OrderedStore::<u64>::new());
    assert!(others.0.at(&hold).is_none() && others.1.at(&hold).is_none());
    drop((snapshot, hold));
    let gauge = store.gauge();
    assert_eq!(gauge.left(), None);
    drop(store);
    settle(&gauge);
}
