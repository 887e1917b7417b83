//! Rows with their ranks on their way to the caller's heap: as [`rows`](crate::rows) does it, by places.

use std::ops::{Bound, Range};

use echo_data_core::{Board, Number, Score, Standings};
use rustler::{Encoder, Env, NifResult, Term};
use smallvec::SmallVec;

use crate::handle::{self, other_kind};
use crate::kind::Kind;
use crate::moment::{Moment, CONTINUATION};
use crate::ranked_set::{right, Found, Query, RankedSet};
use crate::ranked_store::{either, Rule, View};
use crate::refusal::{answer, Refusal};
use crate::timeslice::Timeslice;
use crate::{atoms, rows, score, term};

/// Rows between two looks at the clock. Each such part of a walk begins with a few descents.
const STRIDE: usize = 128;

/// Rows that are read from the current version. More are read from a moment that is held, so that the
/// read may be continued.
const SHORT: usize = 256;

/// Rows that are kept off the heap on their way.
const FEW: usize = 32;

/// A ranking that is asked, and how its rows are told.
pub(crate) trait Listing<'a>: Sized {
    type Kind: Kind;

    /// Of the term that a continuation has for it.
    fn decode(query: Term<'a>) -> Result<Self, Refusal>;

    /// The rows at some places.
    fn rows(
        &self,
        env: Env<'a>,
        rule: &<Self::Kind as Kind>::Rule,
        view: &<Self::Kind as Kind>::View<'_>,
        places: Range<usize>,
    ) -> Result<Listed<'a>, Refusal>;
}

/// Rows on their way.
pub(crate) type Listed<'a> = SmallVec<[Term<'a>; FEW]>;

/// The members of a group of a ranked set.
struct Members(Query);

impl<'a> Listing<'a> for Members {
    type Kind = RankedSet;

    fn decode(query: Term<'a>) -> Result<Self, Refusal> {
        Query::decode(query).map(Self)
    }

    fn rows(
        &self,
        env: Env<'a>,
        rule: &Rule,
        view: &View<'_>,
        places: Range<usize>,
    ) -> Result<Listed<'a>, Refusal> {
        Ok(either!(View, view, view => {
            let rows = at(view.group(&self.0.group), &self.0, places);
            let row = rows.map(|row| {
                let id = rows::branded(env, rule.namespace, row.id);
                term::triple(env, row.rank.encode(env), id, score::encode(env, row.score))
            });
            row.collect()
        }))
    }
}

/// `{:ok, rows}` or `{:more, continuation}` for `ranked_more`: those whose ranks are from `first` to `last`,
/// where `nil` is open, up to `limit` or `:all`.
#[rustler::nif(name = "ranked_by_rank")]
fn by_rank<'a>(
    env: Env<'a>,
    set: Term<'a>,
    first: Option<i64>,
    last: Option<i64>,
    query: Term<'a>,
    limit: Term<'a>,
) -> NifResult<Term<'a>> {
    let first = first.map_or(Bound::Unbounded, Bound::Included);
    let last = last.map_or(Bound::Unbounded, Bound::Included);
    let rows = |found: Found| {
        list(
            env,
            found,
            query,
            limit_of(limit),
            |Members(query), view| {
                Ok(either!(View, view, view => {
                    let board = view.group(&query.group);
                    Some(board.by_rank((first, last), query.ties, query.order).places())
                }))
            },
        )
    };
    answer(env, handle::with(set, rows))
}

/// As `ranked_by_rank`: those whose scores are between two bounds.
#[rustler::nif(name = "ranked_by_score")]
fn by_score<'a>(
    env: Env<'a>,
    set: Term<'a>,
    low: Term<'a>,
    high: Term<'a>,
    query: Term<'a>,
    limit: Term<'a>,
) -> NifResult<Term<'a>> {
    let rows = |found: Found| {
        let rule = found.rule();
        list(
            env,
            found,
            query,
            limit_of(limit),
            |Members(query), view| {
                Ok(either!(View, view, view => {
                    let low = score::decode_bound(rule, low, "lo")?;
                    let high = score::decode_bound(rule, high, "hi")?;
                    let board = view.group(&query.group);
                    let rows = board.by_score((low, high), query.ties, query.order);
                    Some(right(rows)?.places())
                }))
            },
        )
    };
    answer(env, handle::with(set, rows))
}

/// As `ranked_by_rank`: a member between up to `reach` on each side; `:error` when it is not there.
#[rustler::nif(name = "ranked_around")]
fn around<'a>(
    env: Env<'a>,
    set: Term<'a>,
    id: Term<'a>,
    reach: Term<'a>,
    query: Term<'a>,
) -> NifResult<Term<'a>> {
    let reach = reach.decode().unwrap_or(usize::MAX);
    let rows = |found: Found| {
        let key = found.rule().key(id)?;
        list(env, found, query, usize::MAX, |Members(query), view| {
            Ok(either!(View, view, view => {
                let board = view.group(&query.group);
                let rows = board.around(key, reach, query.ties, query.order);
                rows.map(|rows| rows.places())
            }))
        })
    };
    answer(env, handle::with(set, rows))
}

