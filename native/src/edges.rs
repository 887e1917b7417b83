//! `EchoData.Edges`: parents and their children behind a reference.

use rustler::types::atom;
use rustler::{Encoder, Env, NifResult, Term};

use crate::bounds::decode_snowflake;
use crate::branded_id::decode_namespace;
use crate::handle::{self, Access, Handle};
use crate::refusal::answer;
use crate::relation::{Found, Name, Relation, Rule};
use crate::{atoms, props};

/// A new hierarchy of the calling process.
#[rustler::nif(name = "edges_new")]
fn new<'a>(env: Env<'a>, parent: Term<'a>, child: Term<'a>, access: Access) -> NifResult<Term<'a>> {
    let rule = Rule {
        relation: Name::Atom(atom::nil()),
        subject: decode_namespace(parent)?,
        object: decode_namespace(child)?,
        bare: |env| atom::nil().to_term(env),
    };
    let handle = Handle::<Relation>::open(env, rule, access);
    answer(env, handle.map(|handle| handle.encode(env)))
}

/// `:ok`.
#[rustler::nif(name = "edges_add_by_snowflake")]
fn add_by_snowflake<'a>(
    env: Env<'a>,
    edges: Term<'a>,
    parent: Term<'a>,
    child: Term<'a>,
    payload: Term<'a>,
) -> NifResult<Term<'a>> {
    let add = |found: Found| {
        let (parent, child) = (decode_snowflake(parent)?, decode_snowflake(child)?);
        let payload = props::encode(payload)?;
        found.write(env, |store| store.link(parent, child, payload))?;
        Ok(atoms::ok().to_term(env))
    };
    answer(env, handle::with(edges, add))
}
