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
        self.bytes = self.bytes.saturating_add(block.weight() as u64);
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            nodes: self.nodes + other.nodes,
            payloads: self.payloads + other.payloads,
            versions: self.versions + other.versions,
            // What values are said to hold elsewhere may be anything.
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    /// What is left of `self` once `freed` is gone; never below zero, since a reader may see a free
    /// before the publication that made the block.
    pub(crate) fn minus(self, freed: Self) -> Self {
        Self {
            nodes: self.nodes.saturating_sub(freed.nodes),
            payloads: self.payloads.saturating_sub(freed.payloads),
            versions: self.versions.saturating_sub(freed.versions),
            bytes: self.bytes.saturating_sub(freed.bytes),
        }
    }
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