/// `:all`, or a number that may be larger than any set, is no limit.
pub(crate) fn limit_of(limit: Term<'_>) -> usize {
    limit.decode().unwrap_or(usize::MAX)
}

/// As the function that answered `{:more, continuation}` of rows.
#[rustler::nif(name = "ranked_more")]
fn more<'a>(env: Env<'a>, continuation: Term<'a>) -> NifResult<Term<'a>> {
    answer(env, proceed::<Members>(env, continuation))
}

/// Answers `{:ok, rows}` for the places that `find` makes of a view, or `{:more, continuation}` for
/// [`proceed`], or `:error` when there are no such places. All rows are of one moment, however many calls it
/// takes.
pub(crate) fn list<'a, L: Listing<'a>>(
    env: Env<'a>,
    store: handle::Found<'_, L::Kind>,
    query: Term<'a>,
    limit: usize,
    find: impl Fn(&L, &<L::Kind as Kind>::View<'_>) -> Result<Option<Range<usize>>, Refusal>,
) -> Result<Term<'a>, Refusal> {
    let rule = store.rule();
    let listing = L::decode(query)?;
    let find = |view: &<L::Kind as Kind>::View<'_>| {
        let places = find(&listing, view)?;
        Ok(places.map(|places| places.start..places.end.min(places.start.saturating_add(limit))))
    };
    let short = store.read(env, |view| {
        let Some(places) = find(&view)? else {
            return Ok(Some(atoms::error().to_term(env)));
        };
        if places.len() > SHORT {
            return Ok(None);
        }
        let timeslice = (places.len() > FEW).then(Timeslice::begin);
        let rows = listing.rows(env, rule, &view, places)?;
        let list = prepend(env, &rows, rows::nil(env));
        if let Some(timeslice) = timeslice {
            timeslice.end(env);
        }
        Ok(Some(term::pair(env, atoms::ok().to_term(env), list)))
    })?;
    if let Some(answer) = short {
        return Ok(answer);
    }
    let moment = Moment::of(env, store)?;
    let places = moment.read(env, |view| find(&view))?.unwrap_or_default();
    let walk = Walk::<L> {
        moment,
        query,
        places,
    };
    walk.step(env, rows::nil(env))
}

/// Goes on with a listing where the last call left it.
pub(crate) fn proceed<'a, L: Listing<'a>>(
    env: Env<'a>,
    continuation: Term<'a>,
) -> Result<Term<'a>, Refusal> {
    let walk = Walk::<L>::decode(continuation);
    let (walk, rows) = walk.ok_or_else(|| other_kind::<L::Kind>(CONTINUATION))?;
    walk.step(env, rows)
}

/// A listing in several calls. It is made from its end, so that every call puts its rows in front of the
/// list that the calls before it made.
struct Walk<'a, L: Listing<'a>> {
    moment: Moment<L::Kind>,
    query: Term<'a>,
    /// Those that are not listed yet.
    places: Range<usize>,
}

impl<'a, L: Listing<'a>> Walk<'a, L> {
    fn decode(continuation: Term<'a>) -> Option<(Self, Term<'a>)> {
        let (moment, query, (start, end), rows) = continuation.decode().ok()?;
        let walk = Self {
            moment: Moment::from_term(moment)?,
            query,
            places: start..end,
        };
        Some((walk, rows))
    }

    /// Lists rows until there are no more or the time ends.
    fn step(mut self, env: Env<'a>, mut list: Term<'a>) -> Result<Term<'a>, Refusal> {
        let timeslice = Timeslice::begin();
        let listing = L::decode(self.query)?;
        let rule = self.moment.rule();
        let done = self.moment.read(env, |view| {
            while !self.places.is_empty() && !timeslice.is_spent() {
                let start = self.places.end.saturating_sub(STRIDE);
                let start = start.max(self.places.start);
                let rows = listing.rows(env, rule, &view, start..self.places.end)?;
                list = prepend(env, &rows, list);
                self.places.end = start;
            }
            Ok(self.places.is_empty())
        });
        timeslice.end(env);
        if !matches!(done, Ok(false)) {
            self.moment.end();
        }
        Ok(match done? {
            true => term::pair(env, atoms::ok().to_term(env), list),
            false => {
                let places = (self.places.start, self.places.end);
                (atoms::more(), (&self.moment, self.query, places, list)).encode(env)
            }
        })
    }
}

/// Rows in front of a list.
fn prepend<'a>(env: Env<'a>, rows: &[Term<'a>], list: Term<'a>) -> Term<'a> {
    rows.iter()
        .rev()
        .fold(list, |list, &row| term::cell(env, row, list))
}

pub(crate) fn at<'v, const N: usize>(
    board: Board<'v, [Number; N]>,
    query: &Query,
    places: Range<usize>,
) -> Standings<'v, [Number; N]>
where
    [Number; N]: Score,
{
    board.at_places(places, query.ties, query.order)
}
