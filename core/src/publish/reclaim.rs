//! Reclamation: from "no longer reachable from the current version" to "freed".
//!
//! A batch of garbage waits for a grace period, so that no pinned reader is inside it. Then each block
//! is freed, or parked if a snapshot needs it. Small batches are freed by the thread that retired them;
//! large ones, and whole subtrees, by a background thread in bounded steps.
#![allow(unsafe_code)] // frees blocks after their grace period

use crate::sync::{epoch, Arc, AtomicBool, Ordering};

use super::block::Block;
use super::edit::Blocks;
use super::limbo;
use super::snapshot::{Live, Parked, Registry};
use super::tally::{SharedTally, Tally};
use super::version::Chain;

/// Blocks that a collecting thread frees in passing; more go to the background thread. A free costs
/// 20 to 50 ns, so this bounds the detour to about 25 µs.
const IN_PASSING: usize = if cfg!(any(test, tiny_nodes)) { 4 } else { 512 };

/// Bytes that may wait for their thread to come by again; more go to the background thread, which is not
/// idle when the rest of the process is.
const MAY_WAIT: u64 = 1 << 20;

/// A subtree that no version reaches any more, walked when it is freed.
pub(crate) struct Subtree {
    pub(crate) top: Frame,
    /// Visits one node: pushes its children, hands out its payloads and then the node itself.
    pub(crate) step: unsafe fn(Frame, &mut Vec<Frame>, &mut dyn FnMut(Block)),
}

/// A node to visit: its height above the leaves and the entries below it.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) node: Block,
    pub(crate) height: u32,
    pub(crate) entries: usize,
}

/// What outlives a store: its snapshots' places and its accounts.
pub(crate) struct Shared {
    pub(crate) registry: Registry,
    freed: SharedTally,
    /// What the store had published when it closed.
    born: SharedTally,
    closed: AtomicBool,
}

impl Shared {
    pub(crate) fn new() -> Self {
        Self {
            registry: Registry::new(),
            freed: SharedTally::new(),
            born: SharedTally::new(),
            closed: AtomicBool::new(false),
        }
    }

    /// Notes that the store is gone. No reader is left, so nothing stays parked from now on.
    pub(crate) fn close(&self, born: Tally) {
        self.born.add(born);
        // Release: pairs with the Acquire in `is_closed`, which reads `born`.
        self.closed.store(true, Ordering::Release);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// What lives of `born`.
    pub(crate) fn live(&self, born: Tally) -> Tally {
        born.minus(self.freed.get())
    }

    /// What still lives of a closed store; `None` while it is open.
    pub(crate) fn left(&self) -> Option<Tally> {
        self.is_closed().then(|| self.live(self.born.get()))
    }

    /// Ends the sweep of `blocks` that were parked with a snapshot.
    ///
    /// # Safety
    /// The blocks were taken from the registry, so a grace period has passed for them.
    pub(crate) unsafe fn sweep_parked(&self, blocks: Vec<Parked>) {
        let mut sweep = Sweep::new(self);
        for parked in blocks {
            // SAFETY: as the caller says.
            unsafe { sweep.add(parked.block, parked.death) };
        }
        sweep.finish();
    }
}

/// One pass over retired blocks: frees what nobody needs, parks the rest.
struct Sweep<'a> {
    shared: &'a Shared,
    live: Live<'a>,
    piles: Vec<Vec<Parked>>,
    freed: Tally,
}

impl<'a> Sweep<'a> {
    fn new(shared: &'a Shared) -> Self {
        let live = shared.registry.live();
        let piles = (0..live.len()).map(|_| Vec::new()).collect();
        Self {
            shared,
            live,
            piles,
            freed: Tally::default(),
        }
    }

    /// # Safety
    /// `death` is the version that replaced the block, no reader that was pinned before it is left,
    /// and the block was retired once.
    unsafe fn add(&mut self, block: Block, death: u64) {
        match self.live.needing(block, death) {
            Some(at) if !self.shared.is_closed() => self.piles[at].push(Parked { block, death }),
            _ => {
                self.freed.add_block(block);
                // SAFETY: no pinned reader and no snapshot reaches it, as the caller and the look at
                // the live snapshots say; it was retired once.
                unsafe { block.free() };
            }
        }
    }

