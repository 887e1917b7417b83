//! The stores against their peers, as ratios within one run: what `RESULTS.md` records.
//!
//! `report [ROUNDS]`; each round runs every subject once, in turn, and the median round is quoted.

mod buckets;
mod edges;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_skiplist::SkipMap;
use echo_data_benches::{
    ascending_keys, lap, probes, race, random_keys, resident_bytes, Core, Map, Spread,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Tree = BTreeMap<u64, u64>;
type Skip = SkipMap<u64, u64>;

const NAMES: [&str; 3] = [Core::NAME, Tree::NAME, Skip::NAME];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name] = &arguments[..] {
        if flag == "--memory" {
            return memory_row(name);
        }
    }
    let rounds = arguments.first().map_or(Ok(7), |text| text.parse());
    let Ok(rounds @ 1..) = rounds else {
        eprintln!("usage: report [ROUNDS], a whole number from 1");
        std::process::exit(2);
    };
    memory();
    println!("\nnanoseconds an operation: median of {rounds} rounds (fastest to slowest)\n");
    println!(
        "| operation | rows | {} | {} | {} |",
        NAMES[0], NAMES[1], NAMES[2]
    );
    println!("|---|---|---|---|---|");
    for rows in [10_000, 1_000_000] {
        let keys = random_keys(rows, 1);
        reads(rounds, &keys);
        fills(rounds, "fill, random keys", &keys);
        fills(rounds, "fill, ascending keys", &ascending_keys(rows));
        only_here(rounds, &keys);
    }
    println!();
    edges::relations(rounds);
    println!();
    buckets::buckets(rounds);
    println!();
    contention(rounds);
    overwrites();
}

fn line(operation: &str, rows: usize, spreads: &[Spread]) {
    let base = spreads[0].median;
    let cells: Vec<String> = spreads
        .iter()
        .enumerate()
        .map(|(at, spread)| {
            let ratio = if at == 0 {
                String::new()
            } else {
                format!(", ×{:.2}", spread.median / base)
            };
            format!(
                "{:.0} ({:.0}–{:.0}){ratio}",
                spread.median, spread.min, spread.max
            )
        })
        .collect();
    println!("| {operation} | {rows} | {} |", cells.join(" | "));
}

fn reads(rounds: usize, keys: &[u64]) {
    let (core, tree, skip) = (Core::of(keys), Tree::of(keys), Skip::of(keys));
    let probes = probes(keys, 200_000, 2);
    for (name, stride, count) in [("get", 1, 0), ("scan of 100", 10, 100)] {
        let probes: Vec<u64> = probes.iter().copied().step_by(stride).collect();
        let spreads = race(
            rounds,
            &mut [
                lap(probes.len(), || each(&core, &probes, count)),
                lap(probes.len(), || each(&tree, &probes, count)),
                lap(probes.len(), || each(&skip, &probes, count)),
            ],
        );
        line(name, keys.len(), &spreads);
    }
    let times = 20_000;
    let spreads = race(
        rounds,
        &mut [
            lap(times, || newest(&core, times)),
            lap(times, || newest(&tree, times)),
            lap(times / 10, || newest(&skip, times / 10)),
        ],
    );
    line("newest 100", keys.len(), &spreads);
}

fn each<M: Map>(map: &M, probes: &[u64], count: usize) {
    for &key in probes {
        black_box(if count == 0 {
            map.get(key).unwrap_or(0)
        } else {
            map.scan(key, count)
        });
    }
}

fn newest<M: Map>(map: &M, times: usize) {
    for _ in 0..times {
        black_box(map.newest(black_box(100)));
    }
}

fn fills(rounds: usize, name: &str, keys: &[u64]) {
    let spreads = race(
        rounds,
        &mut [
            Box::new(|| fill::<Core>(keys)),
            Box::new(|| fill::<Tree>(keys)),
            Box::new(|| fill::<Skip>(keys)),
        ],
    );
    line(name, keys.len(), &spreads);
}

/// Times the puts alone, not the freeing of the map.
fn fill<M: Map>(keys: &[u64]) -> (Duration, usize) {
    let start = Instant::now();
    let map = M::of(keys);
    let took = start.elapsed();
    drop(map);
    echo_data_core::drain();
    (took, keys.len())
}

