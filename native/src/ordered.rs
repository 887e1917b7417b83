//! `EchoData.Ordered`: what property stores and timelines have in common.
//!
//! Every function takes the store as a reference, or as the name or pid of its process, and answers
//! `:closed` when there is no such store.

use std::ffi::CStr;
use std::ops::Range;

use echo_data_core::id::{GateError, Namespace};
use echo_data_core::{BlobRef, Held, OrderedStore, Rows, View};
use rustler::{Encoder, Env, NifResult, Term};

use crate::batch::{self, Batch};
use crate::bounds::{beyond, gate, window_keys, END};
use crate::handle::{self, Handle};
use crate::hot::hot_nif;
use crate::kind::kind;
use crate::refusal::{answer, Refusal};
use crate::resource::{self, Type};
use crate::rows::{self, Listing, Order, Table};
use crate::store::{found_or_not, store_nifs};
use crate::term::{Shared, Value};
use crate::{atoms, base62, lookup, term};

/// The kind of stores of values under ids of one namespace.
pub(crate) struct Ordered;

pub(crate) type Found<'a> = handle::Found<'a, Ordered>;

kind!(
    Ordered, "a property store or a timeline", c"echo_data_ordered",
    rule: Namespace, store: OrderedStore<Value>, held: Held<Value>, view: View<Value>
);

store_nifs!(Ordered, "ordered");

impl Handle<Ordered> {
    /// The key of an id of this store.
    #[inline]
    pub(crate) fn key(&self, id: Term<'_>) -> Result<u64, GateError> {
        gate(id, *self.rule())
    }
}

/// All rows of an ordered store.
#[derive(Clone, Copy)]
struct All;

impl Table for All {
    type Kind = Ordered;
    type Value<'v> = BlobRef<'v, Shared>;
    type Rows<'v> = Rows<'v, Value>;

    #[inline]
    fn rows<'v>(self, view: &'v View<'_, Value>, keys: Range<u64>) -> Rows<'v, Value> {
        view.range(keys)
    }

    fn namespace(rule: &Namespace) -> Namespace {
        *rule
    }

    #[inline]
    fn decode<'a>(env: Env<'a>, value: Self::Value<'_>) -> Term<'a> {
        term::decode(env, value)
    }

    fn number(self) -> u64 {
        0
    }

    fn numbered(_number: u64) -> Self {
        Self
    }
}

/// A value under its key, to be put.
type Pair = (u64, Value);

impl batch::Row for Pair {
    type Kind = Ordered;
    const NAME: &'static CStr = c"echo_data_pairs";
    const LIST: &'static str = "rows must be a list of {id, value}";

    fn kept() -> &'static Type<Batch<Self>> {
        static TYPE: Type<Batch<Pair>> = Type::new();
        &TYPE
    }

    fn read(handle: &Handle<Ordered>, row: Term<'_>) -> Option<Result<Self, Refusal>> {
        let (id, value) = row.decode::<(Term, Term)>().ok()?;
        Some((|| Ok((handle.key(id)?, term::encode(value)?)))())
    }
}

/// Opens the types of batches; answers whether the VM did so.
pub(crate) fn open_types(env: Env<'_>) -> bool {
    resource::open::<Handle<Ordered>>(env) && resource::open::<Batch<Pair>>(env)
}

/// Puts rows in one publication.
fn put_all<'a>(env: Env<'a>) -> impl FnOnce(&OrderedStore<Value>, Vec<Pair>) -> Term<'a> {
    move |store, rows| {
        store.put_all(rows);
        atoms::ok().to_term(env)
    }
}

hot_nif!("ordered_put", 3, put);
hot_nif!("ordered_get", 2, get);

