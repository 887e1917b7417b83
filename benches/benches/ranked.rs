//! The ranked set beside `indexset`, whose sets count but know no groups, no other score for a member and
//! no second thread: the floor.

use std::hint::black_box;
use std::ops::Bound;
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{
    criterion_group, criterion_main, BatchSize, BenchmarkGroup, BenchmarkId, Criterion, Throughput,
};
use echo_data_benches::{ascending_keys, probes, random_keys};
use echo_data_core::{Board, Order, OrderedStore, Ranked, Ties, When};
use indexset::BTreeSet;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SIZES: [usize; 2] = [10_000, 1_000_000];
const PROBES: usize = 1 << 16;
const GROUP: &[u8] = b"";
const ROWS: usize = 1000;
const NEW: usize = 10_000;

const TIES: [(&str, Ties); 4] = [
    ("ordinal", Ties::Ordinal),
    ("competition", Ties::Competition),
    ("dense", Ties::Dense),
    ("max", Ties::Max),
];

/// Members and their scores: both in random order, the scores distinct.
fn members(size: usize) -> Vec<(u64, i64)> {
    let scores = random_keys(size, 2).into_iter().map(|score| score as i64);
    random_keys(size, 1).into_iter().zip(scores).collect()
}

fn ranked(members: &[(u64, i64)]) -> Ranked<i64> {
    let set = Ranked::new();
    put(&set, members);
    set
}

fn put(set: &Ranked<i64>, members: &[(u64, i64)]) {
    for &(id, score) in members {
        let put = set.put(GROUP, id, score, When::ALWAYS);
        put.expect("an integer");
    }
}

fn floor(members: &[(u64, i64)]) -> BTreeSet<(i64, u64)> {
    members.iter().map(|&(id, score)| (score, id)).collect()
}

/// A set and its floor with the same members, and some of these to ask about.
struct Subjects {
    set: Ranked<i64>,
    floor: BTreeSet<(i64, u64)>,
    probes: Vec<(u64, i64)>,
}

impl Subjects {
    fn of(members: &[(u64, i64)]) -> Self {
        let places: Vec<u64> = (0..members.len() as u64).collect();
        let probes = probes(&places, PROBES, 3);
        Self {
            set: ranked(members),
            floor: floor(members),
            probes: probes.iter().map(|&at| members[at as usize]).collect(),
        }
    }
}

/// Times a question that is asked of one probe after the other.
fn ask<P, A>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    (name, size): (&str, usize),
    probes: impl Iterator<Item = P> + Clone,
    question: impl Fn(P) -> A,
) {
    let mut turn = probes.cycle();
    group.bench_function(BenchmarkId::new(name, size), |bencher| {
        bencher.iter(|| turn.next().map(|probe| black_box(question(probe))));
    });
}

fn rank(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rank");
    for size in SIZES {
        let Subjects { set, floor, probes } = Subjects::of(&members(size));
        let ids: Vec<u64> = probes.iter().map(|&(id, _)| id).collect();
        for (name, ties) in &TIES[..3] {
            ask(&mut group, (name, size), ids.iter(), |&id| {
                set.view().group(GROUP).rank(id, *ties, Order::Descending)
            });
        }
        let scores = probes.iter().map(|&(_, score)| score);
        ask(&mut group, ("of a score", size), scores, |score| {
            let (view, ties) = (set.view(), Ties::Competition);
            view.group(GROUP)
                .rank_for_score(score, ties, Order::Ascending)
        });
        let batches = ids.chunks_exact(100);
        ask(&mut group, ("100 a call", size), batches, |ids| {
            let view = set.view();
            view.group(GROUP)
                .ranks(ids, Ties::Ordinal, Order::Ascending)
        });
        let name = "indexset, of a score and id";
        ask(&mut group, (name, size), probes.iter(), |&(id, score)| {
            floor.rank(&(score, id))
        });
    }
    group.finish();
}

fn select(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("select");
    for size in SIZES {
        let Subjects { set, floor, .. } = Subjects::of(&members(size));
        let places: Vec<u64> = (0..size as u64).collect();
        let places = probes(&places, PROBES, 4);
        ask(&mut group, ("echo_data", size), places.iter(), |&at| {
            set.view()
                .group(GROUP)
                .select(at as usize, Order::Descending)
        });
        ask(&mut group, ("indexset", size), places.iter(), |&at| {
            floor.get_index(at as usize)
        });
    }
    group.finish();
}

