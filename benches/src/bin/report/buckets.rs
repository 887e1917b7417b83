//! The bucket store beside maps that are split.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use echo_data_benches::expiry::{ids_of_time, instant_after, CoreBuckets, Expiring, MapOfMaps};
use echo_data_benches::{lap, race, Lap};

use crate::line;

const ROWS: usize = 1_000_000;
const COUNTS: usize = 1000;

/// Times the expiry alone, not the filling before it.
fn expiry<E: Expiring>(ids: &[u64]) -> Lap<'_> {
    Box::new(|| {
        let mut rows = E::of(ids);
        let start = Instant::now();
        black_box(rows.expire_older_than(instant_after(ROWS / 10 * 9)));
        let took = start.elapsed();
        drop(rows);
        echo_data_core::drain();
        (took, 1)
    })
}

fn counting<E: Expiring>(rows: &E) -> Lap<'_> {
    lap(COUNTS, move || {
        for _ in 0..COUNTS {
            black_box(black_box(rows).bucket_count());
        }
    })
}

/// The rows of the table of buckets.
pub fn buckets(rounds: usize) {
    type Tree = BTreeMap<u64, u64>;
    let (core, tree, maps) = (CoreBuckets::NAME, <Tree as Expiring>::NAME, MapOfMaps::NAME);
    println!("| buckets | rows | {core} | {tree} | {maps} |");
    println!("|---|---|---|---|---|");
    let ids = ids_of_time(ROWS);
    let expiries = &mut [
        expiry::<CoreBuckets>(&ids),
        expiry::<Tree>(&ids),
        expiry::<MapOfMaps>(&ids),
    ];
    line("expire 900,000", ROWS, &race(rounds, expiries));
    let rows = (
        CoreBuckets::of(&ids),
        <Tree as Expiring>::of(&ids),
        MapOfMaps::of(&ids),
    );
    let counts = &mut [counting(&rows.0), counting(&rows.1), counting(&rows.2)];
    line("count of 245 buckets", ROWS, &race(rounds, counts));
}
