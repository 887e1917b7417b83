//! `EchoData.Ordered`: what property stores and timelines have in common.
//!
//! Every function takes the store as a reference, or as the name or pid of its process, and answers
//! `:closed` when there is no such store.

use std::ops::Range;

use echo_data_core::{drain as drain_core, Tally};
use rustler::{Atom, Encoder, Env, NifResult, Term};

use crate::handle::{self, Found, Handle};
use crate::hot::hot_nif;
use crate::refusal::{answer, Refusal};
use crate::rows::{self, Listing, Order};
use crate::{atoms, base62, batch, lookup, term};

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
        handle::with(store, |found| lookup::find(env, &found, ids)),
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
        handle::with(store, |found| batch::begin(env, &found, rows)),
    )
}

/// As `ordered_put_many`.
#[rustler::nif(name = "ordered_put_more")]
fn put_more<'a>(env: Env<'a>, store: Term<'a>, continuation: Term<'a>) -> NifResult<Term<'a>> {
    answer(
        env,
        handle::with(store, |found| batch::proceed(env, &found, continuation)),
    )
}

/// `:ok`. Building nodes for many rows takes milliseconds.
#[rustler::nif(name = "ordered_put_staged", schedule = "DirtyCpu")]
fn put_staged<'a>(env: Env<'a>, store: Term<'a>, batch: Term<'a>) -> NifResult<Term<'a>> {
    let publish = |found: Found| {
        batch::publish(env, &found, batch)?;
        Ok(atoms::ok().to_term(env))
    };
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
    let count = count.decode().unwrap_or(usize::MAX);
    let page = |found: Found| {
        let beyond = beyond(&found, order, cursor)?;
        rows::list(env, &found, Listing { order, values }, |view| {
            let span = view.positions(beyond.clone());
            Ok(match order {
                Order::Asc => span.start..span.end.min(span.start.saturating_add(count)),
                Order::Desc => span.start.max(span.end.saturating_sub(count))..span.end,
            })
        })
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
    let order = Order::Asc;
    let window = |found: Found| {
        let range = bound(&found, low)?..bound(&found, high)?;
        rows::list(env, &found, Listing { order, values }, |view| {
            Ok(view.positions(range.clone()))
        })
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
    let order = Order::Asc;
    let slice = |found: Found| {
        rows::list(env, &found, Listing { order, values }, |view| {
            let end = first.saturating_add(count).min(view.len());
            Ok(first.min(end)..end)
        })
    };
    answer(env, handle::with(store, slice))
}

/// As the function that answered `{:more, continuation}`.
#[rustler::nif(name = "ordered_more")]
fn more<'a>(env: Env<'a>, continuation: Term<'a>) -> NifResult<Term<'a>> {
    answer(env, rows::proceed(env, continuation))
}

/// `{:ok, count}` of the ids from `low` on and below `high`.
#[rustler::nif(name = "ordered_count")]
fn count<'a>(env: Env<'a>, store: Term<'a>, low: Term<'a>, high: Term<'a>) -> NifResult<Term<'a>> {
    let count = |found: Found| {
        let range = bound(&found, low)?..bound(&found, high)?;
        found.read(env, |view| Ok((atoms::ok(), view.count(range)).encode(env)))
    };
    answer(env, handle::with(store, count))
}

/// The number of rows.
#[rustler::nif(name = "ordered_size")]
fn size<'a>(env: Env<'a>, store: Term<'a>) -> NifResult<Term<'a>> {
    let size = |found: Found| found.read(env, |view| Ok(view.len().encode(env)));
    answer(env, handle::with(store, size))
}

/// The namespace of the store's ids.
#[rustler::nif(name = "ordered_namespace")]
fn namespace<'a>(env: Env<'a>, store: Term<'a>) -> NifResult<Term<'a>> {
    let namespace = |found: Found| Ok(base62::binary(env, found.namespace().as_bytes()));
    answer(env, handle::with(store, namespace))
}

/// A map of what the store holds in memory.
#[rustler::nif(name = "ordered_info")]
fn info<'a>(env: Env<'a>, store: Term<'a>) -> NifResult<Term<'a>> {
    let info = |found: Found| {
        let info = found.store(env, |store| store.info())?;
        let rows = (atoms::rows(), info.rows as u64);
        let snapshots = (atoms::snapshots(), info.snapshots as u64);
        describe(env, info.memory, &[rows, snapshots])
    };
    answer(env, handle::with(store, info))
}

/// What is left in memory of a store that is closed, as `ordered_info` says it; `nil` while it is open.
#[rustler::nif(name = "ordered_left")]
fn left<'a>(env: Env<'a>, store: Term<'a>) -> NifResult<Term<'a>> {
    let left = |found: Found| match found.gauge().left() {
        Some(tally) => describe(env, tally, &[]),
        None => Ok(rustler::types::atom::nil().encode(env)),
    };
    answer(env, handle::with(store, left))
}

/// A reference to the current moment of the store, or `:held` if it is a moment already.
#[rustler::nif(name = "ordered_hold")]
fn hold<'a>(env: Env<'a>, store: Term<'a>) -> NifResult<Term<'a>> {
    let hold = |found: Found| {
        let moment = Handle::hold(&found.resource()?, env)?;
        Ok(moment.map_or_else(|| atoms::held().encode(env), |moment| moment.encode(env)))
    };
    answer(env, handle::with(store, hold))
}

/// Closes a store, or releases a moment: `:ok`, also when that was done before.
#[rustler::nif(name = "ordered_close")]
fn close<'a>(env: Env<'a>, store: Term<'a>) -> NifResult<Term<'a>> {
    let close = |found: Found| {
        found.close_as(env)?;
        Ok(atoms::ok().to_term(env))
    };
    answer(env, handle::with(store, close))
}

/// Waits until the memory that was given up before this call is freed.
#[rustler::nif(name = "drain", schedule = "DirtyIo")]
fn drain() -> Atom {
    drain_core();
    atoms::ok()
}

fn found_or_not<'a>(env: Env<'a>, value: Option<Term<'a>>) -> Term<'a> {
    match value {
        Some(value) => term::pair(env, atoms::ok().to_term(env), value),
        None => (atoms::error(), atoms::not_found()).encode(env),
    }
}

/// The bound of a window: an id, or a snowflake.
fn bound(handle: &Handle, bound: Term<'_>) -> Result<u64, Refusal> {
    match bound.decode() {
        Ok(snowflake) => Ok(snowflake),
        Err(_) => Ok(handle.key(bound)?),
    }
}

/// The keys that a page may have.
fn beyond(handle: &Handle, order: Order, cursor: Term<'_>) -> Result<Range<u64>, Refusal> {
    if rustler::types::atom::nil() == cursor {
        return Ok(0..u64::MAX);
    }
    let inclusive = cursor.is_number();
    let key = bound(handle, cursor)?;
    Ok(match order {
        Order::Asc => key + u64::from(!inclusive)..u64::MAX,
        Order::Desc => 0..key + u64::from(inclusive),
    })
}

fn describe<'a>(env: Env<'a>, memory: Tally, more: &[(Atom, u64)]) -> Result<Term<'a>, Refusal> {
    let memory = [
        (atoms::bytes(), memory.bytes),
        (atoms::nodes(), memory.nodes),
        (atoms::payloads(), memory.payloads),
        (atoms::versions(), memory.versions),
    ];
    Term::map_from_pairs(env, &[&memory, more].concat()).map_err(Refusal::Native)
}
