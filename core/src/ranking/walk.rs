//! Rows with their ranks, along one walk: no row costs a descent of its own.

use std::ops::Range;

use crate::index::Entries;
use crate::value::Inline;

use super::bits::Bits;
use super::board::{Board, Ties};
use super::key::{Place, Tie};
use super::score::{Order, Score};

/// A member and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing<S> {
    /// Its place, counted from 0.
    pub rank: usize,
    /// Who it is.
    pub id: u64,
    /// Its score.
    pub score: S,
}

/// Members in the order of their places, with their ranks.
pub struct Standings<'v, S: Score> {
    board: Board<'v, S>,
    places: Entries<'v, Place<S::Bits>, Inline<()>>,
    /// The tie at hand, and its rank unless ranks are ordinal.
    tie: Tie<S::Bits>,
    rank: usize,
    /// The ordinal place of the next row.
    next: usize,
    ties: Ties,
    order: Order,
}

impl<'v, S: Score> Standings<'v, S> {
    /// The rows at `positions`, which are all of the board's group. O(log n).
    pub(super) fn new(
        board: Board<'v, S>,
        positions: Range<usize>,
        ties: Ties,
        order: Order,
    ) -> Self {
        let next = match positions.is_empty() {
            true => 0,
            false => board.before(&positions, order),
        };
        let first = match order {
            Order::Ascending => positions.start,
            Order::Descending => positions.end.saturating_sub(1),
        };
        let tied = ties != Ties::Ordinal && !positions.is_empty();
        let place = tied.then(|| board.places().select(first)).flatten();
        let nobody = (Tie::new(0, S::Bits::LOWEST), 0);
        let (tie, rank) = place.map_or(nobody, |(place, _)| {
            let rank = board.rank_of(place.group(), place.score(), place.id, ties, order);
            (place.tie(), rank)
        });
        Self {
            places: board.places().entries(positions),
            board,
            tie,
            rank,
            next,
            ties,
            order,
        }
    }

    /// The places of the rows that are yet to come, every one in a place alone; see
    /// [`Board::at_places`].
    pub fn places(&self) -> Range<usize> {
        self.next..self.next + self.places.len()
    }

    /// The next row, `BACK`wards or not. One test of the order for each row, as it is the same for all.
    #[inline]
    fn step<const BACK: bool>(&mut self) -> Option<Standing<S>> {
        let (place, _) = if BACK {
            self.places.next_back()
        } else {
            self.places.next()
        }?;
        let at = self.next;
        self.next += 1;
        Some(Standing {
            rank: self.rank::<BACK>(place.tie(), at),
            id: place.id,
            score: self.board.decode(place.score()),
        })
    }

    /// The rank of the row of `tie` that stands at `at` and was given just now.
    #[inline]
    fn rank<const BACK: bool>(&mut self, tie: Tie<S::Bits>, at: usize) -> usize {
        match self.ties {
            Ties::Ordinal => return at,
            // The last place of the tie at hand is its rank.
            Ties::Max if at > self.rank => self.rank = self.last_of_tie::<BACK>(tie, at),
            Ties::Max => {}
            Ties::Competition | Ties::Dense if tie == self.tie => {}
            Ties::Competition => (self.tie, self.rank) = (tie, at),
            Ties::Dense => (self.tie, self.rank) = (tie, self.rank + 1),
        }
        self.rank
    }

    /// The last place of the tie whose first row stands at `at`. A short tie ends in the leaf at hand; for
    /// another it takes a descent, which as many rows pay for.
    #[inline]
    fn last_of_tie<const BACK: bool>(&mut self, tie: Tie<S::Bits>, at: usize) -> usize {
        let next = if BACK {
            self.places.peek_back()
        } else {
            self.places.peek()
        };
        // Most scores are of one member.
        match next {
            Some(next) if next.tie() != tie => at,
            _ => self.last_of_long_tie::<BACK>(tie, at),
        }
    }

    #[inline(never)]
    fn last_of_long_tie<const BACK: bool>(&mut self, tie: Tie<S::Bits>, at: usize) -> usize {
        let differs = |place: &Place<S::Bits>| place.tie() != tie;
        let others = if BACK {
            self.places.at_hand_back().iter().rev().position(differs)
        } else {
            self.places.at_hand().iter().position(differs)
        };
        match others {
            Some(others) => at + others,
            None => self.board.last_place(tie.score(), self.order),
        }
    }
}

impl<S: Score> Iterator for Standings<'_, S> {
    type Item = Standing<S>;

    #[inline]
    fn next(&mut self) -> Option<Standing<S>> {
        match self.order {
            Order::Ascending => self.step::<false>(),
            Order::Descending => self.step::<true>(),
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl<S: Score> ExactSizeIterator for Standings<'_, S> {}
impl<S: Score> std::iter::FusedIterator for Standings<'_, S> {}
