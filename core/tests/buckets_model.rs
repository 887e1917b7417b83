//! The bucket store against a map of maps: any sequence of operations, with moments held on the way. After
//! every step the store answers what the maps answer, whatever has expired, and so does every held moment.

mod common;

use std::collections::BTreeMap;

use common::model::{config, Subject};
use common::numbered::{Numbered, NUMBERS};
use common::Tracked;
use echo_data_core::id::snowflake;
use echo_data_core::{Boxed, BucketWidth, Buckets, BucketsView, Held, SlimBlob};
use proptest::prelude::*;

/// Bucket, id, number.
type Model = BTreeMap<u64, BTreeMap<u64, u64>>;

/// Milliseconds in which ids are minted: several levels of nodes, full size or shrunken.
const SPAN: u64 = if cfg!(tiny_nodes) { 40 } else { 400 };
/// Ids of a millisecond.
const IDS: u64 = 12;
/// Rows of one batch.
const MANY: u64 = SPAN * 3;

/// The id in so many places from the epoch, but for the last, which is the last of all ids.
fn id(place: u64) -> u64 {
    match place {
        place if place == SPAN * IDS - 1 => snowflake::MAX,
        place => snowflake::compose(place / IDS, (place % IDS) as u16, 0),
    }
}

#[derive(Clone, Debug)]
enum Op {
    Put(u64, u64),
    /// If there is nothing.
    PutNew(u64, u64),
    Remove(u64),
    Take(u64),
    PutAll(Vec<(u64, u64)>),
    /// From a place, in steps, so many rows.
    PutRun(u64, u64, u64),
    /// Whatever is older than an instant so many milliseconds from the epoch.
    Expire(i64),
    Hold,
    Release(usize),
}

fn instant() -> impl Strategy<Value = i64> {
    prop_oneof![
        40 => -20..SPAN as i64,
        1 => Just(i64::MIN),
        1 => Just(snowflake::MAX_TIMESTAMP as i64),
        1 => Just(i64::MAX - snowflake::EPOCH_MS as i64),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let place = || (0..SPAN * IDS).prop_map(id);
    let number = || 0..NUMBERS;
    prop_oneof![
        8 => (place(), number()).prop_map(|(id, n)| Op::Put(id, n)),
        3 => (place(), number()).prop_map(|(id, n)| Op::PutNew(id, n)),
        4 => place().prop_map(Op::Remove),
        3 => place().prop_map(Op::Take),
        3 => prop::collection::vec((place(), number()), 0..40).prop_map(Op::PutAll),
        8 => (0..SPAN * IDS, 1..8_u64, 1..MANY).prop_map(|(place, step, n)| {
            Op::PutRun(place, step, n)
        }),
        4 => instant().prop_map(Op::Expire),
        3 => Just(Op::Hold),
        3 => any::<usize>().prop_map(Op::Release),
    ]
}

/// The rows of all buckets.
fn rows(model: &Model) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
    let rows = model.values().flatten();
    rows.map(|(id, number)| (*id, *number))
}

impl<V: Numbered> Subject<Buckets<V>, Held<V>, Model> {
    fn new(width: BucketWidth) -> Self {
        let store = Buckets::of_width(width);
        let gauge = store.gauge();
        Self::of(store, gauge)
    }

    fn insert(&mut self, id: u64, number: u64) -> bool {
        let bucket = self.model.entry(self.store.width().bucket_of(id));
        bucket.or_default().insert(id, number).is_some()
    }

    fn get(&self, id: u64) -> Option<u64> {
        let bucket = self.model.get(&self.store.width().bucket_of(id))?;
        bucket.get(&id).copied()
    }

    fn remove(&mut self, id: u64) -> Option<u64> {
        let bucket = self.store.width().bucket_of(id);
        let rows = self.model.get_mut(&bucket)?;
        let removed = rows.remove(&id);
        if rows.is_empty() {
            self.model.remove(&bucket);
        }
        removed
    }

    fn apply(&mut self, op: Op) {
        match op {
            Op::Put(id, number) => {
                let replaced = self.store.put(id, V::of(number, &self.live));
                assert_eq!(replaced, self.insert(id, number));
            }
            Op::PutNew(id, number) => {
                let value = V::of(number, &self.live);
                let put = self.store.put_if(id, value, |present| present.is_none());
                assert_eq!(put, self.get(id).is_none());
                if put {
                    self.insert(id, number);
                }
            }
            Op::Remove(id) => assert_eq!(self.store.remove(id), self.remove(id).is_some()),
            Op::Take(id) => assert_eq!(self.store.take(id, V::number), self.remove(id)),
            Op::PutAll(rows) => self.put_all(rows),
            Op::PutRun(place, step, count) => {
                let places = (0..count).map(|n| (place + n * step) % (SPAN * IDS));
                self.put_all(places.map(|place| (id(place), place)).collect());
            }
            Op::Expire(since_epoch) => self.expire(since_epoch),
            Op::Hold => self.held.push((self.store.hold(), self.model.clone())),
            Op::Release(any) => {
                if let Some((hold, model)) = self.release(any) {
                    agree(&self.at(&hold), &model, id(0));
                }
            }
        }
    }

