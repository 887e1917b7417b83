//! Reading a ranking: where members stand, and who stands where.

use std::ops::{Bound, Range, RangeBounds};

use crate::index::{Key, Root};
use crate::value::{Inline, Slot};

use super::bits::Bits;
use super::key::{GroupId, Member, Multiplicities, Names, Place, Places, Scores, Tie};
use super::name::Name;
use super::score::{Order, Refusal, Score};
use super::walk::Standings;

/// How members with the same score stand, for five members of which two tie: `a < b < c = d < e`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// By id: 0 1 2 3 4. Everybody has a place alone.
    #[default]
    Ordinal,
    /// All in the first place of the tie: 0 1 2 2 4.
    Competition,
    /// By the number of different scores before them: 0 1 2 2 3.
    Dense,
    /// All in the last place of the tie: 0 1 3 3 4.
    Max,
}

/// The roots of a ranking in one version.
pub(crate) struct Ranking<'v, B: Bits> {
    pub(crate) places: &'v Places<B>,
    pub(crate) scores: &'v Scores<B>,
    pub(crate) ties: &'v Multiplicities<B>,
    pub(crate) names: &'v Names,
}

impl<B: Bits> Clone for Ranking<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Bits> Copy for Ranking<'_, B> {}

impl<B: Bits> Ranking<'_, B> {
    /// The scores that `ids` have in the group of this name, in the same order.
    pub(crate) fn scores_of(
        &self,
        name: &Name<'_>,
        ids: impl ExactSizeIterator<Item = u64>,
    ) -> Vec<Option<B>> {
        let mut scores = vec![None; ids.len()];
        if let Some(group) = name.find(self.names) {
            let members: Vec<_> = ids.map(|id| Member { group, id }).collect();
            let found = |at: usize, slot: Option<&Inline<B>>| scores[at] = slot.map(|slot| slot.0);
            self.scores.get_many(&members, found);
        }
        scores
    }
}

/// One group of a ranking, at one moment. Unknown groups and empty ones are the same.
///
/// Places are counted from 0, from the smallest score or, in [`Order::Descending`], from the largest.
/// Among equals the smaller id comes first, and last in the mirror image. Scores are compared as the set
/// orders them, so in a set whose scores descend a range goes from the larger to the smaller.
pub struct Board<'v, S: Score> {
    roots: Ranking<'v, S::Bits>,
    group: Option<GroupId>,
    rule: &'v S::Rule,
}

impl<S: Score> Clone for Board<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Score> Copy for Board<'_, S> {}

impl<'v, S: Score> Board<'v, S> {
    /// O(log groups).
    #[inline]
    pub(crate) fn new(roots: Ranking<'v, S::Bits>, name: &Name<'_>, rule: &'v S::Rule) -> Self {
        Self {
            group: name.find(roots.names),
            roots,
            rule,
        }
    }

    /// How many members there are. O(log n).
    pub fn len(&self) -> usize {
        self.group.map_or(0, |group| self.members(group).len())
    }

    /// Whether there are none. O(1).
    pub fn is_empty(&self) -> bool {
        self.group.is_none()
    }

    /// How many different scores there are. O(log n).
    pub fn distinct(&self) -> usize {
        self.group.map_or(0, |group| {
            self.roots.ties.positions(Tie::of_group(group)).len()
        })
    }

    /// The score of `id`. O(log n).
    #[inline]
    pub fn score(&self, id: u64) -> Option<S> {
        let bits = self.bits(self.group?, id)?;
        Some(S::decode(bits, self.rule))
    }

    /// Where `id` stands. O(log n).
    #[inline]
    pub fn rank(&self, id: u64, ties: Ties, order: Order) -> Option<usize> {
        let group = self.group?;
        let score = self.bits(group, id)?;
        Some(self.rank_of(group, score, id, ties, order))
    }

    /// Where each of `ids` stands. O(ids × log n); cheaper than one by one, because the memory accesses
    /// of several overlap.
    pub fn ranks(&self, ids: &[u64], ties: Ties, order: Order) -> Vec<Option<usize>> {
        let mut ranks = vec![None; ids.len()];
        let Some(group) = self.group else {
            return ranks;
        };
        let members: Vec<_> = ids.iter().map(|&id| Member { group, id }).collect();
        let mut found = Vec::with_capacity(ids.len());
        self.roots.scores.get_many(&members, |at, slot| {
            found.extend(slot.map(|slot| (at, slot.0)));
        });
        let after = counts_after(ties, order);
        let counts = if ties == Ties::Dense {
            let ties = found.iter().map(|&(_, score)| Tie::new(group, score));
            let ties: Vec<_> = ties.collect();
            self.roots.ties.count_many(&ties, after)
        } else {
            let edge = |&(at, score)| edge(group, score, ids[at], ties, order);
            let edges: Vec<_> = found.iter().map(edge).collect();
            self.roots.places.count_many(&edges, after)
        };
        let origin = self.origin(group, ties, order);
        for ((at, _), count) in found.into_iter().zip(counts) {
            ranks[at] = Some(rank_between(origin, count, ties));
        }
        ranks
    }

