//! Scores and bounds between them, from terms and back.

use std::ops::Bound;

use echo_data_core::{Kind, Measure, Number};
use rustler::types::atom;
use rustler::{Encoder, Env, Term};

use crate::refusal::Refusal;
use crate::{atoms, term};

/// The score that a caller states: a number or `nil`, or a pair of them.
///
/// # Errors
/// Misuse that names `argument`, when a field is of another kind than the set's.
#[inline]
pub(crate) fn decode<const N: usize>(
    rule: &impl AsRef<[Measure]>,
    score: Term<'_>,
    argument: &str,
) -> Result<[Number; N], Refusal> {
    fields(rule, score).ok_or_else(|| misuse(rule, argument, " or nil"))
}

/// As [`decode`], without `nil`.
pub(crate) fn decode_numbers<const N: usize>(
    rule: &impl AsRef<[Measure]>,
    score: Term<'_>,
    argument: &str,
) -> Result<[Number; N], Refusal> {
    let score = fields(rule, score).filter(|fields| !fields.contains(&Number::Nil));
    score.ok_or_else(|| misuse(rule, argument, ""))
}

/// The bound that a caller states: a score, `{:exclusive, score}`, or `nil`.
///
/// # Errors
/// As [`decode`].
pub(crate) fn decode_bound<const N: usize>(
    rule: &impl AsRef<[Measure]>,
    bound: Term<'_>,
    argument: &str,
) -> Result<Bound<[Number; N]>, Refusal> {
    if atom::nil() == bound {
        return Ok(Bound::Unbounded);
    }
    match term::elements(bound) {
        Some([tag, score]) if atoms::exclusive() == tag => {
            decode(rule, score, argument).map(Bound::Excluded)
        }
        _ => decode(rule, bound, argument).map(Bound::Included),
    }
}

/// The score as a term.
#[inline]
pub(crate) fn encode<const N: usize>(env: Env<'_>, score: [Number; N]) -> Term<'_> {
    encode_fields(env, &score)
}

/// As [`encode`], of so many fields.
#[inline]
pub(crate) fn encode_fields<'a>(env: Env<'a>, score: &[Number]) -> Term<'a> {
    match *score {
        [score] => number(env, score),
        [first, second] => term::pair(env, number(env, first), number(env, second)),
        _ => unreachable!("a score has one field or two"),
    }
}

/// One field of a score.
///
/// # Errors
/// Misuse that names `argument`.
pub(crate) fn decode_field(
    measure: Measure,
    number: Term<'_>,
    argument: &str,
) -> Result<Number, Refusal> {
    let field = field(measure, number).filter(|&field| field != Number::Nil);
    let message = || format!("{argument} must be {}", kind(measure));
    field.ok_or_else(|| Refusal::Misuse(message().into()))
}

#[inline]
fn fields<const N: usize>(rule: &impl AsRef<[Measure]>, score: Term<'_>) -> Option<[Number; N]> {
    let mut fields = [Number::Nil; N];
    match rule.as_ref() {
        &[measure] => fields[0] = field(measure, score)?,
        measures => {
            let numbers: [Term; 2] = term::elements(score)?;
            for (at, number) in numbers.into_iter().enumerate() {
                fields[at] = field(measures[at], number)?;
            }
        }
    }
    Some(fields)
}

#[inline]
fn field(measure: Measure, number: Term<'_>) -> Option<Number> {
    match measure.kind {
        _ if atom::nil() == number => Some(Number::Nil),
        Kind::Integer => number.decode().ok().map(Number::Integer),
        Kind::Float if number.is_float() => number.decode().ok().map(Number::Float),
        Kind::Float => None,
    }
}

#[inline]
fn number(env: Env<'_>, number: Number) -> Term<'_> {
    match number {
        Number::Nil => atom::nil().to_term(env),
        Number::Integer(number) => number.encode(env),
        Number::Float(number) => number.encode(env),
    }
}

#[cold]
fn misuse(rule: &impl AsRef<[Measure]>, argument: &str, or_nil: &str) -> Refusal {
    let kind = |&measure: &Measure| format!("{}{or_nil}", kind(measure));
    let kinds: Vec<_> = rule.as_ref().iter().map(kind).collect();
    let message = match &kinds[..] {
        [kind] => format!("{argument} must be {kind}"),
        kinds => format!("{argument} must be {{{}}}", kinds.join(", ")),
    };
    Refusal::Misuse(message.into())
}

fn kind(measure: Measure) -> &'static str {
    match measure.kind {
        Kind::Integer => "an integer in -2^63..2^63-1",
        Kind::Float => "a float",
    }
}
