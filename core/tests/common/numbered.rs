//! Numbers as values of every kind, so that one model fits all of them.

use echo_data_core::{Blob, BlobRef, Boxed, SlimBlob, Value};

use super::{Live, Tracked};

/// Numbers that are values are below this: in bytes, one fits into the leaf whatever the kind of blob.
pub const NUMBERS: u64 = 1 << 48;

/// How a number becomes a value and is read back.
pub trait Numbered: Value {
    fn of(number: u64, live: &Live) -> Self;
    fn number(value: Self::Ref<'_>) -> u64;
}

impl Numbered for Boxed<Tracked> {
    fn of(number: u64, live: &Live) -> Self {
        Boxed(live.value(number))
    }

    fn number(value: &Tracked) -> u64 {
        value.number()
    }
}

impl Numbered for u64 {
    fn of(number: u64, _live: &Live) -> Self {
        number
    }

    fn number(value: &u64) -> u64 {
        *value
    }
}

/// A third each inline, behind a pointer as bytes, and as an object.
fn blob<B: AnyBlob<Tracked>>(number: u64, live: &Live) -> B {
    let bytes = &number.to_be_bytes()[2..];
    match number % 3 {
        0 => B::bytes(6, bytes),
        1 => B::bytes(30, &[bytes, &[0; 24]].concat()),
        _ => B::object(1, live.value(number)),
    }
}

fn blob_number(value: BlobRef<'_, Tracked>) -> u64 {
    match value {
        BlobRef::Object(tag, object) => {
            assert_eq!(tag, 1);
            object.number()
        }
        BlobRef::Bytes(length, bytes) => {
            assert_eq!(usize::from(length), bytes.len());
            let digits = bytes[..6].iter();
            digits.fold(0, |number, digit| number << 8 | u64::from(*digit))
        }
    }
}

/// What the kinds of blob have in common.
pub trait AnyBlob<A: 'static>: for<'a> Value<Ref<'a> = BlobRef<'a, A>> {
    const INLINE: usize;

    fn bytes(tag: u8, bytes: &[u8]) -> Self;
    fn object(tag: u8, object: A) -> Self;
    fn owning(tag: u8, object: A, bytes: usize) -> Self;
}

macro_rules! kinds_of_blob {
    ($($kind:ident)+) => {$(
        impl<A: Send + Sync + 'static> AnyBlob<A> for $kind<A> {
            const INLINE: usize = $kind::<A>::INLINE;

            fn bytes(tag: u8, bytes: &[u8]) -> Self {
                $kind::bytes(tag, bytes)
            }

            fn object(tag: u8, object: A) -> Self {
                $kind::object(tag, object)
            }

            fn owning(tag: u8, object: A, bytes: usize) -> Self {
                $kind::owning(tag, object, bytes)
            }
        }

        impl Numbered for $kind<Tracked> {
            fn of(number: u64, live: &Live) -> Self {
                blob(number, live)
            }

            fn number(value: BlobRef<'_, Tracked>) -> u64 {
                blob_number(value)
            }
        }
    )+};
}

kinds_of_blob!(Blob SlimBlob);