    fn finish(mut self) {
        let (mut again, mut parked) = (Vec::new(), false);
        for (at, pile) in std::mem::take(&mut self.piles).into_iter().enumerate() {
            if !pile.is_empty() {
                again.append(&mut self.live.park(at, pile));
                parked = true;
            }
        }
        // The store may have closed just then: it took what had been parked, and we take the rest.
        if parked && self.shared.is_closed() {
            again.append(&mut self.shared.registry.take_all());
        }
        self.shared.freed.add(self.freed);
        if !again.is_empty() {
            // SAFETY: they were parked, so their grace period is over. Each round needs another
            // snapshot to end at just this moment, so the recursion is shallow.
            unsafe { self.shared.sweep_parked(again) };
        }
    }
}

/// What one or several publications left behind.
pub(crate) struct Garbage<R> {
    /// Replaced versions with what each of them had replaced in its turn.
    pub(crate) chain: Chain<R>,
    /// Blocks replaced by version `death`.
    pub(crate) replaced: Blocks,
    /// Subtrees cut off by version `death`.
    pub(crate) cut: Vec<Subtree>,
    pub(crate) death: u64,
    /// How much that is, cut subtrees not counted.
    pub(crate) bytes: u64,
    pub(crate) shared: Arc<Shared>,
}

impl<R: Send + 'static> Garbage<R> {
    /// Frees the garbage once every reader that may be inside it is gone.
    pub(crate) fn retire(self, guard: &epoch::Guard) {
        let small = self.replaced.len() <= IN_PASSING && self.bytes <= MAY_WAIT;
        if small && self.cut.is_empty() {
            // SAFETY: unlinked by the publication of `death`; the closure runs after a grace period.
            limbo::retire(guard, move || unsafe { self.dispose() });
        } else {
            // SAFETY: as above.
            background::after_grace(guard, move || unsafe { self.dispose() });
        }
    }

    /// # Safety
    /// No reader that was pinned before version `death` is left.
    pub(crate) unsafe fn dispose(self) {
        let mut sweep = Sweep::new(&self.shared);
        // SAFETY: as the caller says, here and below.
        let records = unsafe { self.chain.dismantle(|block, death| sweep.add(block, death)) };
        sweep.freed = sweep.freed.plus(records);
        for block in self.replaced {
            // SAFETY: as above.
            unsafe { sweep.add(block, self.death) };
        }
        let mut frames = Vec::new();
        for subtree in self.cut {
            frames.push(subtree.top);
            while let Some(frame) = frames.pop() {
                // SAFETY: the subtree was reachable until `death`, and nothing in it has been freed:
                // whatever was replaced inside it before `death` is not reachable from its top.
                unsafe {
                    (subtree.step)(frame, &mut frames, &mut |block| {
                        sweep.add(block, self.death)
                    });
                }
                background::breathe(frame.height);
            }
        }
        sweep.finish();
    }
}

/// Runs a disposal that needs no grace period: in place if it is small, else in the background.
pub(crate) fn dispose_later(size: usize, job: impl FnOnce() + Send + 'static) {
    if size <= IN_PASSING {
        job();
    } else {
        background::run(job);
    }
}

pub(crate) use background::{after_grace, start};
pub use background::{discard, drain};

#[cfg(not(loom))]
mod background {
    use std::sync::mpsc::{channel, Receiver, Sender};
    use std::sync::OnceLock;
    use std::time::Duration;

    use super::super::block::contained;
    use super::{epoch, Arc, AtomicBool, Ordering};

    type Work = Box<dyn FnOnce() + Send>;

    pub(crate) enum Job {
        Now(Work),
        AfterGrace(Work),
    }

    /// Runs `work` on the background thread after every thread that is pinned now has unpinned.
    pub(crate) fn after_grace(_guard: &epoch::Guard, work: impl FnOnce() + Send + 'static) {
        submit(Job::AfterGrace(Box::new(work)));
    }

    /// Runs `work` on the background thread.
    pub(super) fn run(work: impl FnOnce() + Send + 'static) {
        submit(Job::Now(Box::new(work)));
    }

    /// Lets other threads run between the steps of a long disposal: once an inner node.
    pub(super) fn breathe(height: u32) {
        if height > 0 {
            std::thread::yield_now();
        }
    }

