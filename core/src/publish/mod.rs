//! Publication: versions, snapshots and reclamation, shared by every store.
//!
//! A store is one atomic pointer to its current [`Version`]. Readers pin an epoch, read the pointer
//! and the version's [`Growth`] once and from then on look at immutable memory: wait-free. Writers
//! prepare an [`Edit`] against that and publish by compare-exchange, a new version or, of appends to
//! one index, a larger growth; a loser frees what it made and tries again: lock-free, somebody always
//! wins.
#![allow(unsafe_code)] // dereferences the version pointer under an epoch guard

mod ahead;
#[cfg(any(test, not(loom)))]
mod batches;
mod block;
mod edit;
mod growth;
mod limbo;
mod pool;
mod reclaim;
mod snapshot;
mod tally;
mod turns;
mod version;

pub(crate) use ahead::INDEXES;
pub(crate) use block::{Block, Kind, HEADER};
pub(crate) use edit::Edit;
pub(crate) use pool::ALIGN;
pub(crate) use reclaim::{after_grace, Frame, Subtree};
pub(crate) use version::Roots;

pub use reclaim::{discard, drain};
pub use tally::Tally;

use std::ops::RangeInclusive;
use std::ptr;

use crate::sync::{epoch, Arc, AtomicPtr, Ordering, Race};

use ahead::Ahead;
use edit::Blocks;
use growth::{Grown, Growth};
use reclaim::{dispose_later, Garbage, Shared};
use snapshot::Place;
use turns::Turns;
use version::{Chain, Version};

/// How many bytes of replaced versions and blocks a store keeps before it hands them over: a quarter
/// of what it holds, within these bounds. Reclaiming by bytes and not by calls makes the hand-over rare
/// for small writes and prompt for large ones; the bounds keep small stores small and the garbage of
/// large ones in the cache.
const LIMBO_BYTES: RangeInclusive<u64> = if cfg!(any(test, tiny_nodes, loom)) {
    256..=512
} else {
    8 << 10..=64 << 10
};

/// Attempts after which a writer that keeps losing renews its epoch guard, so that it does not hold up
/// reclamation.
const ATTEMPTS_PER_GUARD: u32 = if cfg!(loom) { 1 } else { 16 };

/// What a change decided on the version that it was shown.
pub(crate) enum Outcome<T> {
    /// Nothing is to be changed.
    Keep(T),
    /// Publish the roots as edited.
    Publish(T),
}

/// The current version of a store, and its past for as long as somebody needs it.
pub(crate) struct Published<R: Roots> {
    current: AtomicPtr<Version<R>>,
    ahead: Ahead,
    turns: Turns,
    shared: Arc<Shared>,
}

impl<R: Roots> Published<R> {
    pub(crate) fn new() -> Self {
        reclaim::start();
        let first = Version {
            number: 1,
            roots: R::empty(),
            born: Tally {
                versions: 1,
                bytes: Version::<R>::bytes(0) as u64,
                ..Tally::default()
            },
            handed_over: 0,
            limbo: 0,
            replaced: 0,
            previous: ptr::null_mut(),
            growth: Growth::new(),
            race: Race::new(0),
        };
        Self {
            current: AtomicPtr::new(first.into_raw(&[])),
            ahead: Ahead::new(),
            turns: Turns::new(),
            shared: Arc::new(Shared::new()),
        }
    }

