//! What all kinds of store have in common: NIFs that are registered once for each kind, by `store_nifs!`.

use echo_data_core::Tally;
use rustler::types::atom;
use rustler::{Atom, Encoder, Env, Term};

use crate::handle::{self, Found};
use crate::kind::Kind;
use crate::refusal::Refusal;
use crate::{atoms, term};

/// Registers these NIFs for a kind, or for two that have the same functions, under names that begin with
/// `$prefix`.
macro_rules! store_nifs {
    ($prefix:literal, $($kind:ident),+) => {
        $crate::store::store_nifs!($prefix, [$($kind),+], size info left hold close);
    };
    ($prefix:literal, $kinds:tt, $($function:ident)+) => {
        $($crate::handle::nif_of_kinds!(
            concat!($prefix, "_", stringify!($function)), 1, [$crate::store::$function], Normal, $kinds
        );)+
    };
}

pub(crate) use store_nifs;

/// The number of rows.
pub(crate) fn size<'a, K: Kind>(env: Env<'a>, [store]: [Term<'a>; 1]) -> Result<Term<'a>, Refusal> {
    let size = |found: Found<K>| Ok(found.len(env)?.encode(env));
    handle::with(store, size)
}

/// A map of what the store holds in memory.
pub(crate) fn info<'a, K: Kind>(env: Env<'a>, [store]: [Term<'a>; 1]) -> Result<Term<'a>, Refusal> {
    let info = |found: Found<K>| {
        let info = found.info(env)?;
        let rows = (atoms::rows(), info.rows as u64);
        let snapshots = (atoms::snapshots(), info.snapshots as u64);
        describe(env, info.memory, &[rows, snapshots])
    };
    handle::with(store, info)
}

/// What is left in memory of a store that is closed, as `info` says it; `nil` while it is open.
pub(crate) fn left<'a, K: Kind>(env: Env<'a>, [store]: [Term<'a>; 1]) -> Result<Term<'a>, Refusal> {
    let left = |found: Found<K>| match found.gauge().left() {
        Some(tally) => describe(env, tally, &[]),
        None => Ok(atom::nil().encode(env)),
    };
    handle::with(store, left)
}

/// A reference to the current moment of the store, or `:held` if it is a moment already.
pub(crate) fn hold<'a, K: Kind>(env: Env<'a>, [store]: [Term<'a>; 1]) -> Result<Term<'a>, Refusal> {
    let hold = |found: Found<K>| {
        let moment = found.hold(env)?;
        Ok(moment.map_or_else(|| atoms::held().encode(env), |moment| moment.encode(env)))
    };
    handle::with(store, hold)
}

/// Closes a store, or releases a moment: `:ok`, also when that was done before.
pub(crate) fn close<'a, K: Kind>(
    env: Env<'a>,
    [store]: [Term<'a>; 1],
) -> Result<Term<'a>, Refusal> {
    let close = |found: Found<K>| {
        found.close_as(env)?;
        Ok(atoms::ok().to_term(env))
    };
    handle::with(store, close)
}

/// Waits until the memory that was given up before this call is freed.
#[rustler::nif(name = "drain", schedule = "DirtyIo")]
fn drain() -> Atom {
    echo_data_core::drain();
    atoms::ok()
}

/// `{:ok, value}` or `{:error, :not_found}`.
pub(crate) fn found_or_not<'a>(env: Env<'a>, value: Option<Term<'a>>) -> Term<'a> {
    match value {
        Some(value) => term::pair(env, atoms::ok().to_term(env), value),
        None => (atoms::error(), atoms::not_found()).encode(env),
    }
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