    /// Drops `value` on the background thread: for what takes too long to drop where it is.
    pub fn discard<T: Send + 'static>(value: T) {
        run(move || drop(value));
    }

    /// Waits until everything that was retired before this call is freed, snapshots permitting.
    ///
    /// For tests, and for programs that want to see their memory given back at a known moment. It
    /// must not be called while a [`View`](crate::ordered::View) of this thread is alive, nor by the
    /// destructor of a value that a store held: the wait would never end.
    pub fn drain() {
        epoch::pin().flush();
        // What is freed after its grace period may leave more to free, as a store that was closed does.
        wait_for(Job::AfterGrace);
        wait_for(Job::Now);
    }

    fn wait_for(job: fn(Work) -> Job) {
        let (done, wait) = channel();
        submit(job(Box::new(move || {
            // The waiter may be gone; nothing is lost then.
            let _ = done.send(());
        })));
        let _ = wait.recv();
    }

    /// Starts the background thread if it is not running yet. A store does so before its first
    /// publication: afterwards, nothing that reclaims may fail.
    pub(crate) fn start() -> &'static Sender<Job> {
        static QUEUE: OnceLock<Sender<Job>> = OnceLock::new();
        QUEUE.get_or_init(|| {
            let (sender, receiver) = channel();
            std::thread::Builder::new()
                .name("echo-reclaim".into())
                .spawn(move || serve(&receiver))
                .expect("the system can start one thread");
            sender
        })
    }

    fn submit(job: Job) {
        // The thread never ends, so the queue is never closed.
        let _ = start().send(job);
    }

    /// Runs what may run now at once, also while it waits for a grace period: that can take as long as
    /// somebody stays pinned. What comes meanwhile and needs one waits for the next. A value whose
    /// destructor panics must not end reclamation for everybody.
    fn serve(jobs: &Receiver<Job>) {
        let (mut grace, mut next): (Option<Grace>, Vec<Work>) = (None, Vec::new());
        loop {
            let first = match &mut grace {
                None => jobs.recv().ok(),
                Some(grace) => jobs.recv_timeout(grace.pause()).ok(),
            };
            for job in first.into_iter().chain(jobs.try_iter()) {
                match job {
                    Job::Now(work) => contained(work),
                    Job::AfterGrace(work) => next.push(work),
                }
            }
            if let Some(over) = grace.take_if(|grace| grace.is_over()) {
                // What other threads retired before is due as well, and they may be idle.
                super::limbo::scavenge();
                over.due.into_iter().for_each(contained);
            }
            if grace.is_none() && !next.is_empty() {
                grace = Some(Grace::begin(std::mem::take(&mut next)));
            }
        }
    }

    /// A grace period that has begun.
    struct Grace {
        over: Arc<AtomicBool>,
        /// What is to be done when it is over.
        due: Vec<Work>,
        pause: Duration,
    }

    impl Grace {
        fn begin(due: Vec<Work>) -> Self {
            let over = Arc::new(AtomicBool::new(false));
            let flag = Arc::clone(&over);
            epoch::pin().defer(move || flag.store(true, Ordering::Release));
            Self {
                over,
                due,
                pause: Duration::from_micros(5),
            }
        }

        fn is_over(&self) -> bool {
            epoch::pin().flush();
            // Acquire: pairs with the store above; everything before the grace period is seen.
            self.over.load(Ordering::Acquire)
        }

        /// How long to wait before looking again, longer each time: somebody is still pinned, in a long
        /// scan, or in a thread that is not running now.
        fn pause(&mut self) -> Duration {
            let pause = self.pause;
            self.pause = (pause * 2).min(Duration::from_millis(1));
            pause
        }
    }
}

/// Under loom there is no background thread: a model runs the reclaimer as one of its own threads.
#[cfg(loom)]
mod background {
    use super::epoch;

    pub(crate) fn after_grace(guard: &epoch::Guard, work: impl FnOnce() + Send + 'static) {
        guard.defer(work);
        guard.flush();
    }

    pub(super) fn run(work: impl FnOnce() + Send + 'static) {
        work();
    }

    pub(crate) fn start() {}

    pub(super) fn breathe(_height: u32) {}

    /// Drops `value` here.
    pub fn discard<T: Send + 'static>(value: T) {
        drop(value);
    }

    /// Collects what this thread may.
    pub fn drain() {
        epoch::pin().flush();
    }
}
