//! Keys of a queue server, and the slots of a cluster that they fall into.
//!
//! A cluster divides its keys over [`SLOTS`] slots, and a script may only touch keys of one slot. Of a key
//! with a *hash tag*, text in braces, only the tag decides. So every key of a queue carries the queue's name as
//! its tag: all of them share a slot, and a script over one queue is legal wherever it runs.
//!
//! | key | form | tag |
//! |---|---|---|
//! | of a queue | `emq:{orders}:pending` | the queue's name |
//! | of a job of it | `emq:{orders}:job:` and a branded id | the queue's name |
//! | of the library itself, the *reserve* | `{emq}:locks` | `emq`, which no queue is called |
//!
//! Tags, the checksum and the number of slots are those of the Redis cluster specification. Everything here
//! is pure, and nothing but a built key, a [`Layout`] and a [`SlotSet`] of many slots is allocated. The module knows
//! ids and nothing else of this crate.

mod crc;
mod key;
mod layout;
mod queue;
mod slot;
mod slots;

pub use key::{Key, UngatedJob, VERSION};
pub use layout::{even_partition, InvalidLayout, Layout};
pub use queue::{InvalidQueue, QueueName};
pub use slot::{hashtag, slot, SLOTS};
pub use slots::{CrossSlot, SlotSet};
