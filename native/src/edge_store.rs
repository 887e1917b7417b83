//! `EchoData.Bcs.EdgeStore`: a relation that belongs to a process and is known by its name.

use rustler::{Atom, Encoder, Env, NifResult, Term};

use crate::branded_id::decode_namespace;
use crate::handle::Handle;
use crate::refusal::answer;
use crate::relation::{Name, Relation, Rule};

/// A new store of the calling process, known by its pid and, unless it is `nil`, by `name`.
#[rustler::nif(name = "edge_store_new")]
fn new<'a>(
    env: Env<'a>,
    relation: Name,
    subject: Term<'a>,
    object: Term<'a>,
    name: Atom,
) -> NifResult<Term<'a>> {
    let rule = Rule {
        relation,
        subject: decode_namespace(subject)?,
        object: decode_namespace(object)?,
        bare: |env| Term::map_new(env),
    };
    let handle = Handle::<Relation>::open_named(env, rule, name);
    answer(env, handle.map(|handle| handle.encode(env)))
}
