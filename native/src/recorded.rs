//! Property stores with rank indexes: the kind of store, and what it refuses.

use echo_data_core::id::Namespace;
use echo_data_core::{HeldRecords, RecordStore, RecordView, Rejected};
use rustler::{Atom, Encoder, Env, Term};

use crate::atoms;
use crate::bounds::gate;
use crate::index::{BadField, Index};
use crate::keyed::keyed;
use crate::kind::kind;
use crate::term::Value;
use crate::{rows, term};

/// The kind of stores of records under ids of one namespace, ranked by their fields.
#[derive(Clone, Copy)]
pub(crate) struct Recorded;

pub(crate) type Store = RecordStore<Value, Index>;

kind!(
    Recorded, "a property store with indexes", c"echo_data_recorded",
    rule: Namespace, store: Store, held: HeldRecords<Value, Index>, view: RecordView<Value, Index>,
    new: |_| Store::new()
);

keyed!(
    Recorded, c"echo_data_records",
    key: |namespace: &Namespace, id| gate(id, *namespace),
    id: |env, namespace: &Namespace, key| rows::branded(env, *namespace, key),
    // Each is in its place in several indexes, besides.
    small: 128, reports: true, told: told
);

/// `:ok`, or why an index refuses a record.
fn told<'a, T>(env: Env<'a>, store: &Store, put: Result<T, Rejected<BadField>>) -> Term<'a> {
    match put {
        Ok(_) => atoms::ok().to_term(env),
        Err(rejected) => {
            let view = store.view();
            let name = |number| view.index(number).map(Index::name);
            refused(env, rejected, |number| name(number).expect("indexes stay"))
        }
    }
}

/// `{:error, reason}`, in which an index has its name.
pub(crate) fn refused<'a>(
    env: Env<'a>,
    rejected: Rejected<BadField>,
    name: impl Fn(u32) -> Atom,
) -> Term<'a> {
    let reason = match rejected {
        Rejected::Record { index, error, .. } => {
            (atoms::bad_field(), name(index), error.encode(env)).encode(env)
        }
        // Records have scores of the index's kind, or they are refused above.
        Rejected::Score { index, .. } => (atoms::not_unique(), name(index)).encode(env),
        Rejected::Excluded { .. } => atoms::exists().encode(env),
    };
    term::pair(env, atoms::error().to_term(env), reason)
}
