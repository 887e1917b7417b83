//! The edge store beside two skip lists.

use std::hint::black_box;

use echo_data_benches::relation::{hub_edges, Edges, Relation, TwoSkipLists, HUB};
use echo_data_benches::{lap, race, while_writing, Lap};

use crate::line;

const DEGREE: usize = 100_000;
const EDGES: usize = 1_000_000;

/// What is measured: its name, how often, and the work on a subject and an object.
type Work<R> = (&'static str, usize, fn(&R, u64));

fn works<R: Relation>() -> [Work<R>; 5] {
    [
        ("link and unlink", 100_000, |relation, object| {
            relation.link(object % 1000, DEGREE as u64 + object);
            relation.unlink(object % 1000, DEGREE as u64 + object);
        }),
        ("degree of 100,000", 10, |relation, _| {
            black_box(relation.degree(black_box(HUB)));
        }),
        ("first 20 of 100,000", 100_000, |relation, _| {
            black_box(relation.page(black_box(HUB), 0, 20));
        }),
        ("20 from a cursor on", 100_000, |relation, cursor| {
            black_box(relation.page(HUB, cursor, 20));
        }),
        ("subjects of an object", 100_000, |relation, object| {
            black_box(relation.subjects(object));
        }),
    ]
}

/// The work on objects all over the place.
fn turns<R: Relation>(relation: &R, (_, times, work): Work<R>) -> Lap<'_> {
    lap(times, move || {
        for turn in 0..times as u64 {
            work(relation, 1 + turn * 7919 % DEGREE as u64);
        }
    })
}

/// The last of the works, while another thread does the first.
fn beside_a_writer<R: Relation>(relation: &R) -> Lap<'_> {
    let [(_, _, write), .., read] = works();
    let mut timed = turns(relation, read);
    Box::new(move || {
        let write = |turn: u64| write(relation, 1 + turn * 7919 % DEGREE as u64);
        while_writing(write, &mut timed)
    })
}

/// The rows of the table of relations.
pub fn relations(rounds: usize) {
    println!(
        "| relations | edges | {} | {} |",
        Edges::NAME,
        TwoSkipLists::NAME
    );
    println!("|---|---|---|---|");
    let all = hub_edges(DEGREE, EDGES - DEGREE, 1);
    let (edges, lists) = (Edges::of(&all), TwoSkipLists::of(&all));
    for (ours, theirs) in works().into_iter().zip(works()) {
        let name = ours.0;
        let spreads = race(rounds, &mut [turns(&edges, ours), turns(&lists, theirs)]);
        line(name, EDGES, &spreads);
    }
    let both = &mut [beside_a_writer(&edges), beside_a_writer(&lists)];
    line(
        "subjects of an object, beside a writer",
        EDGES,
        &race(rounds, both),
    );
}
