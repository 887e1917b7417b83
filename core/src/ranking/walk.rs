//! Rows with their ranks, along one walk: no row costs a descent.

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
    places: Entries<'v, Place<S::Bits>, Inline<()>>,
    /// For [`Ties::Max`], how many members the ties have that are yet to come.
    sizes: Option<Entries<'v, Tie<S::Bits>, Inline<u64>>>,
    /// The score of the tie at hand, and its rank unless ranks are ordinal.
    score: S::Bits,
    rank: usize,
    /// The ordinal place of the next row.
    next: usize,
    ties: Ties,
    order: Order,
    rule: &'v S::Rule,
}

impl<'v, S: Score> Standings<'v, S> {
    /// The rows at `positions`, which are all of the board's group. O(log n).
    pub(super) fn new(
        board: &Board<'v, S>,
        positions: Range<usize>,
        ties: Ties,
        order: Order,
    ) -> Self {
        let (roots, rule) = board.roots();
        let next = match positions.is_empty() {
            true => 0,
            false => board.before(&positions, order),
        };
        let first = match order {
            Order::Ascending => positions.start,
            Order::Descending => positions.end.saturating_sub(1),
        };
        let (mut tied, mut rank) = (S::Bits::LOWEST, 0);
        let mut sizes = None;
        let first = roots.places.select(first).map(|(place, _)| *place);
        if let Some(place) = first.filter(|_| !positions.is_empty()) {
            let (group, score) = (place.group(), place.score());
            if ties != Ties::Ordinal {
                (tied, rank) = (score, board.rank_of(group, score, None, ties, order));
            }
            if ties == Ties::Max {
                let at = roots.ties.rank(&Tie::new(group, score));
                let rest = match order {
                    Order::Ascending => at + 1..usize::MAX,
                    Order::Descending => 0..at,
                };
                sizes = Some(roots.ties.entries(rest));
            }
        }
        Self {
            places: roots.places.entries(positions),
            sizes,
            score: tied,
            rank,
            next,
            ties,
            order,
            rule,
        }
    }

    /// The places of the rows that are yet to come, every one in a place alone; see
    /// [`Board::at_places`].
    pub fn places(&self) -> Range<usize> {
        self.next..self.next + self.places.len()
    }

    /// The rank of a row that has `score` and stands at `at`.
    #[inline]
    fn rank(&mut self, score: S::Bits, at: usize) -> usize {
        if self.ties == Ties::Ordinal {
            return at;
        }
        if score != self.score {
            self.score = score;
            self.rank = match self.ties {
                Ties::Dense => self.rank + 1,
                Ties::Max => at + self.next_size() - 1,
                Ties::Competition | Ties::Ordinal => at,
            };
        }
        self.rank
    }

    /// The size of the tie that follows.
    fn next_size(&mut self) -> usize {
        let next = match (&mut self.sizes, self.order) {
            (None, _) => None,
            (Some(sizes), Order::Ascending) => sizes.next(),
            (Some(sizes), Order::Descending) => sizes.next_back(),
        };
        next.map_or(1, |(_, slot)| slot.0 as usize)
    }
}

impl<S: Score> Iterator for Standings<'_, S> {
    type Item = Standing<S>;

    #[inline]
    fn next(&mut self) -> Option<Standing<S>> {
        let (place, _) = match self.order {
            Order::Ascending => self.places.next(),
            Order::Descending => self.places.next_back(),
        }?;
        let (score, id) = (place.score(), place.id);
        let at = self.next;
        self.next += 1;
        Some(Standing {
            rank: self.rank(score, at),
            id,
            score: S::decode(score, self.rule),
        })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl<S: Score> ExactSizeIterator for Standings<'_, S> {}
impl<S: Score> std::iter::FusedIterator for Standings<'_, S> {}
