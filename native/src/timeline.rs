//! `EchoData.Timeline`: an ordered store behind a reference.

use rustler::{Encoder, Env, NifResult, Term};

use crate::bounds::decode_snowflake;
use crate::branded_id::decode_namespace;
use crate::handle::{self, Access, Handle};
use crate::ordered::{Found, Ordered};
use crate::refusal::{answer, Refusal};
use crate::snowflake::{mint, started_node};
use crate::{atoms, rows, term};

/// A new store of the calling process.
#[rustler::nif(name = "timeline_new")]
fn new<'a>(env: Env<'a>, namespace: Term<'a>, access: Access) -> NifResult<Term<'a>> {
    let namespace = decode_namespace(namespace)?;
    let handle = Handle::<Ordered>::open(env, namespace, access);
    answer(env, handle.map(|handle| handle.encode(env)))
}

/// `:ok`.
#[rustler::nif(name = "timeline_put_by_snowflake")]
fn put_by_snowflake<'a>(
    env: Env<'a>,
    timeline: Term<'a>,
    key: Term<'a>,
    value: Term<'a>,
) -> NifResult<Term<'a>> {
    let put = |found: Found| {
        let key = decode_snowflake(key)?;
        let value = term::encode(value)?;
        found.write(env, |store| store.put(key, value))?;
        Ok(atoms::ok().to_term(env))
    };
    answer(env, handle::with(timeline, put))
}

/// The id that was minted for `value`.
#[rustler::nif(name = "timeline_append")]
fn append<'a>(env: Env<'a>, timeline: Term<'a>, value: Term<'a>) -> NifResult<Term<'a>> {
    let append = |found: Found| {
        let value = term::encode(value)?;
        let node = started_node().map_err(Refusal::Native)?;
        let key = mint(node).map_err(Refusal::Native)?;
        found.write(env, |store| store.put(key, value))?;
        Ok(rows::branded(env, *found.rule(), key))
    };
    answer(env, handle::with(timeline, append))
}
