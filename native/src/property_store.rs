//! `EchoData.Bcs.PropertyStore`: an ordered store that belongs to a process and is known by its name.

use rustler::{Atom, Encoder, Env, NifResult, Term};

use crate::branded_id::decode_namespace;
use crate::handle::Handle;
use crate::ordered::Ordered;
use crate::refusal::answer;

/// A new store of the calling process, known by its pid and, unless it is `nil`, by `name`.
#[rustler::nif(name = "property_store_new")]
fn new<'a>(env: Env<'a>, namespace: Term<'a>, name: Atom) -> NifResult<Term<'a>> {
    let namespace = decode_namespace(namespace)?;
    let handle = Handle::<Ordered>::open_named(env, namespace, name);
    answer(env, handle.map(|handle| handle.encode(env)))
}
