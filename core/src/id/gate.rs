//! The gate in front of every store: an id is let in as a bare snowflake, or refused before anything is
//! touched.

use std::error::Error;
use std::fmt;

use super::{BrandedId, InvalidId, Namespace};

/// The snowflake of `id` when it belongs to `expected`. O(1), no allocation.
///
/// # Errors
/// [`GateError::Invalid`] when `id` is no branded id at all, [`GateError::Namespace`] when it is one of
/// another kind. An id that is both foreign and malformed is malformed.
///
/// ```
/// use echo_data_core::id::{gate, GateError, Namespace};
///
/// const ORDER: Namespace = Namespace::new(b"ORD").unwrap();
/// assert_eq!(gate(b"ORD0NgWEfAEJfs", ORDER), Ok(320_636_799_581_945_856));
/// assert_eq!(
///     gate(b"USR0NgWEfAEJfs", ORDER).unwrap_err().to_string(),
///     "expected namespace ORD, got USR",
/// );
/// assert_eq!(gate(b"USR0NgWEfAEJf", ORDER), Err(GateError::Invalid));
/// ```
#[inline]
pub fn gate(id: &[u8], expected: Namespace) -> Result<u64, GateError> {
    let id = BrandedId::parse(id)?;
    let got = id.namespace();
    if got == expected {
        Ok(id.snowflake())
    } else {
        Err(GateError::Namespace { expected, got })
    }
}

/// Why [`gate`] refused an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateError {
    /// A well-formed id of another kind.
    Namespace {
        /// The namespace that the gate lets in.
        expected: Namespace,
        /// The namespace of the id.
        got: Namespace,
    },
    /// Not a branded id.
    Invalid,
}

impl From<InvalidId> for GateError {
    #[inline]
    fn from(InvalidId: InvalidId) -> Self {
        Self::Invalid
    }
}

impl fmt::Display for GateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace { expected, got } => {
                write!(f, "expected namespace {expected}, got {got}")
            }
            Self::Invalid => InvalidId.fmt(f),
        }
    }
}

impl Error for GateError {}
