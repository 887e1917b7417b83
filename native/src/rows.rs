//! Rows on their way to the caller's heap: in one call when they are few, in several when they are not.

use std::ops::Range;

use echo_data_core::id::{BrandedId, Namespace};
use rustler::{Encoder, Env, NifUnitEnum, Term};
use smallvec::SmallVec;

use crate::handle::{other_kind, Found};
use crate::kind::Kind;
use crate::moment::{Moment, CONTINUATION};
use crate::refusal::Refusal;
use crate::timeslice::Timeslice;
use crate::{atoms, base62, term};

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

pub(crate) type ViewOf<'v, T> = <<T as Table>::Kind as Kind>::View<'v>;

pub(crate) type RuleOf<T> = <<T as Table>::Kind as Kind>::Rule;

/// Rows of a store under ascending keys.
pub(crate) trait Table: Copy {
    type Kind: Kind;
    type Value<'v>: Copy;
    type Rows<'v>: DoubleEndedIterator<Item = (u64, Self::Value<'v>)> + ExactSizeIterator;

    /// The rows with keys in a range, from either end.
    fn rows<'v>(self, view: &'v ViewOf<'_, Self>, keys: Range<u64>) -> Self::Rows<'v>;

    /// How a key is told to the caller.
    fn id<'a>(env: Env<'a>, rule: &RuleOf<Self>, key: u64) -> Term<'a>;

    fn decode<'a>(env: Env<'a>, value: Self::Value<'_>) -> Term<'a>;

    /// Which table it is, among those of the same type: for a continuation.
    fn number(self) -> u64;
    fn numbered(number: u64) -> Self;
}

/// How rows are to be listed.
#[derive(Clone, Copy)]
pub(crate) struct Listing {
    pub(crate) order: Order,
    /// The most rows, from where the order begins.
    pub(crate) limit: usize,
    /// `{id, value}`, or only ids.
    pub(crate) values: bool,
}

/// Answers `{:ok, rows}` for the keys that `find` makes of a view, or `{:more, continuation}` for
/// [`proceed`]. All rows are of one moment, however many calls it takes.
pub(crate) fn list<'a, T: Table>(
    env: Env<'a>,
    store: Found<'_, T::Kind>,
    table: T,
    listing: Listing,
    find: impl Fn(&ViewOf<'_, T>) -> Range<u64>,
) -> Result<Term<'a>, Refusal> {
    let rule = store.rule();
    let short = store.read(env, |view| {
        let rows = table.rows(&view, find(&view));
        let count = rows.len().min(listing.limit);
        Ok((count <= SHORT).then(|| {
            let timeslice = (count > FEW).then(Timeslice::begin);
            let row = |(key, value)| row::<T>(env, rule, key, value, listing.values);
            let mut listed = SmallVec::<[Term<'a>; FEW]>::new();
            match listing.order {
                Order::Asc => listed.extend(rows.take(count).map(row)),
                Order::Desc => listed.extend(rows.rev().take(count).map(row)),
            }
            let prepend = |list, &row| term::cell(env, row, list);
            let list = listed.iter().rev().fold(nil(env), prepend);
            if let Some(timeslice) = timeslice {
                timeslice.end(env);
            }
            list
        }))
    })?;
    if let Some(rows) = short {
        return Ok(term::pair(env, atoms::ok().to_term(env), rows));
    }
    let moment = Moment::of(env, store)?;
    let keys = moment.read(env, |view| {
        let keys = find(&view);
        Ok(first_of(table.rows(&view, keys.clone()), keys, listing))
    })?;
    let scan = Scan {
        moment,
        table,
        keys,
        order: listing.order,
        values: listing.values,
    };
    scan.step(env, nil(env))
}

/// The part of `keys` that has as many rows as are to be listed.
fn first_of<V>(
    mut rows: impl ExactSizeIterator<Item = (u64, V)>,
    keys: Range<u64>,
    listing: Listing,
) -> Range<u64> {
    let beyond = rows.len().saturating_sub(listing.limit);
    match listing.order {
        _ if beyond == 0 => keys,
        Order::Asc => keys.start..rows.nth(listing.limit).map_or(keys.end, |(key, _)| key),
        Order::Desc => rows.nth(beyond).map_or(keys.start, |(key, _)| key)..keys.end,
    }
}

/// Goes on with a listing where the last call left it.
pub(crate) fn proceed<'a, T: Table>(
    env: Env<'a>,
    continuation: Term<'a>,
) -> Result<Term<'a>, Refusal> {
    let (scan, rows) =
        Scan::<T>::decode(continuation).ok_or_else(|| other_kind::<T::Kind>(CONTINUATION))?;
    scan.step(env, rows)
}

/// A listing in several calls. It is made from its end, so that every call puts its rows in front of the
/// list that the calls before it made.
struct Scan<T: Table> {
    moment: Moment<T::Kind>,
    table: T,
    keys: Range<u64>,
    order: Order,
    values: bool,
}

impl<T: Table> Scan<T> {
    fn decode(continuation: Term<'_>) -> Option<(Self, Term<'_>)> {
        let (moment, table, (start, end), order, values, rows) = continuation.decode().ok()?;
        let scan = Self {
            moment: Moment::from_term(moment)?,
            table: T::numbered(table),
            keys: start..end,
            order,
            values,
        };
        Some((scan, rows))
    }

    fn encode<'a>(&self, env: Env<'a>, rows: Term<'a>) -> Term<'a> {
        let keys = (self.keys.start, self.keys.end);
        let (table, order) = (self.table.number(), self.order);
        (&self.moment, table, keys, order, self.values, rows).encode(env)
    }

    /// Lists rows until there are no more or the time ends.
    fn step<'a>(mut self, env: Env<'a>, mut list: Term<'a>) -> Result<Term<'a>, Refusal> {
        let timeslice = Timeslice::begin();
        let rule = self.moment.rule();
        let done = self.moment.read(env, |view| {
            let mut rows = self.table.rows(&view, self.keys.clone());
            while rows.len() > 0 && !timeslice.is_spent() {
                for _ in 0..rows.len().min(STRIDE) {
                    let next = match self.order {
                        Order::Asc => rows.next_back(),
                        Order::Desc => rows.next(),
                    };
                    let (key, value) = next.expect("an exact length");
                    match self.order {
                        Order::Asc => self.keys.end = key,
                        Order::Desc => self.keys.start = key + 1,
                    }
                    let row = row::<T>(env, rule, key, value, self.values);
                    list = term::cell(env, row, list);
                }
            }
            Ok(rows.len() == 0)
        });
        timeslice.end(env);
        if !matches!(done, Ok(false)) {
            self.moment.end();
        }
        Ok(match done? {
            true => term::pair(env, atoms::ok().to_term(env), list),
            false => term::pair(env, atoms::more().to_term(env), self.encode(env, list)),
        })
    }
}

/// `{id, value}`, or the id.
#[inline]
fn row<'a, T: Table>(
    env: Env<'a>,
    rule: &RuleOf<T>,
    key: u64,
    value: T::Value<'_>,
    values: bool,
) -> Term<'a> {
    let id = T::id(env, rule, key);
    match values {
        true => term::pair(env, id, T::decode(env, value)),
        false => id,
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