    /// The place that `score` has or, if nobody has it, would have. With [`Ties::Ordinal`] that is the
    /// first place of the tie. O(log n).
    pub fn rank_for_score(&self, score: S, ties: Ties, order: Order) -> Result<usize, Refusal> {
        let bits = score.encode(self.rule)?;
        let Some(group) = self.group else {
            return Ok(0);
        };
        let ties = match ties {
            Ties::Ordinal => Ties::Competition,
            // A score that nobody has would be a tie of one.
            Ties::Max if self.roots.ties.get(&Tie::new(group, bits)).is_none() => Ties::Competition,
            ties => ties,
        };
        Ok(self.rank_of(group, bits, 0, ties, order))
    }

    /// Who stands at `place`, every member in a place alone. O(log n).
    #[inline]
    pub fn select(&self, place: usize, order: Order) -> Option<(u64, S)> {
        let group = self.group?;
        let at = match order {
            Order::Ascending => self.start(group).checked_add(place)?,
            Order::Descending => self.end(group).checked_sub(place)?.checked_sub(1)?,
        };
        let (found, _) = self.roots.places.select(at)?;
        (found.group() == group).then(|| (found.id, S::decode(found.score(), self.rule)))
    }

    /// How many members have a score in `range`; none if it is inverted. O(log n).
    pub fn count_between(&self, range: impl RangeBounds<S>) -> Result<usize, Refusal> {
        Ok(self.between(range)?.len())
    }

