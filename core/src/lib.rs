//! Ordered stores on a lock-free core.
//!
//! Every index is the same persistent, counted B+tree; a store is a few index roots; every change is
//! one atomic swap. So readers never wait, a scan sees one moment, and every count and rank is
//! O(log n).
//!
//! | store | holds | for |
//! |---|---|---|
//! | [`OrderedStore`] | id → value | records and timelines: newest, windows, pages, counts by time |
//! | [`EdgeStore`] | (subject, object) → props, and back | relations: neighbours either way, degrees, pages, common neighbours |
//! | [`Buckets`] | id → value, in buckets of time | what expires: a whole bucket at once, in O(log n) |
//! | [`Ranked`] | (group, id) → score | rankings: the rank of a member or a score, who stands at a place, ties four ways |
//! | [`RecordStore`] | id → value, and indexes that rank the values | records that are ranked by their fields |
//!
//! [`keyspace`] says which slot of a cluster a key falls into.
//!
//! | what a reader may rely on | |
//! |---|---|
//! | one view, one moment | everything read through a [`View`] is of the same version |
//! | a batch is whole | [`OrderedStore::put_all`] is seen entirely or not at all |
//! | no waiting | readers are wait-free, writers lock-free; no operation answers "busy" |

pub mod id;
pub mod keyspace;

mod buckets;
mod closable;
mod edge;
mod index;
mod ordered;
mod prefetch;
mod publish;
mod ranked;
mod ranking;
mod recorded;
mod sync;
mod table;
mod value;

pub use buckets::{
    BucketCounts, BucketWidth, Buckets, BucketsSnapshot, BucketsView, InvalidBucketBits,
};
pub use closable::{Closable, Open};
pub use edge::{Common, EdgeStore, EdgeView, HeldEdges, Links, Neighbours, Replaced};
pub use ordered::{Held, OrderedStore, Rows, Snapshot, View};
pub use publish::{discard, drain, Gauge, Info, Tally};
pub use ranked::{HeldRanks, Ranked, RankedView};
pub use ranking::{
    Board, Condition, Contradiction, Element, Kind, Measure, Number, Order, Put, Refusal, Score,
    Standing, Standings, Ties, When,
};
pub use recorded::{
    Candidate, HeldRecords, RankIndex, RecordStore, RecordView, Rejected, RejectedBy,
};
pub use value::{Blob, BlobRef, Boxed, SlimBlob, Value};
