//! Rows with their ranks on their way to the caller's heap: as [`rows`](crate::rows) does it, by places.

use std::ops::{Bound, Range};

use echo_data_core::{Board, Number, Score, Standings};
use rustler::{Encoder, Env, NifResult, Term};
use smallvec::SmallVec;

use crate::handle;
use crate::moment::Moment;
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
        list(env, found, query, limit_of(limit), |_, view, query| {
            Ok(either!(View, view, view => {
                let board = view.group(&query.group);
                Some(board.by_rank((first, last), query.ties, query.order).places())
            }))
        })
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
        list(env, found, query, limit_of(limit), |rule, view, query| {
            Ok(either!(View, view, view => {
                let low = score::decode_bound(rule, low, "lo")?;
                let high = score::decode_bound(rule, high, "hi")?;
                let board = view.group(&query.group);
                let rows = board.by_score((low, high), query.ties, query.order);
                Some(right(rows)?.places())
            }))
        })
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
        list(env, found, query, usize::MAX, |_, view, query| {
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
fn limit_of(limit: Term<'_>) -> usize {
    limit.decode().unwrap_or(usize::MAX)
}

/// As the function that answered `{:more, continuation}` of rows.
#[rustler::nif(name = "ranked_more")]
fn more<'a>(env: Env<'a>, continuation: Term<'a>) -> NifResult<Term<'a>> {
    let proceed = || {
        let (walk, rows) =
            Walk::decode(continuation).ok_or(Refusal::Native(rustler::Error::BadArg))?;
        walk.step(env, rows)
    };
    answer(env, proceed())
}

/// Answers `{:ok, rows}` for the places that `find` makes of a view, or `{:more, continuation}`, or `:error`
/// when there are no such places. All rows are of one moment, however many calls it takes.
fn list<'a>(
    env: Env<'a>,
    set: Found<'_>,
    query: Term<'a>,
    limit: usize,
    find: impl Fn(&Rule, &View<'_>, &Query) -> Result<Option<Range<usize>>, Refusal>,
) -> Result<Term<'a>, Refusal> {
    let rule = set.rule();
    let asked = Query::decode(query)?;
    let find = |view: &View<'_>| {
        let places = find(rule, view, &asked)?;
        Ok(places.map(|places| places.start..places.end.min(places.start.saturating_add(limit))))
    };
    let short = set.read(env, |view| {
        let Some(places) = find(&view)? else {
            return Ok(Some(atoms::error().to_term(env)));
        };
        Ok((places.len() <= SHORT).then(|| {
            let timeslice = (places.len() > FEW).then(Timeslice::begin);
            let list = prepend(env, rule, &view, &asked, places, rows::nil(env));
            if let Some(timeslice) = timeslice {
                timeslice.end(env);
            }
            term::pair(env, atoms::ok().to_term(env), list)
        }))
    })?;
    if let Some(answer) = short {
        return Ok(answer);
    }
    let moment = Moment::of(env, set)?;
    let places = moment.read(env, |view| find(&view))?.unwrap_or_default();
    Walk {
        moment,
        query,
        places,
    }
    .step(env, rows::nil(env))
}

/// A listing in several calls. It is made from its end, so that every call puts its rows in front of the
/// list that the calls before it made.
struct Walk<'a> {
    moment: Moment<RankedSet>,
    query: Term<'a>,
    /// Those that are not listed yet.
    places: Range<usize>,
}

impl<'a> Walk<'a> {
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
        let query = Query::decode(self.query)?;
        let rule = self.moment.rule();
        let done = self.moment.read(env, |view| {
            while !self.places.is_empty() && !timeslice.is_spent() {
                let start = self
                    .places
                    .end
                    .saturating_sub(STRIDE)
                    .max(self.places.start);
                let part = start..self.places.end;
                list = prepend(env, rule, &view, &query, part, list);
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

/// The rows at some places, in front of a list.
fn prepend<'a>(
    env: Env<'a>,
    rule: &Rule,
    view: &View<'_>,
    query: &Query,
    places: Range<usize>,
    list: Term<'a>,
) -> Term<'a> {
    either!(View, view, view => {
        let rows = at(view.group(&query.group), query, places);
        let mut terms = SmallVec::<[Term<'a>; FEW]>::new();
        terms.extend(rows.map(|row| {
            let id = rows::branded(env, rule.namespace, row.id);
            term::triple(env, row.rank.encode(env), id, score::encode(env, row.score))
        }));
        let prepend = |list, &row| term::cell(env, row, list);
        terms.iter().rev().fold(list, prepend)
    })
}

fn at<'v, const N: usize>(
    board: Board<'v, [Number; N]>,
    query: &Query,
    places: Range<usize>,
) -> Standings<'v, [Number; N]>
where
    [Number; N]: Score,
{
    board.at_places(places, query.ties, query.order)
}
