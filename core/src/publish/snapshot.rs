//! Snapshots: versions that stay readable, and the blocks parked for them.
//!
//! A reader that needs one moment for longer than an epoch guard should be held registers the number
//! of its version here. A block that was born at `b` and replaced at `d` is needed by the snapshot of
//! version `s` when `b <= s < d`; such a block is parked with that snapshot instead of being freed.
//!
//! Registration races with publication, which the pin of whoever registers settles ([`Registry::register`]).
//! Parking races with release: park, then look again at the slot ([`Live::park`]).
#![allow(unsafe_code)] // owns the lists of parked blocks

use std::ptr;

use smallvec::SmallVec;

use crate::sync::{AtomicPtr, AtomicU64, Ordering, Race};

use super::block::Block;

/// The slot is unused. Version numbers start at 1.
const FREE: u64 = 0;

const SLOTS: usize = if cfg!(loom) { 1 } else { 8 };

/// A block that a snapshot may still read, with the version that replaced it.
#[derive(Clone, Copy)]
pub(crate) struct Parked {
    pub(crate) block: Block,
    pub(crate) death: u64,
}

struct Pile {
    blocks: Vec<Parked>,
    next: *mut Pile,
    /// Where loom watches the pile.
    race: Race,
}

/// A place for a snapshot and for what is parked with it.
///
/// All changes of `piles` read and write it in one step, so they are in one order, each seeing what
/// came before the earlier ones. Whoever ends a snapshot says so and then takes; whoever parks pushes
/// and then looks: the pile is taken by the one or the end is seen by the other.
pub(crate) struct Slot {
    version: AtomicU64,
    piles: AtomicPtr<Pile>,
}

impl Slot {
    fn new() -> Self {
        Self {
            version: AtomicU64::new(FREE),
            piles: AtomicPtr::new(ptr::null_mut()),
        }
    }

    fn push(&self, blocks: Vec<Parked>) {
        let pile = Box::into_raw(Box::new(Pile {
            blocks,
            next: ptr::null_mut(),
            race: Race::new(0),
        }));
        let mut head = self.piles.load(Ordering::Relaxed);
        loop {
            // SAFETY: not shared until the exchange below succeeds.
            unsafe { (*pile).next = head };
            // Release: pairs with the Acquire in `take`, which reads the pile. Acquire: pairs with the
            // Release of an earlier `take`; see `Slot`.
            match self
                .piles
                .compare_exchange_weak(head, pile, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return,
                Err(newer) => head = newer,
            }
        }
    }

    /// Takes everything parked here. Piles leave the list only whole, so no pile is seen twice.
    fn take(&self) -> Vec<Parked> {
        // Acquire: pairs with the Release in `push`. Release: with the Acquire there.
        let mut next = self.piles.swap(ptr::null_mut(), Ordering::AcqRel);
        let mut taken = Vec::new();
        while !next.is_null() {
            // SAFETY: piles come from `Box::into_raw`; the swap made this thread their owner.
            let mut pile = unsafe { Box::from_raw(next) };
            pile.race.free();
            if taken.is_empty() {
                taken = std::mem::take(&mut pile.blocks);
            } else {
                taken.append(&mut pile.blocks);
            }
            next = pile.next;
        }
        taken
    }
}

struct Chunk {
    slots: [Slot; SLOTS],
    next: AtomicPtr<Chunk>,
}

impl Chunk {
    fn new() -> Self {
        Self {
            slots: std::array::from_fn(|_| Slot::new()),
            next: AtomicPtr::new(ptr::null_mut()),
        }
    }
}

/// The live snapshots of one store.
pub(crate) struct Registry {
    first: Chunk,
}

/// A registered place, given back with [`Registry::release`].
#[derive(Clone, Copy)]
pub(crate) struct Place(*const Slot);

// SAFETY: slots live as long as their registry and are all atomics.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

/// The snapshots that were live at one look, oldest first.
pub(crate) struct Live<'a>(SmallVec<[(u64, &'a Slot); SLOTS]>);

impl Registry {
    pub(crate) fn new() -> Self {
        Self {
            first: Chunk::new(),
        }
    }

