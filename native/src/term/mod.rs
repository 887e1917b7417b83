//! Values: Erlang terms as bytes, and back.
//!
//! A value is a postfix program for a stack machine: an operation pushes a leaf, or replaces its
//! operands on the stack by a container. So both directions are loops, whatever the nesting, and the
//! arrays that the VM builds containers from are slices of the stack.
//!
//! | first byte | operands on the stack | then |
//! |---|---|---|
//! | `0x80` + n, n < 128 | | the integer n |
//! | `0x40` + n, n < 64 | | n bytes: a binary |
//! | `0x30` + n, n < 16 | n keys, n values | a map |
//! | `0x20` + n, n < 16 | n elements | a tuple |
//! | [`INT8`] to [`INT64`] | | a little-endian integer |
//! | [`FLOAT`] | | the bits of a float |
//! | [`ATOM32`], [`ATOM64`] | | the word of an atom, which the VM never reuses |
//! | [`NIL`] | | the empty list |
//! | [`BINARY`] | | length, bytes |
//! | [`EXTERNAL`] | | length, external term format: what has no form of its own |
//! | [`LIST`], [`IMPROPER`] | n elements, the improper tail | n |
//! | [`TUPLE`], [`MAP`] | as the short forms | n |
//!
//! Lengths and counts are in groups of seven bits, least significant first. The first byte is the tag of
//! the stored blob, so that integers, floats, atoms and binaries of up to 14 bytes fit in a leaf; of slim
//! values, what has up to 6.

mod build;
mod decode;
mod encode;
mod part;
mod shared;

pub(crate) use build::{cell, elements, pair, triple, word};
pub(crate) use decode::decode;
pub(crate) use encode::{close_tuple, encode, encode_bytes};
pub(crate) use part::{Pairs, Part};
pub(crate) use shared::{open_type, Shared};

use echo_data_core::{Blob, BlobRef, SlimBlob};

/// A value as a store of single values keeps it.
pub(crate) type Value = Blob<Shared>;

/// A value as a store of many small ones keeps it: half the room where it is small, a payload sooner.
pub(crate) type SlimValue = SlimBlob<Shared>;

/// What terms are encoded to: a tag, which is the first operation, and the bytes that follow.
pub(crate) trait Encoded:
    Sized + for<'v> echo_data_core::Value<Ref<'v> = BlobRef<'v, Shared>>
{
    /// The most bytes.
    const MAX: usize;

    /// Of the first `length` of the bytes.
    fn short(tag: u8, bytes: [u8; 8], length: usize) -> Self;
    fn bytes(tag: u8, bytes: &[u8]) -> Self;
    /// Of bytes that binaries are to be read from without a copy.
    fn shared(tag: u8, bytes: &[u8]) -> Self;
}

impl Encoded for Value {
    const MAX: usize = Self::MAX;

    #[inline]
    fn short(tag: u8, bytes: [u8; 8], length: usize) -> Self {
        Self::short(tag, bytes, length)
    }

    fn bytes(tag: u8, bytes: &[u8]) -> Self {
        Self::bytes(tag, bytes)
    }

    fn shared(tag: u8, bytes: &[u8]) -> Self {
        Self::owning(tag, Shared::new(bytes), bytes.len())
    }
}

impl Encoded for SlimValue {
    const MAX: usize = Self::MAX;

    #[inline]
    fn short(tag: u8, bytes: [u8; 8], length: usize) -> Self {
        Self::bytes(tag, &bytes[..length])
    }

    fn bytes(tag: u8, bytes: &[u8]) -> Self {
        Self::bytes(tag, bytes)
    }

    fn shared(tag: u8, bytes: &[u8]) -> Self {
        Self::owning(tag, Shared::new(bytes), bytes.len())
    }
}

const INT8: u8 = 0x00;
const INT16: u8 = 0x01;
const INT32: u8 = 0x02;
const INT64: u8 = 0x03;
const FLOAT: u8 = 0x04;
const ATOM32: u8 = 0x05;
const ATOM64: u8 = 0x06;
const NIL: u8 = 0x07;
const BINARY: u8 = 0x08;
const EXTERNAL: u8 = 0x09;
const LIST: u8 = 0x0A;
const IMPROPER: u8 = 0x0B;
const TUPLE: u8 = 0x0C;
const MAP: u8 = 0x0D;

/// Short forms: the count, length or number is in the first byte.
const SHORT_TUPLE: u8 = 0x20;
const SHORT_MAP: u8 = 0x30;
const SHORT_BINARY: u8 = 0x40;
const SMALL: u8 = 0x80;

/// The counts of short tuples and maps, and the lengths of short binaries, are below these.
const SHORT_COUNT: usize = 16;
const SHORT_LENGTH: usize = 64;

/// Binaries of more bytes are read back without a copy, as the VM does for its own.
const COPIED: usize = 64;

/// The deepest nesting that is stored. Neither direction recurses: this bounds the memory that one
/// value can claim while it is walked.
const DEPTH: usize = 10_000;

/// A length or a count, and the bytes behind it.
#[inline]
fn count(mut bytes: &[u8]) -> (usize, &[u8]) {
    let (mut count, mut shift) = (0, 0);
    loop {
        let (&byte, rest) = bytes.split_first().expect("an operation has its operands");
        bytes = rest;
        count |= usize::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return (count, bytes);
        }
        shift += 7;
    }
}
