//! `EchoData.Ordered`: what property stores and timelines have in common.
//!
//! A property store with indexes is a store of another kind, and has the same functions.
//!
//! Every function takes the store as a reference, or as the name or pid of its process, and answers
//! `:closed` when there is no such store.

use std::ops::Range;

use echo_data_core::id::{snowflake, Namespace};
use echo_data_core::{Held, OrderedStore, View};
use rustler::{Encoder, Env, Term};

use crate::batch::SMALL;
use crate::bounds::{beyond, gate, window_keys, END};
use crate::handle::{self, nif_of_kinds};
use crate::keyed::{done, keyed, keyed_nifs, All, Keyed};
use crate::kind::kind;
use crate::recorded::Recorded;
use crate::refusal::Refusal;
use crate::rows::{self, Listing, Order};
use crate::store::store_nifs;
use crate::term::Value;
use crate::{atoms, base62};

/// The kind of stores of values under ids of one namespace.
#[derive(Clone, Copy)]
pub(crate) struct Ordered;

pub(crate) type Found<'a> = handle::Found<'a, Ordered>;

kind!(
    Ordered, "a property store or a timeline", c"echo_data_ordered",
    rule: Namespace, store: OrderedStore<Value>, held: Held<Value>, view: View<Value>,
    new: |_| OrderedStore::new()
);

keyed!(
    Ordered, c"echo_data_pairs",
    key: |namespace: &Namespace, id| gate(id, *namespace),
    id: |env, namespace: &Namespace, key| rows::branded(env, *namespace, key),
    small: SMALL, reports: false, told: done
);

store_nifs!("ordered", Ordered, Recorded);
keyed_nifs!("ordered", Ordered, Recorded);

/// Registers these functions for both kinds.
macro_rules! ordered_nifs {
    ($($name:literal $arity:literal $function:ident)+) => {
        $(nif_of_kinds!($name, $arity, [$function], Normal, [Ordered, Recorded]);)+
    };
}

ordered_nifs! {
    "ordered_page" 5 page
    "ordered_window" 4 window
    "ordered_count" 3 count
    "ordered_since" 3 since
    "ordered_count_between" 3 count_between
    "ordered_namespace" 1 namespace
}

/// A kind of store of values under ids of one namespace.
trait Spaced: Keyed<Rule = Namespace> {}

impl<K: Keyed<Rule = Namespace>> Spaced for K {}

/// `{:ok, rows}` or `{:more, continuation}`: up to `count` rows in `order`, beyond `cursor` if it is an
/// id, from the end if it is `nil`.
fn page<'a, K: Spaced>(
    env: Env<'a>,
    [store, order, cursor, count, values]: [Term<'a>; 5],
) -> Result<Term<'a>, Refusal> {
    let order = order.decode()?;
    let listing = Listing {
        order,
        limit: count.decode().unwrap_or(usize::MAX),
        values: values.decode()?,
    };
    let page = |found: handle::Found<K>| {
        let beyond = beyond(cursor, order, *found.rule())?;
        rows::list(env, found, All::rows(), listing, |_| beyond.clone())
    };
    handle::with(store, page)
}

/// `{:ok, rows}` or `{:more, continuation}`: the rows from `low` on and below `high`, oldest first.
fn window<'a, K: Spaced>(
    env: Env<'a>,
    [store, low, high, values]: [Term<'a>; 4],
) -> Result<Term<'a>, Refusal> {
    let listing = Listing {
        order: Order::Asc,
        limit: usize::MAX,
        values: values.decode()?,
    };
    let window = |found: handle::Found<K>| {
        let keys = window_keys(low, high, *found.rule())?;
        rows::list(env, found, All::rows(), listing, |_| keys.clone())
    };
    handle::with(store, window)
}

/// `{:ok, count}` of the ids from `low` on and below `high`.
fn count<'a, K: Spaced>(
    env: Env<'a>,
    [store, low, high]: [Term<'a>; 3],
) -> Result<Term<'a>, Refusal> {
    let count = |found: handle::Found<K>| {
        let keys = window_keys(low, high, *found.rule())?;
        count_keys(env, found, keys)
    };
    handle::with(store, count)
}

/// `{:ok, rows}` or `{:more, continuation}`: up to `count` rows that were minted at an instant or later, in
/// milliseconds since 1970, oldest first.
fn since<'a, K: Spaced>(
    env: Env<'a>,
    [store, unix_ms, count]: [Term<'a>; 3],
) -> Result<Term<'a>, Refusal> {
    let listing = Listing {
        order: Order::Asc,
        limit: count.decode().unwrap_or(usize::MAX),
        values: true,
    };
    let keys = snowflake::begin_of(unix_ms.decode()?)..END;
    let since =
        |found: handle::Found<K>| rows::list(env, found, All::rows(), listing, |_| keys.clone());
    handle::with(store, since)
}

/// `{:ok, count}` of the rows that were minted at the instant `from` or later and before `until`, in
/// milliseconds since 1970.
fn count_between<'a, K: Spaced>(
    env: Env<'a>,
    [store, from, until]: [Term<'a>; 3],
) -> Result<Term<'a>, Refusal> {
    let keys = snowflake::begin_of(from.decode()?)..snowflake::begin_of(until.decode()?);
    handle::with(store, |found: handle::Found<K>| {
        count_keys(env, found, keys)
    })
}

fn count_keys<'a, K: Spaced>(
    env: Env<'a>,
    found: handle::Found<'_, K>,
    keys: Range<u64>,
) -> Result<Term<'a>, Refusal> {
    found.read(env, |view| {
        Ok((atoms::ok(), K::count(&view, keys)).encode(env))
    })
}

/// The namespace of the store's ids.
fn namespace<'a, K: Spaced>(env: Env<'a>, [store]: [Term<'a>; 1]) -> Result<Term<'a>, Refusal> {
    let namespace = |found: handle::Found<K>| Ok(base62::binary(env, found.rule().as_bytes()));
    handle::with(store, namespace)
}
