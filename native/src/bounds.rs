//! Ids, and bounds between them, as keys.

use std::ops::Range;

use echo_data_core::id::{self, snowflake, BrandedId, GateError, Namespace};
use rustler::types::atom;
use rustler::{Binary, Term};

use crate::refusal::Refusal;
use crate::rows::Order;

/// Above every key.
pub(crate) const END: u64 = snowflake::MAX + 1;

/// The key of an id of `namespace`.
#[inline]
pub(crate) fn gate(id: Term<'_>, namespace: Namespace) -> Result<u64, GateError> {
    let id = Binary::from_term(id).map_err(|_| GateError::Invalid)?;
    id::gate(&id, namespace)
}

/// The key of an id of any namespace, or of a snowflake in the place of one.
#[inline]
pub(crate) fn any_key(id: Term<'_>) -> Result<u64, GateError> {
    match Binary::from_term(id) {
        Ok(text) => BrandedId::parse(&text)
            .map(BrandedId::snowflake)
            .map_err(|_| GateError::Invalid),
        Err(_) => snowflake_of(id).ok_or(GateError::Invalid),
    }
}

/// The snowflake that a caller states in the place of an id.
pub(crate) fn decode_snowflake(term: Term<'_>) -> Result<u64, Refusal> {
    snowflake_of(term)
        .ok_or_else(|| Refusal::Misuse("snowflake must be an integer in 0..2^63-1".into()))
}

fn snowflake_of(term: Term<'_>) -> Option<u64> {
    term.decode().ok().filter(|&key| key <= snowflake::MAX)
}

/// The keys from the id `low` on and below the id `high`.
pub(crate) fn window_keys(
    low: Term<'_>,
    high: Term<'_>,
    namespace: Namespace,
) -> Result<Range<u64>, GateError> {
    Ok(gate(low, namespace)?..gate(high, namespace)?)
}

/// The keys that a page may have: beyond `cursor` if it is an id, all if it is `nil`.
pub(crate) fn beyond(
    cursor: Term<'_>,
    order: Order,
    namespace: Namespace,
) -> Result<Range<u64>, GateError> {
    if atom::nil() == cursor {
        return Ok(0..END);
    }
    let key = gate(cursor, namespace)?;
    Ok(match order {
        Order::Asc => key + 1..END,
        Order::Desc => 0..key,
    })
}
