//! `EchoData.Bcs.PropertyStore`: an ordered store that belongs to a process and is known by its name.

use rustler::{types::atom, Encoder, Env, NifResult, Term};

use crate::branded_id::decode_namespace;
use crate::handle::{own_word, Access, Handle};
use crate::refusal::answer;
use crate::term::word;

/// A new store of the calling process, known by its pid and, unless it is `nil`, by `name`.
#[rustler::nif(name = "property_store_new")]
fn new<'a>(env: Env<'a>, namespace: Term<'a>, name: atom::Atom) -> NifResult<Term<'a>> {
    let namespace = decode_namespace(namespace)?;
    let mut words = vec![own_word(env)];
    if name != atom::nil() {
        words.push(word(name.as_c_arg()));
    }
    let handle = Handle::open(env, namespace, Access::Public, words);
    answer(env, handle.map(|handle| handle.encode(env)))
}