/// What the peers do not have, for the record.
fn only_here(rounds: usize, keys: &[u64]) {
    let store = Core::of(keys);
    let probes = probes(keys, 200_000, 3);
    let rows = keys.len();
    let spreads = race(
        rounds,
        &mut [
            lap(probes.len(), || {
                probes.iter().for_each(|&key| {
                    black_box(store.view().rank(key));
                })
            }),
            lap(probes.len(), || {
                probes.iter().for_each(|&key| {
                    black_box(store.view().select(key as usize % rows).map(|(key, _)| key));
                })
            }),
            lap(probes.len(), || {
                probes.chunks(100).for_each(|batch| {
                    store.view().get_many(batch, |_, value| {
                        black_box(value);
                    });
                })
            }),
            lap(probes.len(), || {
                probes.iter().for_each(|&key| {
                    black_box(store.put(key, key));
                })
            }),
            lap(probes.len(), || {
                probes
                    .iter()
                    .for_each(|_| drop(black_box(store.snapshot())))
            }),
        ],
    );
    let names = [
        "rank",
        "select",
        "get, 100 keys a call",
        "overwrite",
        "snapshot, taken and dropped",
    ];
    for (name, spread) in names.iter().zip(spreads) {
        line(name, rows, &[spread]);
    }
}

/// Rows of the memory table, each measured in a process of its own: an allocator that has memory to
/// spare from earlier work would hide what a store takes.
fn memory() {
    println!(
        "| retained, a million rows of 8-byte keys and values | bytes a row, counted | resident |"
    );
    println!("|---|---|---|");
    for name in ["appended", "inserted in random order"] {
        let program = std::env::current_exe().expect("this program has a path");
        let status = std::process::Command::new(program)
            .args(["--memory", name])
            .status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "measuring {name} failed"
        );
    }
}

/// One row of the memory table, printed by the child process.
fn memory_row(name: &str) {
    let rows = 1_000_000;
    // Made on the way: a list of keys would be resident too.
    let mut random = fastrand::Rng::with_seed(1);
    let mut key = |place: u64| match name {
        "appended" => place << 10,
        _ => random.u64(..) >> 1,
    };
    let before = resident_bytes();
    let store = Core::new();
    (0..rows).for_each(|place| {
        store.put(key(place), place);
    });
    echo_data_core::drain();
    let counted = store.info().memory.bytes as f64 / rows as f64;
    let resident = resident_bytes().saturating_sub(before) as f64 / rows as f64;
    println!("| {name} | {counted:.1} | {resident:.1} |");
}

fn overwrites() {
    let keys = ascending_keys(10_000);
    let store = Core::of(&keys);
    let overwrite = |times: usize| {
        (0..times).for_each(|at| {
            store.put(keys[at * 7919 % keys.len()], at as u64);
        })
    };
    overwrite(100_000);
    let before = (store.info().memory.bytes, resident_bytes());
    overwrite(1_000_000);
    let after = (store.info().memory.bytes, resident_bytes());
    println!(
        "\na million overwrites of ten thousand rows: {} → {} bytes counted, {} → {} KiB resident",
        before.0,
        after.0,
        before.1 >> 10,
        after.1 >> 10
    );
}

fn contention(rounds: usize) {
    println!("| writers on one store of a million rows | one, ns | two together, ns | of one's throughput |");
    println!("|---|---|---|---|");
    for (name, appends) in [("overwrites, random keys", false), ("appends", true)] {
        let keys = random_keys(1_000_000, 1);
        let store = Core::of(&keys);
        let next = AtomicU64::new(1 << 63);
        let seed = AtomicU64::new(1);
        let writer = || {
            let mut random = fastrand::Rng::with_seed(seed.fetch_add(1, Ordering::Relaxed));
            for _ in 0..WRITES {
                let key = if appends {
                    next.fetch_add(1, Ordering::Relaxed)
                } else {
                    keys[random.usize(..keys.len())]
                };
                store.put(key, key);
            }
        };
        let spreads = race(
            rounds,
            &mut [
                lap(WRITES, writer),
                lap(2 * WRITES, || {
                    std::thread::scope(|scope| {
                        scope.spawn(writer);
                        writer();
                    })
                }),
            ],
        );
        let (one, two) = (spreads[0].median, spreads[1].median);
        println!("| {name} | {one:.0} | {two:.0} | {:.2} |", one / two);
    }
}

const WRITES: usize = 200_000;
