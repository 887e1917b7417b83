//! Relations: the edge store beside what one would build from two ordered maps that are lock-free.

use std::ops::Bound;

use crossbeam_skiplist::SkipMap;
use echo_data_core::EdgeStore;

/// An edge, subject first.
pub type Edge = (u64, u64);

/// Edges between subjects and objects with a number each, as the workloads see them.
pub trait Relation: Sync {
    /// What the tables call it.
    const NAME: &'static str;

    /// A relation without edges.
    fn empty() -> Self;

    /// Links `subject` to `object`.
    fn link(&self, subject: u64, object: u64);

    /// Removes the edge.
    fn unlink(&self, subject: u64, object: u64);

    /// How many objects `subject` has.
    fn degree(&self, subject: u64) -> usize;

    /// Combines up to `count` objects of `subject` after `cursor`, so that they are really read; answers
    /// that and the last object.
    fn page(&self, subject: u64, cursor: u64, count: usize) -> (u64, u64);

    /// Combines all subjects of `object`.
    fn subjects(&self, object: u64) -> u64;

    /// A relation of `edges`, linked in the given order.
    fn of(edges: &[Edge]) -> Self
    where
        Self: Sized,
    {
        let relation = Self::empty();
        for &(subject, object) in edges {
            relation.link(subject, object);
        }
        relation
    }
}

/// Combines the rows of a page.
fn page(objects: impl Iterator<Item = (u64, u64)>) -> (u64, u64) {
    objects.fold((0, 0), |(sum, _), (object, props)| {
        (sum ^ object ^ props, object)
    })
}

/// The core's edge store.
pub type Edges = EdgeStore<u64>;

impl Relation for Edges {
    const NAME: &'static str = "echo_data";

    fn empty() -> Self {
        EdgeStore::new()
    }

    fn link(&self, subject: u64, object: u64) {
        EdgeStore::link(self, subject, object, object);
    }

    fn unlink(&self, subject: u64, object: u64) {
        EdgeStore::unlink(self, subject, object);
    }

    fn degree(&self, subject: u64) -> usize {
        self.view().from(subject).len()
    }

    fn page(&self, subject: u64, cursor: u64, count: usize) -> (u64, u64) {
        let view = self.view();
        let after = (Bound::Excluded(cursor), Bound::Unbounded);
        let objects = view.from(subject).range(after).take(count);
        page(objects.map(|(object, props)| (object, *props)))
    }

    fn subjects(&self, object: u64) -> u64 {
        let view = self.view();
        let subjects = view.to(object).into_iter();
        page(subjects.map(|(subject, props)| (subject, *props))).0
    }
}

/// Two lists, one for each direction. Between the changes of the one and of the other, readers find an edge
/// one way and not the other.
pub struct TwoSkipLists {
    forward: SkipMap<Edge, u64>,
    reverse: SkipMap<Edge, u64>,
}

impl Relation for TwoSkipLists {
    const NAME: &'static str = "two crossbeam-skiplists";

    fn empty() -> Self {
        Self {
            forward: SkipMap::new(),
            reverse: SkipMap::new(),
        }
    }

    fn link(&self, subject: u64, object: u64) {
        self.forward.insert((subject, object), object);
        self.reverse.insert((object, subject), object);
    }

    fn unlink(&self, subject: u64, object: u64) {
        self.forward.remove(&(subject, object));
        self.reverse.remove(&(object, subject));
    }

    fn degree(&self, subject: u64) -> usize {
        self.forward
            .range((subject, 0)..=(subject, u64::MAX))
            .count()
    }

    fn page(&self, subject: u64, cursor: u64, count: usize) -> (u64, u64) {
        let after = Bound::Excluded((subject, cursor));
        let objects = self
            .forward
            .range((after, Bound::Included((subject, u64::MAX))))
            .take(count);
        page(objects.map(|entry| (entry.key().1, *entry.value())))
    }

    fn subjects(&self, object: u64) -> u64 {
        let subjects = self.reverse.range((object, 0)..=(object, u64::MAX));
        page(subjects.map(|entry| (entry.key().1, *entry.value()))).0
    }
}

/// The subject of which [`hub_edges`] has most.
pub const HUB: u64 = 0;

/// The objects of [`HUB`] are `1..=degree`; `others` edges are from a thousand other subjects to the same
/// objects, drawn at random, the same for the same seed.
pub fn hub_edges(degree: usize, others: usize, seed: u64) -> Vec<Edge> {
    let mut random = fastrand::Rng::with_seed(seed);
    let hub = (1..=degree as u64).map(|object| (HUB, object));
    let others = (0..others).map(|_| (random.u64(1..=1000), random.u64(1..=degree as u64)));
    let mut edges: Vec<Edge> = hub.chain(others).collect();
    fastrand::Rng::with_seed(seed).shuffle(&mut edges);
    edges
}
