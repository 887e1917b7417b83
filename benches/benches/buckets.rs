//! The bucket store beside a `BTreeMap` that is split and a map of maps: a million rows in 245 buckets.
//!
//! `cargo run --release -p echo_data_benches --bin report` gives the same as ratios of one run.

use std::collections::BTreeMap;
use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{criterion_group, criterion_main, BatchSize, BenchmarkGroup, Criterion};
use echo_data_benches::expiry::{ids_of_time, instant_after, CoreBuckets, Expiring, MapOfMaps};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROWS: usize = 1_000_000;

/// What the caller waits for, what it must free itself included.
fn expiry(criterion: &mut Criterion) {
    fn run<E: Expiring>(group: &mut BenchmarkGroup<'_, WallTime>, ids: &[u64]) {
        group.bench_function(E::NAME, |bencher| {
            bencher.iter_batched(
                || {
                    echo_data_core::drain();
                    E::of(ids)
                },
                |mut rows| {
                    black_box(rows.expire_older_than(instant_after(ROWS / 10 * 9)));
                    rows
                },
                BatchSize::PerIteration,
            );
        });
    }
    let ids = ids_of_time(ROWS);
    let mut group = criterion.benchmark_group("buckets/expire 900,000 of a million");
    group.sample_size(10);
    run::<CoreBuckets>(&mut group, &ids);
    run::<BTreeMap<u64, u64>>(&mut group, &ids);
    run::<MapOfMaps>(&mut group, &ids);
    group.finish();
}

fn counting(criterion: &mut Criterion) {
    fn run<E: Expiring>(group: &mut BenchmarkGroup<'_, WallTime>, ids: &[u64]) {
        let rows = E::of(ids);
        group.bench_function(E::NAME, |bencher| {
            bencher.iter(|| black_box(&rows).bucket_count());
        });
    }
    let ids = ids_of_time(ROWS);
    let mut group = criterion.benchmark_group("buckets/count of 245 buckets");
    run::<CoreBuckets>(&mut group, &ids);
    run::<BTreeMap<u64, u64>>(&mut group, &ids);
    run::<MapOfMaps>(&mut group, &ids);
    group.finish();
}

criterion_group!(benches, expiry, counting);
criterion_main!(benches);
