//! Rows on their way to the caller's heap: in one call when they are few, in several when they are not.

use std::ops::Range;

use echo_data_core::id::{BrandedId, Namespace};
use echo_data_core::View;
use rustler::{Encoder, Env, NifResult, NifUnitEnum, ResourceArc, Term};

use crate::handle::{Found, Handle};
use crate::refusal::Refusal;
use crate::term::{self, Value};
use crate::timeslice::Timeslice;
use crate::{atoms, base62};

/// Rows that are read without looking at the clock.
const FEW: usize = 32;

/// Rows between two looks at the clock.
const STRIDE: usize = 32;

/// Rows that are read from the current version. More are read from a moment that is held, so that the
/// read may be continued.
const SHORT: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq, NifUnitEnum)]
pub(crate) enum Order {
    /// Oldest first.
    Asc,
    /// Newest first.
    Desc,
}

/// How rows are to be listed.
#[derive(Clone, Copy)]
pub(crate) struct Listing {
    pub(crate) order: Order,
    /// `{id, value}`, or only ids.
    pub(crate) values: bool,
}

/// Answers `{:ok, rows}` for the positions that `find` makes of a view, or `{:more, continuation}` for
/// [`proceed`]. All rows are of one moment, however many calls it takes.
pub(crate) fn list<'a>(
    env: Env<'a>,
    store: &Found<'_>,
    listing: Listing,
    find: impl Fn(&View<'_, Value>) -> Result<Range<usize>, Refusal>,
) -> Result<Term<'a>, Refusal> {
    let short = store.read(env, |view| {
        let span = find(&view)?;
        if span.len() > SHORT {
            return Ok(None);
        }
        let timeslice = (span.len() > FEW).then(Timeslice::begin);
        let rows = prepend(env, store, &view, listing, span, nil(env));
        if let Some(timeslice) = timeslice {
            timeslice.end(env);
        }
        Ok(Some(rows))
    })?;
    if let Some(rows) = short {
        return Ok(term::pair(env, atoms::ok().to_term(env), rows));
    }
    let resource = store.resource()?;
    let held = Handle::hold(&resource, env)?;
    let ours = held.is_some();
    let moment = held.unwrap_or(resource);
    let span = moment.read(env, |view| find(&view))?;
    Scan {
        moment,
        span,
        listing,
        ours,
    }
    .step(env, nil(env))
}

/// Goes on with a listing where the last call left it.
pub(crate) fn proceed<'a>(env: Env<'a>, continuation: Term<'a>) -> Result<Term<'a>, Refusal> {
    let (mut scan, rows) = Scan::decode(continuation).map_err(Refusal::Native)?;
    let answer = scan.step(env, rows)?;
    // The caller's heap has a reference to the moment, and would keep it until it is collected.
    if scan.ours && scan.span.is_empty() {
        scan.moment.close();
    }
    Ok(answer)
}

/// A listing in several calls. It is made from its end, so that every call puts its rows in front of the
/// list that the calls before it made.
struct Scan {
    moment: ResourceArc<Handle>,
    span: Range<usize>,
    listing: Listing,
    /// Whether the moment is held for this listing alone.
    ours: bool,
}

impl Scan {
    fn decode(continuation: Term<'_>) -> NifResult<(Self, Term<'_>)> {
        let (moment, start, end, order, values, ours, rows) = continuation.decode()?;
        let scan = Self {
            moment,
            span: start..end,
            listing: Listing { order, values },
            ours,
        };
        Ok((scan, rows))
    }

    fn encode<'a>(&self, env: Env<'a>, rows: Term<'a>) -> Term<'a> {
        let Listing { order, values } = self.listing;
        let (start, end) = (self.span.start, self.span.end);
        (&self.moment, start, end, order, values, self.ours, rows).encode(env)
    }

    /// Lists rows until there are no more or the time ends.
    fn step<'a>(&mut self, env: Env<'a>, mut rows: Term<'a>) -> Result<Term<'a>, Refusal> {
        let timeslice = Timeslice::begin();
        self.span = self.moment.read(env, |view| {
            let mut span = self.span.clone();
            while !span.is_empty() && !timeslice.is_spent() {
                let part = self.listing.last_of(&mut span, STRIDE);
                rows = prepend(env, &self.moment, &view, self.listing, part, rows);
            }
            Ok(span)
        })?;
        timeslice.end(env);
        Ok(match self.span.is_empty() {
            true => term::pair(env, atoms::ok().to_term(env), rows),
            false => term::pair(env, atoms::more().to_term(env), self.encode(env, rows)),
        })
    }
}

impl Listing {
    /// Takes from `span` up to `count` positions that are listed last.
    fn last_of(self, span: &mut Range<usize>, count: usize) -> Range<usize> {
        match self.order {
            Order::Asc => {
                let part = span.end.saturating_sub(count).max(span.start)..span.end;
                span.end = part.start;
                part
            }
            Order::Desc => {
                let part = span.start..(span.start + count).min(span.end);
                span.start = part.end;
                part
            }
        }
    }
}

/// Puts the rows of `span` in front of `rows`.
fn prepend<'a>(
    env: Env<'a>,
    handle: &Handle,
    view: &View<'_, Value>,
    listing: Listing,
    span: Range<usize>,
    rows: Term<'a>,
) -> Term<'a> {
    let namespace = handle.namespace();
    let add = |rows, (key, value)| {
        let id = branded(env, namespace, key);
        let row = match listing.values {
            true => term::pair(env, id, term::decode(env, value)),
            false => id,
        };
        term::cell(env, row, rows)
    };
    match listing.order {
        Order::Asc => view.slice(span).rev().fold(rows, add),
        Order::Desc => view.slice(span).fold(rows, add),
    }
}

/// The text of a key's id.
#[inline]
pub(crate) fn branded(env: Env<'_>, namespace: Namespace, key: u64) -> Term<'_> {
    let id = BrandedId::new(namespace, key).expect("the gate lets in snowflakes only");
    base62::binary(env, &id.to_bytes())
}

#[inline]
pub(crate) fn nil(env: Env<'_>) -> Term<'_> {
    Term::list_new_empty(env)
}
