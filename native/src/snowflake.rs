//! `EchoData.Snowflake`: the one generator of the VM.

use std::sync::OnceLock;

use echo_data_core::id::{BrandedId, Generator};
use rustler::{Atom, Env, Error, NifResult, Term};

use crate::branded_id::decode_namespace;
use crate::{atoms, base62, error};

static GENERATOR: Generator = Generator::new();
static NODE: OnceLock<u16> = OnceLock::new();

/// Fixes the node of this VM; the first call decides.
#[rustler::nif(name = "snowflake_start")]
fn start(node: u16) -> Atom {
    NODE.get_or_init(|| node);
    atoms::ok()
}

/// The node that `start` fixed, or `nil`.
#[rustler::nif(name = "snowflake_node")]
fn node() -> Option<u16> {
    NODE.get().copied()
}

/// Mints with the node of this VM; raises before `start`.
#[rustler::nif(name = "snowflake_next")]
fn next() -> NifResult<u64> {
    mint(started_node()?)
}

/// Mints with a given node; raises before `start`.
#[rustler::nif(name = "snowflake_next_as")]
fn next_as(node: u16) -> NifResult<u64> {
    started_node()?;
    mint(node)
}

/// Mints with a given node, started or not.
#[rustler::nif(name = "snowflake_mint")]
fn mint_unstarted(node: u16) -> NifResult<u64> {
    mint(node)
}

/// Mints with the node of this VM and brands; raises before `start`.
#[rustler::nif(name = "snowflake_next_branded")]
fn next_branded<'a>(env: Env<'a>, namespace: Term<'a>) -> NifResult<Term<'a>> {
    let namespace = decode_namespace(namespace)?;
    let snowflake = mint(started_node()?)?;
    let id = BrandedId::new(namespace, snowflake).ok_or(Error::BadArg)?;
    Ok(base62::binary(env, &id.to_bytes()))
}

pub(crate) fn mint(node: u16) -> NifResult<u64> {
    GENERATOR
        .try_next(node)
        .map_err(|reason| error::runtime(reason.to_string()))
}

pub(crate) fn started_node() -> NifResult<u16> {
    NODE.get().copied().ok_or_else(|| {
        error::runtime("no node id yet: call EchoData.Snowflake.start/0 or start/1 before minting")
    })
}
