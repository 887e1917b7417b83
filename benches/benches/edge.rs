//! The edge store beside two `crossbeam-skiplist`s: a subject of a hundred thousand edges among others, a
//! million edges in all.
//!
//! `cargo run --release -p echo_data_benches --bin report` gives the same as ratios of one run.

use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{criterion_group, criterion_main, BenchmarkGroup, Criterion};
use echo_data_benches::relation::{hub_edges, Edges, Relation, TwoSkipLists, HUB};
use echo_data_benches::while_writing;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const DEGREE: usize = 100_000;
const OTHERS: usize = 900_000;

/// Both subjects with the same edges.
struct Subjects {
    edges: Edges,
    lists: TwoSkipLists,
}

impl Subjects {
    fn new() -> Self {
        let all = hub_edges(DEGREE, OTHERS, 1);
        Self {
            edges: Edges::of(&all),
            lists: TwoSkipLists::of(&all),
        }
    }

    /// Times a piece of work on objects all over the place.
    fn compare(
        &self,
        criterion: &mut Criterion,
        name: &str,
        edges: fn(&Edges, u64),
        lists: fn(&TwoSkipLists, u64),
    ) {
        let mut group = criterion.benchmark_group(name);
        measure(&mut group, &self.edges, edges);
        measure(&mut group, &self.lists, lists);
        group.finish();
    }
}

fn measure<R: Relation>(group: &mut BenchmarkGroup<'_, WallTime>, relation: &R, work: fn(&R, u64)) {
    let mut turn = 0;
    group.bench_function(R::NAME, |bencher| {
        bencher.iter(|| {
            turn = (turn + 7919) % DEGREE as u64;
            work(relation, 1 + turn);
        });
    });
}

fn link_and_unlink<R: Relation>(relation: &R, object: u64) {
    relation.link(object % 1000, DEGREE as u64 + object);
    relation.unlink(object % 1000, DEGREE as u64 + object);
}

fn degree<R: Relation>(relation: &R, _: u64) {
    black_box(relation.degree(black_box(HUB)));
}

fn first<R: Relation>(relation: &R, _: u64) {
    black_box(relation.page(black_box(HUB), 0, 20));
}

fn next<R: Relation>(relation: &R, cursor: u64) {
    black_box(relation.page(HUB, cursor, 20));
}

fn subjects<R: Relation>(relation: &R, object: u64) {
    black_box(relation.subjects(object));
}

fn beside_a_writer<R: Relation>(group: &mut BenchmarkGroup<'_, WallTime>, relation: &R) {
    let write = |turn: u64| link_and_unlink(relation, 1 + turn * 7919 % DEGREE as u64);
    while_writing(write, || measure(group, relation, subjects));
}

fn edges(criterion: &mut Criterion) {
    let both = Subjects::new();
    both.compare(criterion, "edge/degree of 100,000", degree, degree);
    both.compare(criterion, "edge/first 20 of 100,000", first, first);
    both.compare(criterion, "edge/20 from a cursor on", next, next);
    both.compare(criterion, "edge/subjects of an object", subjects, subjects);
    let mut group = criterion.benchmark_group("edge/subjects of an object, beside a writer");
    beside_a_writer(&mut group, &both.edges);
    beside_a_writer(&mut group, &both.lists);
    group.finish();
    both.compare(
        criterion,
        "edge/link and unlink",
        link_and_unlink,
        link_and_unlink,
    );
}

criterion_group!(benches, edges);
criterion_main!(benches);