    /// Pins the current version for reading. Wait-free.
    #[inline]
    pub(crate) fn pin(&self) -> Pinned<'_, R> {
        let guard = epoch::pin();
        // Acquire: pairs with the exchange in `try_publish`; the version's nodes, and the tail slots
        // that its length covers, are seen as they were when it was published.
        let current = self.current.load(Ordering::Acquire);
        // An index alone mostly grows in place, which leaves its top where it is.
        if !R::GROWS {
            self.ahead.ask();
        }
        // SAFETY: loaded under the guard, and retired only after being replaced.
        let version = unsafe { &*current };
        version.race.read(0..0);
        let grown = version.growth.get();
        Pinned {
            // SAFETY: read only while the guard is held.
            roots: unsafe { version.roots(grown) },
            grown,
            version,
            _guard: guard,
        }
    }

    /// Changes the store: `change` edits a copy of the current roots and says whether to publish them.
    /// It runs again, on newer roots, each time that another writer was first.
    pub(crate) fn update<T>(&self, mut change: impl FnMut(&mut Edit, &mut R) -> Outcome<T>) -> T {
        let mut turn = self.turns.arrive();
        let mut edit = Edit::new();
        let mut guard = epoch::pin();
        for attempt in 1.. {
            // Acquire: as in `pin`.
            let current = self.current.load(Ordering::Acquire);
            // SAFETY: as in `pin`.
            let version = unsafe { &*current };
            version.race.read(0..0);
            let grown = match attempt {
                1 => version.growth.get(),
                // Appends would outrun a long change for ever.
                _ if R::GROWS => version.growth.seal(),
                _ => Grown::default(),
            };
            edit.begin(version.number + 1);
            // SAFETY: used only below, under the same guard, and then by the version that replaces
            // the original.
            let mut roots = unsafe { version.roots(grown) };
            let answer = match change(&mut edit, &mut roots) {
                Outcome::Keep(answer) => Some(answer),
                Outcome::Publish(answer) => match edit.only_appends() {
                    Some(entries) if R::GROWS && !grown.is_sealed() => {
                        Self::grow(version, grown, &roots, entries)
                    }
                    _ => self.try_publish(&guard, current, grown, &roots, &mut edit),
                }
                .then_some(answer),
            };
            if let Some(answer) = answer {
                self.turns.done(&turn);
                return answer;
            }
            edit.discard();
            self.turns.lost(&mut turn);
            if attempt % ATTEMPTS_PER_GUARD == 0 {
                edit.forget_claims();
                drop(guard);
                guard = epoch::pin();
            }
        }
        unreachable!("attempts are not counted to an end")
    }

    /// Counts the last `entries` entries of `roots`, which were appended in place, to `version`.
    #[inline]
    fn grow(version: &Version<R>, grown: Grown, roots: &R, entries: usize) -> bool {
        // SAFETY: whoever appended has not shared them yet. They belong to this version now.
        roots.last_payloads(entries, |payload| unsafe {
            payload.set_birth(version.number);
        });
        version.growth.add(grown, entries)
    }

    /// Publishes `roots`, which were edited from what `current` was when it had `grown` so far.
    fn try_publish(
        &self,
        guard: &epoch::Guard,
        current: *mut Version<R>,
        grown: Grown,
        roots: &R,
        edit: &mut Edit,
    ) -> bool {
        // SAFETY: the caller loaded it under `guard`.
        let version = unsafe { &*current };
        version.race.read(0..0);
        if R::GROWS && !version.growth.seal_at(grown) {
            return false;
        }
        let (next, left) = Self::prepare(current, version, grown, roots, edit);
        // Release: whoever loads `next` sees the nodes and tail slots written for it; pairs with the
        // Acquire in `pin`, `update` and `hold`. Acquire: a later hand-over by this thread sees the
        // whole chain behind the version that it replaces.
        let won = self
            .current
            .compare_exchange(current, next, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok();
        if !won {
            // SAFETY: never shared.
            unsafe { Version::free(next) };
            return false;
        }
        if !R::GROWS {
            self.ahead.tell(roots.tops());
        }
        let cut = edit.take_cut();
        edit.commit();
        if let Some((replaced, bytes)) = left {
            Garbage {
                chain: Chain(current),
                replaced,
                cut,
                death: version.number + 1,
                bytes,
                shared: Arc::clone(&self.shared),
            }
            .retire(guard);
        }
        true
    }

    /// The version after `current`, whose record `version` is, and the blocks that it replaces if they
    /// are to be handed to the reclaimer now, with the bytes of all that is handed over then; else the new
    /// version keeps them, and `current` with them.
    #[inline]
    fn prepare(
        current: *mut Version<R>,
        version: &Version<R>,
        grown: Grown,
        roots: &R,
        edit: &mut Edit,
    ) -> (*mut Version<R>, Option<(Blocks, u64)>) {
        let replaced = edit.take_replaced();
        let waiting = edit
            .replaced_bytes()
            .saturating_add(Version::<R>::bytes(replaced.len()));
        let limbo = u64::from(version.limbo).saturating_add(waiting as u64);
        let reachable = tally::difference(version.born.bytes, version.handed_over);
        let limit = (reachable / 4).clamp(*LIMBO_BYTES.start(), *LIMBO_BYTES.end());
        let hand_over = limbo > limit || edit.has_cut();
        let (kept, left) = if hand_over {
            (Blocks::new(), Some((replaced, limbo)))
        } else {
            (replaced, None)
        };
        // SAFETY: the caller read the growth under its guard.
        let mut born = unsafe { version.born(grown) }.plus(edit.tally());
        born.versions += 1;
        let record = Version::<R>::bytes(kept.len()) as u64;
        born.bytes = born.bytes.wrapping_add(record);
        let next = Version {
            number: version.number + 1,
            // SAFETY: they are the next version's from now on, and the caller's until it is published.
            roots: unsafe { roots.grown(0) },
            born,
            handed_over: version
                .handed_over
                .wrapping_add(if hand_over { limbo } else { 0 }),
            limbo: if hand_over { 0 } else { limbo as u32 },
            replaced: 0,
            previous: if hand_over { ptr::null_mut() } else { current },
            growth: Growth::new(),
            race: Race::new(0),
        };
        (next.into_raw(&kept), left)
    }

    /// Registers a snapshot of the current version, which stays readable through [`Published::at`]
    /// until the hold is dropped or the store is.
    ///
    /// The version does not grow any more, so that what comes later is born later and not retained.
    pub(crate) fn hold(&self) -> Hold<R> {
        let pinned = self.pin();
        let place = self.shared.registry.register(pinned.version.number);
        let grown = if R::GROWS {
            pinned.version.growth.seal()
        } else {
            pinned.grown
        };
        Hold {
            // SAFETY: the version is registered, and the hold is read only through `at`.
            roots: unsafe { pinned.version.roots(grown) },
            place,
            shared: Arc::clone(&self.shared),
        }
    }

    /// The current version, for one operation. Wait-free.
    #[inline]
    pub(crate) fn now(&self) -> Moment<'_, R> {
        Moment::Pinned(self.pin())
    }

    /// Reads a snapshot. `None` if the hold is of another store.
    pub(crate) fn at<'a>(&'a self, hold: &'a Hold<R>) -> Option<Moment<'a, R>> {
        Arc::ptr_eq(&self.shared, &hold.shared).then_some(Moment::Held(&hold.roots))
    }

    /// What the store holds, of one version, whose rows `count` tells. O(places for snapshots).
    pub(crate) fn info(&self, count: impl FnOnce(&R) -> usize) -> Info {
        let pinned = self.pin();
        Info {
            rows: count(&pinned),
            // SAFETY: both are pinned.
            memory: self
                .shared
                .live(unsafe { pinned.version.born(pinned.grown) }),
            snapshots: self.shared.registry.live().len(),
        }
    }

    /// An account of the store's memory that outlives it.
    pub(crate) fn gauge(&self) -> Gauge {
        Gauge(Arc::clone(&self.shared))
    }
}

