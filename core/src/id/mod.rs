//! Identity: time-ordered 63-bit snowflakes, their base62 text, and the branded id that carries a
//! namespace in front of it.
//!
//! | form | type | order |
//! |---|---|---|
//! | snowflake | `u64` in `0..=`[`snowflake::MAX`] | creation time, then node, then sequence |
//! | payload | 11 bytes of [`base62`] | byte order = numeric order |
//! | branded id | 14 bytes, [`BrandedId`] | namespace, then snowflake; byte order = the derived order |
//!
//! Everything here is pure and allocation-free except the clock read of [`Generator::next`]. The module is
//! a leaf: it knows no store and no runtime.

pub mod base62;
mod branded;
mod gate;
mod placement;
pub mod snowflake;

pub use branded::{BrandedId, InvalidId, InvalidNamespace, Namespace};
pub use gate::{gate, GateError};
pub use placement::hash32;
pub use snowflake::{Generator, MintError};
