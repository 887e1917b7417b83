//! `EchoData.Base62`.

use echo_data_core::id::base62;
use rustler::{Binary, Encoder, Env, Error, NewBinary, NifResult, Term};

use crate::atoms;

/// The fixed form of a number of at most 2^63 - 1.
#[rustler::nif(name = "base62_encode")]
fn encode(env: Env<'_>, number: u64) -> NifResult<Term<'_>> {
    let text = base62::encode(number).ok_or(Error::BadArg)?;
    Ok(binary(env, &text))
}

/// `{:ok, number}`, or `:error` for any term that is not a fixed form.
#[rustler::nif(name = "base62_decode")]
fn decode<'a>(env: Env<'a>, text: Term<'a>) -> Term<'a> {
    let number = text
        .decode::<Binary>()
        .ok()
        .and_then(|text| base62::decode(&text));
    match number {
        Some(number) => (atoms::ok(), number).encode(env),
        None => atoms::error().encode(env),
    }
}

/// A binary on the caller's heap.
pub(crate) fn binary<'a>(env: Env<'a>, bytes: &[u8]) -> Term<'a> {
    let mut binary = NewBinary::new(env, bytes.len());
    binary.copy_from_slice(bytes);
    binary.into()
}