    fn slots(&self) -> impl Iterator<Item = &Slot> {
        let mut chunk = Some(&self.first);
        std::iter::from_fn(move || {
            let now = chunk?;
            // Acquire: pairs with the Release that linked the chunk in `grow`.
            let next = now.next.load(Ordering::Acquire);
            // SAFETY: chunks are freed only with the registry.
            chunk = unsafe { next.as_ref() };
            Some(now.slots.iter())
        })
        .flatten()
    }

    /// Registers a snapshot of the version `number`. The caller is pinned since before it found that
    /// version current.
    ///
    /// Nothing is to be looked at again: what later versions replace waits for the caller's guard, and
    /// is swept only after that, when the registration is to be seen.
    pub(crate) fn register(&self, number: u64) -> Place {
        loop {
            for slot in self.slots() {
                // Acquire: pairs with the Release in `release`, so that this snapshot's end also tells of
                // what the place's earlier ones have read. Until then their Release still tells it: an
                // exchange passes on the Release that it has read.
                let free = slot.version.load(Ordering::Relaxed) == FREE
                    && slot
                        .version
                        .compare_exchange(FREE, number, Ordering::Acquire, Ordering::Relaxed)
                        .is_ok();
                if free {
                    return Place(slot);
                }
            }
            self.grow();
        }
    }

    fn grow(&self) {
        let chunk = Box::into_raw(Box::new(Chunk::new()));
        let mut last = &self.first;
        loop {
            // Release: the chunk's slots are initialised before it is found (`slots`).
            match last.next.compare_exchange(
                ptr::null_mut(),
                chunk,
                Ordering::Release,
                Ordering::Acquire,
            ) {
                Ok(_) => return,
                // SAFETY: a linked chunk lives as long as the registry.
                Err(next) => last = unsafe { &*next },
            }
        }
    }

    /// Ends a snapshot. Returns what was parked for it; some of it may be needed by another snapshot.
    pub(crate) fn release(&self, place: Place) -> Vec<Parked> {
        // SAFETY: the place was made by this registry, whose slots live as long as it does.
        let slot = unsafe { &*place.0 };
        // Release: reads through the snapshot come before; pairs with the Acquire in `live`.
        slot.version.store(FREE, Ordering::Release);
        slot.take()
    }

    /// The snapshots that are live now.
    pub(crate) fn live(&self) -> Live<'_> {
        let mut live: SmallVec<[(u64, &Slot); SLOTS]> = self
            .slots()
            // Acquire: pairs with the Release in `release`. Whoever finds a snapshot gone frees what it
            // alone needed, and its reads come before that.
            .filter_map(|slot| match slot.version.load(Ordering::Acquire) {
                FREE => None,
                version => Some((version, slot)),
            })
            .collect();
        live.sort_unstable_by_key(|&(version, _)| version);
        Live(live)
    }

    /// Takes everything parked with any snapshot: the store is gone and its snapshots with it.
    pub(crate) fn take_all(&self) -> Vec<Parked> {
        let mut all = Vec::new();
        for slot in self.slots() {
            all.append(&mut slot.take());
        }
        all
    }
}

impl Live<'_> {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Which of the live snapshots needs a block that `death` replaced, if any does.
    pub(crate) fn needing(&self, block: Block, death: u64) -> Option<usize> {
        // The youngest snapshot older than the replacement: if it does not need the block, no older
        // one does.
        let at = self
            .0
            .partition_point(|&(version, _)| version < death)
            .checked_sub(1)?;
        (block.birth() <= self.0[at].0).then_some(at)
    }

    /// Parks blocks with the snapshot numbered `at` here. If that snapshot has ended meanwhile,
    /// returns everything that is parked in its slot, for another decision.
    pub(crate) fn park(&self, at: usize, pile: Vec<Parked>) -> Vec<Parked> {
        let (version, slot) = self.0[at];
        slot.push(pile);
        // Relaxed: either the releaser takes the pile after `push`, or it took before, and what it did
        // before that is seen here (`Slot`).
        if slot.version.load(Ordering::Relaxed) == version {
            Vec::new()
        } else {
            slot.take()
        }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // Relaxed: the last owner is alone.
        let mut next = self.first.next.load(Ordering::Relaxed);
        while !next.is_null() {
            // SAFETY: chunks come from `Box::into_raw` and nobody else can reach them now.
            let chunk = unsafe { Box::from_raw(next) };
            next = chunk.next.load(Ordering::Relaxed);
        }
    }
}
