//! Misuse, as the Elixir exception that the caller sees. What can happen in a correct program is an answer,
//! not an exception.

use rustler::{Error, NifException};

#[derive(NifException)]
#[module = "ArgumentError"]
struct ArgumentError {
    message: String,
}

#[derive(NifException)]
#[module = "RuntimeError"]
struct RuntimeError {
    message: String,
}

/// Raises `ArgumentError`: the message names the argument and what it must be.
pub(crate) fn argument(message: impl Into<String>) -> Error {
    let message = message.into();
    Error::RaiseTerm(Box::new(ArgumentError { message }))
}

/// Raises `RuntimeError`: the call was right, the state of the system was not.
pub(crate) fn runtime(message: impl Into<String>) -> Error {
    let message = message.into();
    Error::RaiseTerm(Box::new(RuntimeError { message }))
}