impl<R: Roots> Drop for Published<R> {
    fn drop(&mut self) {
        // Relaxed: dropping is exclusive.
        let current = self.current.load(Ordering::Relaxed);
        // SAFETY: as above; the record is freed by the garbage below.
        let version = unsafe { &*current };
        let grown = version.growth.get();
        // SAFETY: as above.
        self.shared.close(unsafe { version.born(grown) });
        // SAFETY: as above.
        let cut = unsafe { version.roots(grown) }.subtrees();
        let parked = self.shared.registry.take_all();
        let rows: usize = cut.iter().map(|subtree| subtree.top.entries).sum();
        let size = rows + parked.len();
        let shared = Arc::clone(&self.shared);
        let garbage = Garbage {
            chain: Chain(current),
            replaced: Blocks::new(),
            cut,
            death: version.number + 1,
            bytes: version.limbo.into(),
            shared: Arc::clone(&shared),
        };
        dispose_later(size, move || {
            // SAFETY: no reader is left: `Pinned` borrows the store, and a hold is read through it.
            unsafe {
                garbage.dispose();
                shared.sweep_parked(parked);
            }
        });
    }
}

/// What a store holds, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// Rows in the current version; of an edge store, edges.
    pub rows: usize,
    /// Memory held, old versions and what waits for the reclaimer included.
    pub memory: Tally,
    /// Snapshots that are held.
    pub snapshots: usize,
}

impl Info {
    /// How the stores print themselves.
    pub(crate) fn fmt(&self, name: &str, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct(name)
            .field("rows", &self.rows)
            .field("bytes", &self.memory.bytes)
            .finish()
    }
}

/// A version under an epoch guard. Keep it for one operation, not for a conversation: memory replaced
/// anywhere in the process is not freed while a thread stays pinned.
pub(crate) struct Pinned<'a, R> {
    /// The version's roots with what had been appended in place.
    roots: R,
    grown: Grown,
    version: &'a Version<R>,
    _guard: epoch::Guard,
}

impl<R> std::ops::Deref for Pinned<'_, R> {
    type Target = R;

    #[inline]
    fn deref(&self) -> &R {
        &self.roots
    }
}

/// One version being read: the current one, pinned, or one that a snapshot holds.
pub(crate) enum Moment<'a, R> {
    Pinned(Pinned<'a, R>),
    Held(&'a R),
}

impl<R> std::ops::Deref for Moment<'_, R> {
    type Target = R;

    #[inline]
    fn deref(&self) -> &R {
        match self {
            Self::Pinned(pinned) => pinned,
            Self::Held(roots) => roots,
        }
    }
}

/// A registered snapshot: a promise that one version stays readable.
///
/// It keeps no store alive and can be kept anywhere, for as long as it takes. What it costs is
/// bounded: at most the blocks of its own version are retained, however much is written meanwhile.
pub(crate) struct Hold<R> {
    roots: R,
    place: Place,
    shared: Arc<Shared>,
}

impl<R> Drop for Hold<R> {
    fn drop(&mut self) {
        let parked = self.shared.registry.release(self.place);
        if parked.is_empty() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        dispose_later(parked.len(), move || {
            // SAFETY: taken from the registry just now.
            unsafe { shared.sweep_parked(parked) };
        });
    }
}

/// An account of one store's memory. It stays readable after the store is closed, to see that
/// everything was given back.
#[derive(Clone)]
pub struct Gauge(Arc<Shared>);

impl Gauge {
    /// What is left of a closed store, or `None` while it is open. All zero once the reclaimer is done
    /// with it.
    pub fn left(&self) -> Option<Tally> {
        self.0.left()
    }
}

impl std::fmt::Debug for Gauge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Gauge").field(&self.left()).finish()
    }
}
