//! Property stores with rank indexes: the kind of store, and what it refuses.

use echo_data_core::id::Namespace;
use echo_data_core::{HeldRecords, RecordStore, RecordView, Rejected, RejectedBy};
use rustler::{Encoder, Env, Term};

use crate::atoms;
use crate::bounds::gate;
use crate::index::Index;
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
    small: 128, reports: true, told: answered
);

/// `:ok`, or `{:error, reason}`, in which an index has its name.
pub(crate) fn answered<T>(env: Env<'_>, change: Result<T, RejectedBy<Value, Index>>) -> Term<'_> {
    let reason = match change {
        Ok(_) => return atoms::ok().to_term(env),
        Err(Rejected::Record { index, error, .. }) => {
            (atoms::bad_field(), index, error.encode(env)).encode(env)
        }
        // Records have scores of the index's kind, or they are refused above.
        Err(Rejected::Score { index, .. }) => (atoms::not_unique(), index).encode(env),
        Err(Rejected::Exists { .. }) => atoms::exists().encode(env),
    };
    term::pair(env, atoms::error().to_term(env), reason)
}