    /// The members whose ranks are in `range`, which may reach beyond what there is at either end. With
    /// [`Ties::Ordinal`] these are exactly the places asked for; else every member of a tie is in or
    /// none. O(log n), then amortised O(1) a row.
    ///
    /// ```
    /// use echo_data_core::{Order, Ranked, Ties};
    ///
    /// let points = Ranked::<i64>::new();
    /// points.put_all(b"", [(1, 40), (2, 70), (3, 70), (4, 90)]).expect("integers");
    /// let view = points.view();
    /// let board = view.group(b"");
    /// let best = board.by_rank(..=1, Ties::Competition, Order::Descending);
    /// let best: Vec<_> = best.map(|row| (row.rank, row.id)).collect();
    /// assert_eq!(best, [(0, 4), (1, 3), (1, 2)]);
    /// ```
    pub fn by_rank(
        &self,
        range: impl RangeBounds<i64>,
        ties: Ties,
        order: Order,
    ) -> Standings<'v, S> {
        let Some(group) = self.group else {
            return self.walk(0..0, ties, order);
        };
        let ranks = ranks_in(range);
        let all = self.members(group);
        let positions = match ties {
            Ties::Ordinal => in_order(&all, ranks, order),
            Ties::Dense => self.of_dense(group, ranks, order),
            Ties::Competition | Ties::Max => self.of_ties(&all, ranks, ties, order),
        };
        self.walk(positions, ties, order)
    }

    /// The members at these places, every one in a place alone, with the ranks that `ties` gives them: so
    /// a walk may be done in parts. O(log n), then amortised O(1) a row.
    ///
    /// ```
    /// use echo_data_core::{Order, Ranked, Ties};
    ///
    /// let points = Ranked::<i64>::new();
    /// points.put_all(b"", [(1, 40), (2, 70), (3, 70), (4, 90)]).expect("integers");
    /// let view = points.view();
    /// let board = view.group(b"");
    /// let places = board.by_rank(1.., Ties::Dense, Order::Ascending).places();
    /// assert_eq!(places, 1..4);
    /// let last = board.at_places(2..4, Ties::Dense, Order::Ascending);
    /// assert_eq!(last.map(|row| (row.rank, row.id)).collect::<Vec<_>>(), [(1, 3), (2, 4)]);
    /// ```
    pub fn at_places(&self, places: Range<usize>, ties: Ties, order: Order) -> Standings<'v, S> {
        let all = self.group.map_or(0..0, |group| self.members(group));
        self.walk(in_order(&all, places, order), ties, order)
    }

    /// All members, from the first place on. O(log n), then amortised O(1) a row.
    pub fn standings(&self, ties: Ties, order: Order) -> Standings<'v, S> {
        let all = self.group.map_or(0..0, |group| self.members(group));
        self.walk(all, ties, order)
    }

    /// The members whose score is in `range`, with their ranks among all. O(log n), then amortised O(1) a
    /// row.
    pub fn by_score(
        &self,
        range: impl RangeBounds<S>,
        ties: Ties,
        order: Order,
    ) -> Result<Standings<'v, S>, Refusal> {
        Ok(self.walk(self.between(range)?, ties, order))
    }

    /// `id` between up to `reach` members on each side. O(log n), then amortised O(1) a row.
    pub fn around(
        &self,
        id: u64,
        reach: usize,
        ties: Ties,
        order: Order,
    ) -> Option<Standings<'v, S>> {
        let group = self.group?;
        let score = self.bits(group, id)?;
        let all = self.members(group);
        let at = self.roots.places.rank(&Place::new(group, score, id));
        let first = at.saturating_sub(reach).max(all.start);
        let last = at.saturating_add(reach).min(all.end - 1);
        Some(self.walk(first..last + 1, ties, order))
    }

    #[inline]
    fn bits(&self, group: GroupId, id: u64) -> Option<S::Bits> {
        let slot = self.roots.scores.get(&Member { group, id })?;
        Some(slot.0)
    }

    /// Whether this is the only group: then it needs no descent to find its ends.
    #[inline]
    fn is_alone(&self) -> bool {
        self.roots.names.len() == 1
    }

    /// The position in `index` of `first`, below which are other groups only.
    #[inline]
    fn start_in<K: Key, V: Slot>(&self, index: &Root<K, V>, first: &K) -> usize {
        if self.is_alone() {
            return 0;
        }
        index.rank(first)
    }

    /// The position in `index` after `last`, above which are other groups only.
    #[inline]
    fn end_in<K: Key, V: Slot>(&self, index: &Root<K, V>, last: &K) -> usize {
        if self.is_alone() {
            return index.len();
        }
        index.rank_after(last)
    }

    /// The position of the first member.
    #[inline]
    fn start(&self, group: GroupId) -> usize {
        self.start_in(self.roots.places, Place::of_group(group).start())
    }

    /// The position after the last member.
    #[inline]
    fn end(&self, group: GroupId) -> usize {
        self.end_in(self.roots.places, Place::of_group(group).end())
    }

    fn members(&self, group: GroupId) -> Range<usize> {
        self.start(group)..self.end(group)
    }

    /// The position of the first member with `score`, or of the first after it.
    #[inline]
    fn begin_of(&self, group: GroupId, score: S::Bits) -> usize {
        self.roots.places.rank(&Place::first(group, score))
    }

    /// The position after the last member with `score`, or after the last before it.
    #[inline]
    fn end_of(&self, group: GroupId, score: S::Bits) -> usize {
        self.roots.places.rank_after(&Place::last(group, score))
    }

    /// The rank of `id`, which has `score`. But for [`Ties::Ordinal`] it is that of all who have it.
    #[inline]
    pub(super) fn rank_of(
        &self,
        group: GroupId,
        score: S::Bits,
        id: u64,
        ties: Ties,
        order: Order,
    ) -> usize {
        let after = counts_after(ties, order);
        let count = if ties == Ties::Dense {
            self.roots.ties.count(&Tie::new(group, score), after)
        } else {
            let edge = edge(group, score, id, ties, order);
            self.roots.places.count(&edge, after)
        };
        rank_between(self.origin(group, ties, order), count, ties)
    }

    /// The position from which ranks are counted.
    #[inline]
    fn origin(&self, group: GroupId, ties: Ties, order: Order) -> usize {
        let scores = Tie::of_group(group);
        match (ties, order) {
            (Ties::Dense, Order::Ascending) => self.start_in(self.roots.ties, scores.start()),
            (Ties::Dense, Order::Descending) => self.end_in(self.roots.ties, scores.end()),
            (_, Order::Ascending) => self.start(group),
            (_, Order::Descending) => self.end(group),
        }
    }

    fn between(&self, range: impl RangeBounds<S>) -> Result<Range<usize>, Refusal> {
        let bound = |bound: Bound<&S>| match bound {
            Bound::Included(score) => score.encode(self.rule).map(Bound::Included),
            Bound::Excluded(score) => score.encode(self.rule).map(Bound::Excluded),
            Bound::Unbounded => Ok(Bound::Unbounded),
        };
        let (low, high) = (bound(range.start_bound())?, bound(range.end_bound())?);
        let Some(group) = self.group else {
            return Ok(0..0);
        };
        let start = match low {
            Bound::Included(score) => self.begin_of(group, score),
            Bound::Excluded(score) => self.end_of(group, score),
            Bound::Unbounded => self.start(group),
        };
        let end = match high {
            Bound::Included(score) => self.end_of(group, score),
            Bound::Excluded(score) => self.begin_of(group, score),
            Bound::Unbounded => self.end(group),
        };
        Ok(start..end.max(start))
    }

    /// The positions of the members with these dense ranks.
    fn of_dense(&self, group: GroupId, ranks: Range<usize>, order: Order) -> Range<usize> {
        let ties = self.roots.ties;
        let scores = in_order(&ties.positions(Tie::of_group(group)), ranks, order);
        let score = |at| ties.select(at).map(|(tie, _)| tie.score());
        let last = scores.end.checked_sub(1);
        match (score(scores.start), last.and_then(score)) {
            (Some(first), Some(last)) if !scores.is_empty() => {
                self.begin_of(group, first)..self.end_of(group, last)
            }
            _ => 0..0,
        }
    }

    /// The positions of the members whose tie begins, or for [`Ties::Max`] ends, at one of these ranks.
    fn of_ties(
        &self,
        all: &Range<usize>,
        ranks: Range<usize>,
        ties: Ties,
        order: Order,
    ) -> Range<usize> {
        let positions = in_order(all, ranks, order);
        let by_begin = (ties == Ties::Competition) == (order == Order::Ascending);
        // The next position at or after `at` where a tie begins, when what counts are beginnings; when
        // they are ends, where the tie of `at` begins.
        let edge = |at: usize| {
            let Some((place, _)) = self.roots.places.select(at).filter(|_| at < all.end) else {
                return at;
            };
            let begin = self.begin_of(place.group(), place.score());
            if by_begin && begin < at {
                self.end_of(place.group(), place.score())
            } else {
                begin
            }
        };
        let (start, end) = (edge(positions.start), edge(positions.end));
        start..end.max(start)
    }

    fn walk(&self, positions: Range<usize>, ties: Ties, order: Order) -> Standings<'v, S> {
        Standings::new(*self, positions, ties, order)
    }

    /// The index that a walk goes along.
    pub(super) fn places(&self) -> &'v Places<S::Bits> {
        self.roots.places
    }

    #[inline]
    pub(super) fn decode(&self, score: S::Bits) -> S {
        S::decode(score, self.rule)
    }

    /// The last place of the tie that has `score`, which somebody has.
    pub(super) fn last_place(&self, score: S::Bits, order: Order) -> usize {
        let rank = |group| self.rank_of(group, score, 0, Ties::Max, order);
        self.group.map_or(0, rank)
    }

    /// How many members come before `positions`, in `order`.
    pub(super) fn before(&self, positions: &Range<usize>, order: Order) -> usize {
        match (self.group, order) {
            (None, _) => 0,
            (Some(group), Order::Ascending) => positions.start - self.start(group),
            (Some(group), Order::Descending) => self.end(group) - positions.end,
        }
    }
}

