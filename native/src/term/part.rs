//! Looking into encoded values without building their terms.

use echo_data_core::BlobRef;
use rustler::types::atom;
use smallvec::SmallVec;

use super::shared::Shared;
use super::*;

/// A value, or a value inside of one, as it is encoded.
#[derive(Clone, Copy)]
pub(crate) struct Part<'v> {
    first: u8,
    rest: &'v [u8],
}

impl<'v> Part<'v> {
    /// All of a value.
    #[inline]
    pub(crate) fn of(value: BlobRef<'v, Shared>) -> Self {
        let (first, rest) = match value {
            BlobRef::Bytes(first, rest) => (first, rest),
            BlobRef::Object(first, shared) => (first, shared.bytes()),
        };
        Self { first, rest }
    }

    /// The integer that it is, if it is one of 64 bits.
    #[inline]
    pub(crate) fn integer(self) -> Option<i64> {
        Some(match (self.first, self.rest) {
            (SMALL..=0xFF, []) => i64::from(self.first - SMALL),
            (INT8, &[byte]) => i64::from(byte.cast_signed()),
            (INT16, _) => i64::from(i16::from_le_bytes(self.operand()?)),
            (INT32, _) => i64::from(i32::from_le_bytes(self.operand()?)),
            (INT64, _) => i64::from_le_bytes(self.operand()?),
            _ => return None,
        })
    }

    /// The float that it is, if it is one.
    #[inline]
    pub(crate) fn float(self) -> Option<f64> {
        match self.first {
            FLOAT => Some(f64::from_le_bytes(self.operand()?)),
            _ => None,
        }
    }

    /// Whether it is the atom `nil`.
    #[inline]
    pub(crate) fn is_nil(self) -> bool {
        self.atom() == Some(word(atom::nil().as_c_arg()))
    }

    /// The word of the atom that it is, if it is one.
    #[inline]
    pub(crate) fn atom(self) -> Option<u64> {
        match self.first {
            ATOM32 => self.operand().map(u32::from_le_bytes).map(u64::from),
            ATOM64 => self.operand().map(u64::from_le_bytes),
            _ => None,
        }
    }

    /// Whether it is a binary.
    pub(crate) fn is_binary(self) -> bool {
        match self.first {
            SHORT_BINARY..SMALL => self.rest.len() == usize::from(self.first - SHORT_BINARY),
            BINARY => {
                let (length, bytes) = count(self.rest);
                bytes.len() == length
            }
            _ => false,
        }
    }

    /// Its pairs, if it is a map. O(its bytes), about 3 ns a leaf.
    pub(crate) fn pairs(self) -> Option<Pairs<'v>> {
        // Where the values on the machine's stack begin: each ends where the next one does begin.
        let mut starts = Starts::new();
        let (mut at, mut operation) = (0, self.first);
        loop {
            let Form { operands, bytes } = Form::of(operation, &self.rest[at..]);
            let next = at + 1 + bytes;
            if next > self.rest.len() {
                let is_map = matches!(operation, MAP | SHORT_MAP..SHORT_BINARY);
                return is_map.then_some(Pairs {
                    map: self,
                    starts,
                    end: at,
                });
            }
            match operands {
                0 => starts.push(at),
                // The container begins where its first operand did.
                _ => starts.truncate(starts.len() - operands + 1),
            }
            (at, operation) = (next, self.rest[next - 1]);
        }
    }

    /// Appends it to an encoded value.
    pub(crate) fn append_to(self, output: &mut Vec<u8>) {
        output.push(self.first);
        output.extend_from_slice(self.rest);
    }

    /// All that follows the operation, if that is so many bytes.
    #[inline]
    fn operand<const N: usize>(self) -> Option<[u8; N]> {
        self.rest.try_into().ok()
    }
}

impl PartialEq<[u8]> for Part<'_> {
    #[inline]
    fn eq(&self, encoded: &[u8]) -> bool {
        encoded.split_first() == Some((&self.first, self.rest))
    }
}

impl<'v> From<&'v [u8]> for Part<'v> {
    /// The part that these bytes are: an encoded value has one at least.
    fn from(encoded: &'v [u8]) -> Self {
        let (&first, rest) = encoded.split_first().expect("an encoded value");
        Self { first, rest }
    }
}

type Starts = SmallVec<[usize; 64]>;

/// The pairs of a map.
pub(crate) struct Pairs<'v> {
    map: Part<'v>,
    /// Where its keys begin, and then its values.
    starts: Starts,
    /// Where the last value ends.
    end: usize,
}

impl<'v> Pairs<'v> {
    /// The value under a key, which is encoded and no map, nor in one. O(pairs).
    #[inline]
    pub(crate) fn get(&self, key: &[u8]) -> Option<Part<'v>> {
        let count = self.starts.len() / 2;
        let found = (0..count).find(|&pair| self.part(pair) == *key)?;
        Some(self.part(count + found))
    }

    #[inline]
    fn part(&self, number: usize) -> Part<'v> {
        let start = self.starts[number];
        let end = self.starts.get(number + 1).copied().unwrap_or(self.end);
        let (first, rest) = (self.map.first, self.map.rest);
        Part {
            first: if start == 0 { first } else { rest[start - 1] },
            rest: &rest[start..end - 1],
        }
    }
}

/// How much belongs to an operation.
struct Form {
    /// Values on the stack.
    operands: usize,
    /// Bytes that follow.
    bytes: usize,
}

impl Form {
    #[inline]
    fn of(operation: u8, follows: &[u8]) -> Self {
        let leaf = |bytes| Self { operands: 0, bytes };
        let short = |operands| Self { operands, bytes: 0 };
        let counted = |of: fn(usize) -> usize| {
            let (count, rest) = count(follows);
            Self {
                operands: of(count),
                bytes: follows.len() - rest.len(),
            }
        };
        match operation {
            SMALL..=0xFF | NIL => leaf(0),
            SHORT_BINARY..SMALL => leaf(usize::from(operation - SHORT_BINARY)),
            SHORT_MAP..SHORT_BINARY => short(2 * usize::from(operation - SHORT_MAP)),
            SHORT_TUPLE..SHORT_MAP => short(usize::from(operation - SHORT_TUPLE)),
            INT8 => leaf(1),
            INT16 => leaf(2),
            INT32 | ATOM32 => leaf(4),
            INT64 | FLOAT | ATOM64 => leaf(8),
            BINARY | EXTERNAL => {
                let (length, rest) = count(follows);
                leaf(follows.len() - rest.len() + length)
            }
            LIST | TUPLE => counted(|count| count),
            IMPROPER => counted(|count| count + 1),
            MAP => counted(|count| 2 * count),
            _ => unreachable!("only `encode` writes operations"),
        }
    }
}
