//! The ordered store beside `BTreeMap` and `crossbeam-skiplist`, operation by operation.
//!
//! `cargo run --release -p echo_data_benches --bin report` gives the same as ratios of one run.

use std::collections::BTreeMap;
use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{
    criterion_group, criterion_main, BatchSize, BenchmarkGroup, BenchmarkId, Criterion, Throughput,
};
use crossbeam_skiplist::SkipMap;
use echo_data_benches::{ascending_keys, probes, random_keys, Core, Map};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SIZES: [usize; 2] = [10_000, 1_000_000];
const PROBES: usize = 1 << 16;

fn reads<M: Map>(group: &mut BenchmarkGroup<'_, WallTime>, keys: &[u64], read: fn(&M, u64) -> u64) {
    let map = M::of(keys);
    let probes = probes(keys, PROBES, 2);
    let mut turn = probes.iter().cycle();
    group.bench_function(BenchmarkId::new(M::NAME, keys.len()), |bencher| {
        bencher.iter(|| turn.next().map(|&key| black_box(read(&map, key))));
    });
}

fn fills<M: Map>(group: &mut BenchmarkGroup<'_, WallTime>, keys: &[u64]) {
    group.throughput(Throughput::Elements(keys.len() as u64));
    group.bench_function(BenchmarkId::new(M::NAME, keys.len()), |bencher| {
        bencher.iter_batched(
            M::empty,
            |mut map| {
                keys.iter().for_each(|&key| map.put(key, key));
                map
            },
            BatchSize::PerIteration,
        );
    });
}

fn each_subject(
    criterion: &mut Criterion,
    name: &str,
    core: fn(&Core, u64) -> u64,
    btree: fn(&BTreeMap<u64, u64>, u64) -> u64,
    skiplist: fn(&SkipMap<u64, u64>, u64) -> u64,
) {
    let mut group = criterion.benchmark_group(name);
    for size in SIZES {
        let keys = random_keys(size, 1);
        reads(&mut group, &keys, core);
        reads(&mut group, &keys, btree);
        reads(&mut group, &keys, skiplist);
    }
    group.finish();
}

fn get(criterion: &mut Criterion) {
    fn read<M: Map>(map: &M, key: u64) -> u64 {
        map.get(key).unwrap_or(0)
    }
    each_subject(criterion, "get", read, read, read);
}

fn newest_100(criterion: &mut Criterion) {
    fn read<M: Map>(map: &M, _key: u64) -> u64 {
        map.newest(100)
    }
    each_subject(criterion, "newest 100", read, read, read);
}

fn scan_100(criterion: &mut Criterion) {
    fn read<M: Map>(map: &M, key: u64) -> u64 {
        map.scan(key, 100)
    }
    each_subject(criterion, "scan of 100", read, read, read);
}

/// What no peer has: positions by count.
fn positions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("positions");
    for size in SIZES {
        let keys = random_keys(size, 1);
        let store = Core::of(&keys);
        let probes = probes(&keys, PROBES, 2);
        let mut turn = probes.iter().cycle();
        group.bench_function(BenchmarkId::new("rank", size), |bencher| {
            bencher.iter(|| turn.next().map(|&key| black_box(store.view().rank(key))));
        });
        group.bench_function(BenchmarkId::new("select", size), |bencher| {
            bencher.iter(|| {
                turn.next().map(|&key| {
                    store
                        .view()
                        .select(key as usize % size)
                        .map(|(key, _)| black_box(key))
                })
            });
        });
        group.throughput(Throughput::Elements(100));
        group.bench_function(BenchmarkId::new("get_many of 100", size), |bencher| {
            let mut batches = probes.chunks_exact(100).cycle();
            bencher.iter(|| {
                let (view, mut sum) = (store.view(), 0_u64);
                let batch = batches.next().unwrap_or(&[]);
                view.get_many(batch, |_, value| sum ^= value.copied().unwrap_or(0));
                black_box(sum)
            });
        });
    }
    group.finish();
}

fn fill(criterion: &mut Criterion) {
    for (name, keys_of) in [
        (
            "fill, random keys",
            (|size| random_keys(size, 1)) as fn(usize) -> Vec<u64>,
        ),
        ("fill, ascending keys", ascending_keys),
    ] {
        let mut group = criterion.benchmark_group(name);
        group.sample_size(10);
        for size in SIZES {
            let keys = keys_of(size);
            fills::<Core>(&mut group, &keys);
            fills::<BTreeMap<u64, u64>>(&mut group, &keys);
            fills::<SkipMap<u64, u64>>(&mut group, &keys);
        }
        group.finish();
    }
}

fn snapshots(criterion: &mut Criterion) {
    let store = Core::of(&random_keys(1_000_000, 1));
    let mut group = criterion.benchmark_group("moments");
    group.bench_function("view", |bencher| {
        bencher.iter(|| drop(black_box(store.view())))
    });
    group.bench_function("snapshot", |bencher| {
        bencher.iter(|| drop(black_box(store.snapshot())))
    });
    group.finish();
}

criterion_group!(benches, get, newest_100, scan_100, positions, fill, snapshots);
criterion_main!(benches);
