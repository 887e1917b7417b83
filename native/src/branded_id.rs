//! `EchoData.BrandedId` and the gate of `EchoData.Bcs`.

use echo_data_core::id::{self, BrandedId, GateError, Namespace};
use rustler::{Binary, Encoder, Env, NifResult, Term};

use crate::{atoms, base62, error};

/// `{:ok, id}`, or `:error` for anything but a namespace and a snowflake.
#[rustler::nif(name = "branded_id_encode")]
fn encode<'a>(env: Env<'a>, namespace: Term<'a>, snowflake: Term<'a>) -> Term<'a> {
    let namespace = namespace
        .decode::<Binary>()
        .ok()
        .and_then(|text| Namespace::new(&text));
    let id = namespace
        .zip(snowflake.decode().ok())
        .and_then(|(namespace, snowflake)| BrandedId::new(namespace, snowflake));
    match id {
        Some(id) => (atoms::ok(), base62::binary(env, &id.to_bytes())).encode(env),
        None => atoms::error().encode(env),
    }
}

/// `{:ok, namespace, snowflake}`, or `:error` for any term that is not an id.
#[rustler::nif(name = "branded_id_parse")]
fn parse<'a>(env: Env<'a>, id: Term<'a>) -> Term<'a> {
    match decode(id) {
        Some(id) => (atoms::ok(), brand(env, id), id.snowflake()).encode(env),
        None => atoms::error().encode(env),
    }
}

/// `{:ok, namespace, snowflake, hash32}`, or `:error` for any term that is not an id.
#[rustler::nif(name = "branded_id_parse_hash")]
fn parse_hash<'a>(env: Env<'a>, id: Term<'a>) -> Term<'a> {
    match decode(id) {
        Some(id) => (atoms::ok(), brand(env, id), id.snowflake(), id.hash32()).encode(env),
        None => atoms::error().encode(env),
    }
}

/// `{:ok, snowflake}`, or `:error` for any term that is not an id.
#[rustler::nif(name = "branded_id_decode")]
fn decode_snowflake<'a>(env: Env<'a>, id: Term<'a>) -> Term<'a> {
    match decode(id) {
        Some(id) => (atoms::ok(), id.snowflake()).encode(env),
        None => atoms::error().encode(env),
    }
}

/// The placement hash of any 64-bit number.
#[rustler::nif(name = "branded_id_hash32")]
fn hash32(number: u64) -> u32 {
    id::hash32(number)
}

/// `{:ok, snowflake}`, `{:error, :namespace}` or `{:error, :invalid}`.
#[rustler::nif(name = "bcs_gate")]
fn gate<'a>(env: Env<'a>, id: Term<'a>, namespace: Term<'a>) -> NifResult<Term<'a>> {
    let namespace = decode_namespace(namespace)?;
    let gated = id
        .decode::<Binary>()
        .map_or(Err(GateError::Invalid), |id| id::gate(&id, namespace));
    Ok(match gated {
        Ok(snowflake) => (atoms::ok(), snowflake).encode(env),
        Err(GateError::Namespace { .. }) => (atoms::error(), atoms::namespace()).encode(env),
        Err(GateError::Invalid) => (atoms::error(), atoms::invalid()).encode(env),
    })
}

/// The namespace that a caller states; a malformed one is misuse.
pub(crate) fn decode_namespace(term: Term<'_>) -> NifResult<Namespace> {
    term.decode::<Binary>()
        .ok()
        .and_then(|text| Namespace::new(&text))
        .ok_or_else(|| error::argument("namespace must be three letters A to Z"))
}

fn decode(id: Term<'_>) -> Option<BrandedId> {
    BrandedId::parse(&id.decode::<Binary>().ok()?).ok()
}

fn brand(env: Env<'_>, id: BrandedId) -> Term<'_> {
    base62::binary(env, id.namespace().as_bytes())
}