fn fill(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fill, random scores");
    group.sample_size(10);
    for size in SIZES {
        let members = members(size);
        group.throughput(Throughput::Elements(size as u64));
        group.bench_function(BenchmarkId::new("echo_data", size), |bencher| {
            bencher.iter_batched(|| (), |()| ranked(&members), BatchSize::PerIteration);
        });
        group.bench_function(BenchmarkId::new("indexset", size), |bencher| {
            bencher.iter_batched(|| (), |()| floor(&members), BatchSize::PerIteration);
        });
    }
    group.finish();
}

/// A new member of a set that has so many, with a random score; its id is the newest, as of one that is minted,
/// or random, too.
fn enter(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("a new member");
    for size in SIZES {
        let (minted, random) = (ascending_keys(size + NEW), random_keys(size + NEW, 1));
        for (name, ids) in [("newest id", minted), ("random id", random)] {
            let scores = random_keys(size + NEW, 2);
            let scores = scores.into_iter().map(|score| score as i64);
            let members: Vec<_> = ids.into_iter().zip(scores).collect();
            let (held, new) = members.split_at(size);
            let set = ranked(held);
            group.bench_function(BenchmarkId::new(name, size), |bencher| {
                bencher.iter_custom(|puts| entered(&set, new, puts));
            });
        }
    }
    group.finish();
}

/// How long so many puts of new members take; they are removed again, which is not counted.
fn entered(set: &Ranked<i64>, new: &[(u64, i64)], puts: u64) -> Duration {
    let (mut took, mut left) = (Duration::ZERO, puts as usize);
    while left > 0 {
        let new = &new[..left.min(new.len())];
        let begun = Instant::now();
        put(set, new);
        took += begun.elapsed();
        for &(id, _) in new {
            set.delete(GROUP, id);
        }
        left -= new.len();
    }
    took
}

/// One update of a member in a set that stays as large as it is.
fn update(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("another score for a member");
    for size in SIZES {
        let Subjects { set, probes, .. } = Subjects::of(&members(size));
        let ids = probes.iter().map(|&(id, _)| id);
        let scores = random_keys(PROBES, 5);
        let updates = ids.zip(scores.iter());
        ask(&mut group, ("echo_data", size), updates, |(id, &score)| {
            set.put(GROUP, id, score as i64, When::ALWAYS)
        });
    }
    group.finish();
}

/// The first rows from a score on, folded to one number.
fn scanned(board: &Board<'_, i64>, from: i64, ties: Ties, order: Order) -> u64 {
    let range = match order {
        Order::Ascending => (Bound::Included(from), Bound::Unbounded),
        Order::Descending => (Bound::Unbounded, Bound::Included(from)),
    };
    let rows = board.by_score(range, ties, order).expect("an integer");
    let numbers = rows
        .take(ROWS)
        .map(|row| row.id ^ row.score as u64 ^ row.rank as u64);
    numbers.fold(0, |sum, number| sum ^ number)
}

/// Rows with their ranks against the plain rows of an `OrderedStore`, and of ties against ordinal places.
fn scan(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scan of 1000 with ranks");
    group.throughput(Throughput::Elements(ROWS as u64));
    for size in SIZES {
        let members = members(size);
        let Subjects { set, floor, probes } = Subjects::of(&members);
        for (name, ties) in TIES {
            for order in [Order::Ascending, Order::Descending] {
                let name = format!("{name}, {order:?}").to_lowercase();
                ask(&mut group, (&name, size), probes.iter(), |&(_, score)| {
                    scanned(&set.view().group(GROUP), score, ties, order)
                });
            }
        }
        let plain = OrderedStore::new();
        for &(id, score) in &members {
            plain.put(score as u64, id);
        }
        let name = "an ordered store's, without ranks";
        ask(&mut group, (name, size), probes.iter(), |&(_, score)| {
            let view = plain.view();
            let rows = view.range(score as u64..).take(ROWS);
            rows.fold(0, |sum, (score, id)| sum ^ score ^ id)
        });
        let name = "indexset, without ranks";
        ask(&mut group, (name, size), probes.iter(), |&(id, score)| {
            let rows = floor.range((score, id)..).take(ROWS);
            rows.fold(0, |sum, (score, id)| sum ^ id ^ *score as u64)
        });
    }
    group.finish();
}

criterion_group!(benches, rank, select, fill, enter, update, scan);
criterion_main!(benches);
