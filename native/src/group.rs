//! Groups: the terms that name them, as the bytes by which the core knows them.

use echo_data_core::BlobRef;
use rustler::types::atom;
use rustler::types::tuple::{get_tuple, make_tuple};
use rustler::{Binary, Env, Term};

use crate::refusal::Refusal;
use crate::term;

/// The bytes of a group: none for `nil`; of one field, the value that is its encoding; of several, that of
/// their tuple. A list, and a container of one field or none, are other ways to write the same.
///
/// # Errors
/// Misuse, when a field is no integer of 64 bits, atom or binary.
#[inline]
pub(crate) fn encode(group: Term<'_>) -> Result<Vec<u8>, Refusal> {
    if atom::nil() == group {
        return Ok(Vec::new());
    }
    if is_field(group) {
        return term::encode_bytes(group);
    }
    let fields = fields(group).filter(|fields| fields.iter().all(|&field| is_field(field)));
    match fields.ok_or_else(misuse)?[..] {
        [] => Ok(Vec::new()),
        [field] => encode(field),
        ref fields => term::encode_bytes(make_tuple(group.get_env(), fields)),
    }
}

/// The group of such bytes.
pub(crate) fn decode<'a>(env: Env<'a>, bytes: &[u8]) -> Term<'a> {
    match bytes.split_first() {
        None => atom::nil().to_term(env),
        Some((&first, rest)) => term::decode(env, BlobRef::Bytes(first, rest)),
    }
}

fn fields(group: Term<'_>) -> Option<Vec<Term<'_>>> {
    if group.is_tuple() {
        return get_tuple(group).ok();
    }
    let (mut fields, mut rest) = (Vec::new(), group);
    while let Ok((field, others)) = rest.list_get_cell() {
        fields.push(field);
        rest = others;
    }
    rest.is_empty_list().then_some(fields)
}

#[inline]
fn is_field(term: Term<'_>) -> bool {
    term.is_atom() || term.decode::<i64>().is_ok() || Binary::from_term(term).is_ok()
}

#[cold]
fn misuse() -> Refusal {
    let fields = "an integer in -2^63..2^63-1, an atom or a binary";
    let message = format!("group must be nil, {fields}, or a tuple or list of such");
    Refusal::Misuse(message.into())
}