/// `:ok`.
fn put<'a>(env: Env<'a>, [store, id, value]: [Term<'a>; 3]) -> NifResult<Term<'a>> {
    let put = |found: Found| {
        let key = found.key(id)?;
        let value = term::encode(value)?;
        found.write(env, |store| store.put(key, value))?;
        Ok(atoms::ok().to_term(env))
    };
    answer(env, handle::with(store, put))
}

/// `{:ok, value}` or `{:error, :not_found}`.
fn get<'a>(env: Env<'a>, [store, id]: [Term<'a>; 2]) -> NifResult<Term<'a>> {
    let get = |found: Found| {
        let key = found.key(id)?;
        found.read(env, |view| {
            let value = view.get(key).map(|value| term::decode(env, value));
            Ok(found_or_not(env, value))
        })
    };
    answer(env, handle::with(store, get))
}

/// `:ok` or `{:error, :not_found}`.
#[rustler::nif(name = "ordered_delete")]
fn delete<'a>(env: Env<'a>, store: Term<'a>, id: Term<'a>) -> NifResult<Term<'a>> {
    let delete = |found: Found| {
        let key = found.key(id)?;
        Ok(match found.write(env, |store| store.remove(key))? {
            true => atoms::ok().to_term(env),
            false => found_or_not(env, None),
        })
    };
    answer(env, handle::with(store, delete))
}

/// `{:ok, value}`, which is not there any more, or `{:error, :not_found}`.
#[rustler::nif(name = "ordered_take")]
fn take<'a>(env: Env<'a>, store: Term<'a>, id: Term<'a>) -> NifResult<Term<'a>> {
    let take = |found: Found| {
        let key = found.key(id)?;
        let taken = found.write(env, |store| {
            store.take(key, |value| term::decode(env, value))
        })?;
        Ok(found_or_not(env, taken))
    };
    answer(env, handle::with(store, take))
}

/// `{:ok, [{id, value}]}` for the ids that are there, in their order, or `{:more, continuation}` for
/// `ordered_get_more`.
#[rustler::nif(name = "ordered_get_many")]
fn get_many<'a>(env: Env<'a>, store: Term<'a>, ids: Term<'a>) -> NifResult<Term<'a>> {
    answer(
        env,
        handle::with(store, |found| lookup::find(env, found, ids)),
    )
}

/// As `ordered_get_many`.
#[rustler::nif(name = "ordered_get_more")]
fn get_more<'a>(env: Env<'a>, continuation: Term<'a>) -> NifResult<Term<'a>> {
    answer(env, lookup::proceed(env, continuation))
}

/// `:ok`, or `{:more, continuation}` for `ordered_put_more`, or `{:staged, batch}` for
/// `ordered_put_staged`.
#[rustler::nif(name = "ordered_put_many")]
fn put_many<'a>(env: Env<'a>, store: Term<'a>, rows: Term<'a>) -> NifResult<Term<'a>> {
    answer(
        env,
        handle::with(store, |found| {
            batch::begin(env, &found, rows, 0, put_all(env))
        }),
    )
}

/// As `ordered_put_many`.
#[rustler::nif(name = "ordered_put_more")]
fn put_more<'a>(env: Env<'a>, store: Term<'a>, continuation: Term<'a>) -> NifResult<Term<'a>> {
    answer(
        env,
        handle::with(store, |found| {
            batch::proceed::<Pair>(env, &found, continuation)
        }),
    )
}

/// `:ok`. Building nodes for many rows takes milliseconds.
#[rustler::nif(name = "ordered_put_staged", schedule = "DirtyCpu")]
fn put_staged<'a>(env: Env<'a>, store: Term<'a>, batch: Term<'a>) -> NifResult<Term<'a>> {
    let publish = |found: Found| batch::publish(env, &found, batch, put_all(env));
    answer(env, handle::with(store, publish))
}

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
        rows::list(env, found, All, listing, |_| beyond.clone())
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
        rows::list(env, found, All, listing, |_| keys.clone())
    };
    answer(env, handle::with(store, window))
}

/// `{:ok, rows}` or `{:more, continuation}`: the rows at positions counted from the oldest.
#[rustler::nif(name = "ordered_slice")]
fn slice<'a>(
    env: Env<'a>,
    store: Term<'a>,
    first: usize,
    count: usize,
    values: bool,
) -> NifResult<Term<'a>> {
    let listing = Listing {
        order: Order::Asc,
        limit: count,
        values,
    };
    let slice = |found: Found| {
        rows::list(env, found, All, listing, |view| match view.select(first) {
            Some((key, _)) => key..END,
            None => END..END,
        })
    };
    answer(env, handle::with(store, slice))
}

/// As the function that answered `{:more, continuation}`.
#[rustler::nif(name = "ordered_more")]
fn more<'a>(env: Env<'a>, continuation: Term<'a>) -> NifResult<Term<'a>> {
    answer(env, rows::proceed::<All>(env, continuation))
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
