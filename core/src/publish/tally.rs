//! Counts of live memory, exact and cheap: what was made is summed in each version, what was freed
//! in a few atomics, and the difference is what lives.

use crate::sync::{AtomicU64, Ordering};

use super::block::{Block, Kind};

/// Amounts of memory, by what it is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Tree nodes.
    pub nodes: u64,
    /// Values that live outside their leaf.
    pub payloads: u64,
    /// Published versions not yet reclaimed; a store at rest has one and a short tail of recent ones.
    pub versions: u64,
    /// Bytes of all of the above, as asked of the allocator, and what they are said to hold elsewhere.
    pub bytes: u64,
}

impl Tally {
    pub(crate) fn add_block(&mut self, block: Block) {
        match block.kind() {
            Kind::Leaf | Kind::Inner => self.nodes += 1,
            Kind::Payload | Kind::Droppable => self.payloads += 1,
        }
        self.bytes = self.bytes.wrapping_add(block.weight() as u64);
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            nodes: self.nodes + other.nodes,
            payloads: self.payloads + other.payloads,
            versions: self.versions + other.versions,
            // Of all that there ever was: what values are said to hold elsewhere may be much.
            bytes: self.bytes.wrapping_add(other.bytes),
        }
    }

    /// What is left of `self` once `freed` is gone; never below zero, since a reader may see a free
    /// before the publication that made the block.
    pub(crate) fn minus(self, freed: Self) -> Self {
        Self {
            nodes: difference(self.nodes, freed.nodes),
            payloads: difference(self.payloads, freed.payloads),
            versions: difference(self.versions, freed.versions),
            bytes: difference(self.bytes, freed.bytes),
        }
    }
}

/// By how much one sum is larger than another, both of which may have wrapped; not below zero.
pub(super) fn difference(made: u64, gone: u64) -> u64 {
    made.wrapping_sub(gone).cast_signed().max(0).cast_unsigned()
}

/// A [`Tally`] that several threads add to.
pub(crate) struct SharedTally {
    nodes: AtomicU64,
    payloads: AtomicU64,
    versions: AtomicU64,
    bytes: AtomicU64,
}

impl SharedTally {
    pub(crate) fn new() -> Self {
        Self {
            nodes: AtomicU64::new(0),
            payloads: AtomicU64::new(0),
            versions: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// Adds a batch. Relaxed: the counters order nothing, they are only summed.
    pub(crate) fn add(&self, tally: Tally) {
        self.nodes.fetch_add(tally.nodes, Ordering::Relaxed);
        self.payloads.fetch_add(tally.payloads, Ordering::Relaxed);
        self.versions.fetch_add(tally.versions, Ordering::Relaxed);
        self.bytes.fetch_add(tally.bytes, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> Tally {
        Tally {
            nodes: self.nodes.load(Ordering::Relaxed),
            payloads: self.payloads.load(Ordering::Relaxed),
            versions: self.versions.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}
