//! Slots of keys, beside the loop of the `crc16` crate over the same tag: short keys, and keys without a tag
//! up to a mebibyte.

use std::hint::black_box;

use crc16::{State, XMODEM};
use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion, Throughput};
use echo_data_core::id::BrandedId;
use echo_data_core::keyspace::{hashtag, slot, Key, QueueName, SlotSet, SLOTS};

/// What the same costs with the crate's own loop.
fn plain_slot(key: &[u8]) -> u16 {
    State::<XMODEM>::calculate(hashtag(key)) % SLOTS
}

fn untagged(length: usize) -> Vec<u8> {
    (0..length).map(|at| b'a' + (at % 26) as u8).collect()
}

fn slots(c: &mut Criterion) {
    let subjects = [
        ("job_key", b"emq:{orders}:job:ORD0NgWEfAEJfs".to_vec()),
        ("untagged", untagged(31)),
        ("untagged", untagged(1 << 10)),
        ("untagged", untagged(1 << 20)),
    ];
    let mut group = c.benchmark_group("keyspace/slot");
    for (name, key) in &subjects {
        assert_eq!(slot(key), plain_slot(key));
        let of = format!("{name}/{}", key.len());
        group.throughput(Throughput::Bytes(key.len() as u64));
        group.bench_with_input(BenchmarkId::new("ours", &of), key, |b, key| {
            b.iter(|| slot(black_box(key)))
        });
        group.bench_with_input(BenchmarkId::new("crc16", &of), key, |b, key| {
            b.iter(|| plain_slot(black_box(key)))
        });
    }
    group.finish();
}

fn keys(c: &mut Criterion) {
    let orders = QueueName::new(b"orders").expect("a lawful name");
    let id = BrandedId::parse(b"ORD0NgWEfAEJfs").expect("an id");
    let job = Key::job(orders, id);
    let built = job.to_vec();
    let script = [
        built.clone(),
        built.clone(),
        b"emq:{orders}:pending".to_vec(),
    ];
    let mut group = c.benchmark_group("keyspace/key");
    group.bench_function("build", |b| b.iter(|| black_box(&job).to_vec()));
    group.bench_function("parse", |b| b.iter(|| Key::parse(black_box(&built))));
    group.bench_function("slot_set_of_3", |b| {
        b.iter(|| SlotSet::of(black_box(&script)))
    });
    group.finish();
}

criterion_group!(benches, slots, keys);
criterion_main!(benches);
