//! `EchoData.Timeline`: an ordered store behind a reference.

use echo_data_core::id::snowflake;
use rustler::{Encoder, Env, NifResult, Term};

use crate::branded_id::decode_namespace;
use crate::handle::{self, Access, Found, Handle};
use crate::refusal::{answer, Refusal};
use crate::snowflake::{mint, started_node};
use crate::{atoms, rows, term};

/// A new store of the calling process.
#[rustler::nif(name = "timeline_new")]
fn new<'a>(env: Env<'a>, namespace: Term<'a>, access: Access) -> NifResult<Term<'a>> {
    let namespace = decode_namespace(namespace)?;
    let handle = Handle::open(env, namespace, access, Vec::new());
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
        let key = key
            .decode()
            .ok()
            .filter(|&key| key <= snowflake::MAX)
            .ok_or_else(|| Refusal::Misuse("snowflake must be an integer in 0..2^63-1".into()))?;
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
        Ok(rows::branded(env, found.namespace(), key))
    };
    answer(env, handle::with(timeline, append))
}
