//! Why an operation was not done, and how the caller hears of it.

use std::borrow::Cow;

use echo_data_core::id::GateError;
use rustler::{Encoder, Env, NifResult, Term};

use crate::{atoms, error};

/// Why an operation was not done. Nothing was touched.
pub(crate) enum Refusal {
    /// The store is closed, or no store is known by that name.
    Closed,
    /// The store is not of the kind that it must be, but of the other.
    OtherKind(&'static str, &'static str),
    /// An id was not let in.
    Gate(GateError),
    /// The id at this position of a list was not let in.
    GateAt(GateError, usize),
    /// The call was wrong: the message names the argument, or the rule.
    Misuse(Cow<'static, str>),
    /// The state of the VM does not allow it.
    Native(rustler::Error),
}

impl From<GateError> for Refusal {
    fn from(error: GateError) -> Self {
        Self::Gate(error)
    }
}

impl From<rustler::Error> for Refusal {
    fn from(error: rustler::Error) -> Self {
        Self::Native(error)
    }
}

impl Refusal {
    /// The same of the row at this position of a list.
    pub(crate) fn at(self, position: usize) -> Self {
        match self {
            Self::Gate(error) => Self::GateAt(error, position),
            Self::Misuse(message) => {
                Self::Misuse(format!("{message}, at position {position}").into())
            }
            other => other,
        }
    }

    /// `:closed`, `{:error, reason}`, `{:error, {reason, position}}` or an exception.
    #[cold]
    fn answer(self, env: Env<'_>) -> NifResult<Term<'_>> {
        match self {
            Self::Closed => Ok(atoms::closed().encode(env)),
            Self::Gate(error) => Ok((atoms::error(), reason(error)).encode(env)),
            Self::GateAt(error, position) => {
                Ok((atoms::error(), (reason(error), position)).encode(env))
            }
            Self::OtherKind(wanted, is) => {
                let message = format!("the store must be {wanted}, and is {is}");
                Err(error::argument(message))
            }
            Self::Misuse(message) => Err(error::argument(message)),
            Self::Native(error) => Err(error),
        }
    }
}

fn reason(error: GateError) -> rustler::Atom {
    match error {
        GateError::Namespace { .. } => atoms::namespace(),
        GateError::Invalid => atoms::invalid(),
    }
}

/// What a NIF answers for an outcome.
#[inline]
pub(crate) fn answer<'a>(env: Env<'a>, outcome: Result<Term<'a>, Refusal>) -> NifResult<Term<'a>> {
    outcome.or_else(|refusal| refusal.answer(env))
}