/// The end of its tie, or with [`Ties::Ordinal`] the place itself, up to which a member's rank is counted.
#[inline]
fn edge<B: Bits>(group: GroupId, score: B, id: u64, ties: Ties, order: Order) -> Place<B> {
    match ties {
        Ties::Ordinal => Place::new(group, score, id),
        _ if counts_after(ties, order) => Place::last(group, score),
        _ => Place::first(group, score),
    }
}

/// Whether the rank of a member is counted up to behind it, or up to before it.
#[inline]
fn counts_after(ties: Ties, order: Order) -> bool {
    (ties == Ties::Max) == (order == Order::Ascending)
}

/// The rank at `count`, when ranks are counted from `origin`.
#[inline]
fn rank_between(origin: usize, count: usize, ties: Ties) -> usize {
    // Of a last place the member itself has been counted.
    count.abs_diff(origin) - usize::from(ties == Ties::Max)
}

/// Ranks as a range: what is below 0 begins at 0.
fn ranks_in(range: impl RangeBounds<i64>) -> Range<usize> {
    let from = |rank: i64| usize::try_from(rank.max(0)).unwrap_or(usize::MAX);
    let start = match range.start_bound() {
        Bound::Included(&rank) => from(rank),
        Bound::Excluded(&rank) => from(rank.saturating_add(1)),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&rank) => from(rank.saturating_add(1)),
        Bound::Excluded(&rank) => from(rank),
        Bound::Unbounded => usize::MAX,
    };
    start..end.max(start)
}

/// The positions, counted from the start of `all` in `order`, as the index counts them.
pub(super) fn in_order(all: &Range<usize>, positions: Range<usize>, order: Order) -> Range<usize> {
    let (start, end) = (positions.start.min(all.len()), positions.end.min(all.len()));
    match order {
        Order::Ascending => all.start + start..all.start + end,
        Order::Descending => all.end - end..all.end - start,
    }
}
