//! `EchoData.Bcs.PropertyStore`: an ordered store that belongs to a process and is known by its name.

use rustler::{Atom, Encoder, Env, Error, NifResult, Term};

use crate::branded_id::decode_namespace;
use crate::handle::Handle;
use crate::index::Index;
use crate::ordered::Ordered;
use crate::recorded::{Recorded, Store};
use crate::refusal::answer;

/// A new store of the calling process, known by its pid and, unless it is `nil`, by `name`.
#[rustler::nif(name = "property_store_new")]
fn new<'a>(env: Env<'a>, namespace: Term<'a>, name: Atom) -> NifResult<Term<'a>> {
    let namespace = decode_namespace(namespace)?;
    let handle = Handle::<Ordered>::open_named(env, namespace, name);
    answer(env, handle.map(|handle| handle.encode(env)))
}

/// As `property_store_new`, with indexes: what [`Index::decode`] takes, of different names.
#[rustler::nif(name = "property_store_new_indexed")]
fn new_indexed<'a>(
    env: Env<'a>,
    namespace: Term<'a>,
    name: Atom,
    indexes: Vec<Term<'a>>,
) -> NifResult<Term<'a>> {
    let namespace = decode_namespace(namespace)?;
    let store = Store::new();
    for index in indexes {
        let index = Index::decode(index).map_err(|_| Error::BadArg)?;
        let added = store.add_index(index, |_done, _all| {});
        added.map_err(|_| Error::BadArg)?;
    }
    let handle = Handle::<Recorded>::open_store_named(env, store, namespace, name);
    answer(env, handle.map(|handle| handle.encode(env)))
}
