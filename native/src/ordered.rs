//! `EchoData.Ordered`: what property stores and timelines have in common.
//!
//! Every function takes the store as a reference, or as the name or pid of its process, and answers
//! `:closed` when there is no such store.

use echo_data_core::id::Namespace;
use echo_data_core::{Held, OrderedStore, View};
use rustler::{Encoder, Env, NifResult, Term};

use crate::bounds::{beyond, gate, window_keys};
use crate::handle;
use crate::keyed::{keyed, keyed_nifs, All};
use crate::kind::kind;
use crate::refusal::answer;
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
    id: |env, namespace: &Namespace, key| rows::branded(env, *namespace, key)
);

store_nifs!(Ordered, "ordered");
keyed_nifs!(Ordered, "ordered");

/// `{:ok, rows}` or `{:more, continuation}`: up to `count` rows in `order`, beyond `cursor` if it is an
/// id, from `cursor` on if it is a snowflake, from the end if it is `nil`.
#[rustler::nif(name = "ordered_page")]
fn page<'a>(
    env: Env<'a>,
    store: Term<'a>,
    order: Order,
    cursor: Term<'a>,
    count: Term<'a>,
    values: bool,
) -> NifResult<Term<'a>> {
    let listing = Listing {
        order,
        limit: count.decode().unwrap_or(usize::MAX),
        values,
    };
    let page = |found: Found| {
        let beyond = beyond(cursor, order, *found.rule())?;
        rows::list(env, found, All::rows(), listing, |_| beyond.clone())
    };
    answer(env, handle::with(store, page))
}

/// `{:ok, rows}` or `{:more, continuation}`: the rows from `low` on and below `high`, oldest first.
#[rustler::nif(name = "ordered_window")]
fn window<'a>(
    env: Env<'a>,
    store: Term<'a>,
    low: Term<'a>,
    high: Term<'a>,
    values: bool,
) -> NifResult<Term<'a>> {
    let listing = Listing {
        order: Order::Asc,
        limit: usize::MAX,
        values,
    };
    let window = |found: Found| {
        let keys = window_keys(low, high, *found.rule())?;
        rows::list(env, found, All::rows(), listing, |_| keys.clone())
    };
    answer(env, handle::with(store, window))
}

/// `{:ok, count}` of the ids from `low` on and below `high`.
#[rustler::nif(name = "ordered_count")]
fn count<'a>(env: Env<'a>, store: Term<'a>, low: Term<'a>, high: Term<'a>) -> NifResult<Term<'a>> {
    let count = |found: Found| {
        let range = window_keys(low, high, *found.rule())?;
        found.read(env, |view| Ok((atoms::ok(), view.count(range)).encode(env)))
    };
    answer(env, handle::with(store, count))
}

/// The namespace of the store's ids.
#[rustler::nif(name = "ordered_namespace")]
fn namespace<'a>(env: Env<'a>, store: Term<'a>) -> NifResult<Term<'a>> {
    let namespace = |found: Found| Ok(base62::binary(env, found.rule().as_bytes()));
    answer(env, handle::with(store, namespace))
}