    fn put_all(&mut self, rows: Vec<(u64, u64)>) {
        let values = rows.iter().map(|(id, n)| (*id, V::of(*n, &self.live)));
        self.store.put_all(values);
        for (id, number) in rows {
            self.insert(id, number);
        }
    }

    /// By the time of each bucket, not by its number.
    fn expire(&mut self, since_epoch: i64) {
        let before = rows(&self.model).count();
        let millis = self.store.width().millis() as i64;
        self.model.retain(|bucket, _| {
            let end = (*bucket as i64 + 1) * millis;
            end > since_epoch
        });
        let unix_ms = since_epoch.saturating_add(snowflake::EPOCH_MS as i64);
        let expired = self.store.expire_older_than(unix_ms);
        assert_eq!(expired, before - rows(&self.model).count());
    }

    fn at<'a>(&'a self, hold: &'a Held<V>) -> BucketsView<'a, V> {
        self.store.at(hold).expect("a hold of this store")
    }

    fn check(&self, probe: u64) {
        agree(&self.store.view(), &self.model, probe);
        // One held moment at each step, and each of them when it ends.
        if let Some((hold, model)) = self.one_held(probe as usize) {
            agree(&self.at(hold), model, probe);
        }
        let info = self.store.info();
        assert_eq!(info.rows, rows(&self.model).count());
        assert_eq!(info.snapshots, self.held.len());
    }
}

fn row<V: Numbered>((id, value): (u64, V::Ref<'_>)) -> (u64, u64) {
    (id, V::number(value))
}

/// Everything that a view answers is what the maps answer.
fn agree<V: Numbered>(view: &BucketsView<'_, V>, model: &Model, probe: u64) {
    assert_eq!(view.len(), rows(model).count());
    assert!(view.iter().map(row::<V>).eq(rows(model)));
    assert_eq!(view.bucket_count(), model.len());
    let counts = || model.iter().map(|(bucket, rows)| (*bucket, rows.len()));
    assert!(view.buckets().eq(counts()));
    assert!(view.buckets().rev().eq(counts().rev()));
    let (mut both, middle) = (view.buckets(), model.len() / 2);
    assert!(both.by_ref().take(middle).eq(counts().take(middle)));
    assert!(both.rev().eq(counts().skip(middle).rev()));
    assert_eq!(view.oldest_bucket(), model.keys().next().copied());
    assert_eq!(view.newest_bucket(), model.keys().last().copied());

    let bucket = view.width().bucket_of(probe);
    let wanted = model.get(&bucket).cloned().unwrap_or_default();
    assert!(view.bucket(bucket).map(row::<V>).eq(wanted.clone()));
    assert!(view
        .bucket(bucket)
        .rev()
        .map(row::<V>)
        .eq(wanted.clone().into_iter().rev()));
    let before = || {
        model
            .range(..bucket)
            .map(|(bucket, rows)| (*bucket, rows.len()))
    };
    assert!(view.buckets_before(bucket).eq(before()));
    assert!(view.buckets_before(u64::MAX).rev().eq(counts().rev()));
    assert_eq!(view.get(probe).map(V::number), wanted.get(&probe).copied());
}

fn run<V: Numbered>(bits: u32, ops: Vec<(Op, u64)>) {
    let width = BucketWidth::from_bits(bits).expect("few bits");
    let mut subject = Subject::<Buckets<V>, _, _>::new(width);
    for (op, probe) in ops {
        subject.apply(op);
        subject.check(probe);
    }
    for (hold, model) in &subject.held {
        agree(&subject.at(hold), model, id(0));
    }
    subject.close();
}

fn sequences() -> impl Strategy<Value = (u32, Vec<(Op, u64)>)> {
    let bits = prop_oneof![Just(0), 1..9_u32, Just(40)];
    let place = (0..SPAN * IDS).prop_map(id);
    (bits, prop::collection::vec((op(), place), 1..60))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn buckets_of_boxed_values_agree_with_a_map_of_maps((bits, ops) in sequences()) {
        run::<Boxed<Tracked>>(bits, ops);
    }

    #[test]
    fn buckets_of_slim_blobs_agree_with_a_map_of_maps((bits, ops) in sequences()) {
        run::<SlimBlob<Tracked>>(bits, ops);
    }

    #[test]
    fn buckets_of_plain_values_agree_with_a_map_of_maps((bits, ops) in sequences()) {
        run::<u64>(bits, ops);
    }
}
