//! Scores as bits whose order is that of the numbers.
//!
//! A field of a score is nine bytes: whether it is a number, and the number with its bits turned so that
//! they compare as unsigned integers do. That keeps every integer of 64 bits exact and leaves room for `nil`
//! before the smallest of them. In a key the first of these 65 bits shares a word with the group, so a score
//! of one field costs eight bytes there.

use std::cmp::Ordering;
use std::fmt;

use crate::index::Key;

use super::score::Order;

/// One field of a score in a key. Packed, so that keys have no padding.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, packed)]
pub struct Field {
    /// 1 for a number and 0 for `nil`; in a descending field the other way round.
    number: u8,
    bits: u64,
}

const SIGN: u64 = 1 << 63;

impl Field {
    pub(super) const NIL: Self = Self { number: 0, bits: 0 };

    /// All bits of the field as one number, in its order.
    #[inline]
    pub(super) fn wide(self) -> u128 {
        u128::from(self.number) << 64 | u128::from(self.bits)
    }

    pub(super) fn integer(value: i64) -> Self {
        Self {
            number: 1,
            bits: value as u64 ^ SIGN,
        }
    }

    pub(super) fn to_integer(self) -> i64 {
        (self.bits ^ SIGN) as i64
    }

    /// Refuses NaN. The zeros are one.
    pub(super) fn float(value: f64) -> Option<Self> {
        if value.is_nan() {
            return None;
        }
        // Adding a zero leaves every number as it is and makes the negative zero positive.
        let bits = (value + 0.0).to_bits();
        let turned = if bits & SIGN == 0 { bits | SIGN } else { !bits };
        Some(Self {
            number: 1,
            bits: turned,
        })
    }

    pub(super) fn to_float(self) -> f64 {
        let turned = self.bits;
        f64::from_bits(if turned & SIGN == 0 {
            !turned
        } else {
            turned ^ SIGN
        })
    }

    /// The field in the other order. `nil`, which comes first, comes last in it.
    pub(super) fn mirrored(self) -> Self {
        Self {
            number: self.number ^ 1,
            bits: !self.bits,
        }
    }

    pub(super) fn in_order(self, order: Order) -> Self {
        match order {
            Order::Ascending => self,
            Order::Descending => self.mirrored(),
        }
    }
}

/// A score as plain bits, in its order.
#[doc(hidden)]
pub trait Bits: Key + fmt::Debug {
    /// All of a score but the first bit.
    type Tail: Copy + Eq + Send + Sync + 'static;

    /// At or below every score.
    const LOWEST: Self;
    /// At or above every score.
    const HIGHEST: Self;

    /// The first bit, and the rest.
    fn split(self) -> (bool, Self::Tail);

    /// The score of these parts.
    fn join(first: bool, tail: Self::Tail) -> Self;

    /// Whether tail `a` comes before tail `b`, or, if they are the same, id `a` before `b`, or, if these are
    /// the same too, `same`. Without branches, which in a search among random keys are mispredicted every
    /// other time, and as few comparisons as can be.
    fn less(a: (Self::Tail, u64), b: (Self::Tail, u64), same: bool) -> bool;
}

/// A score of so many fields.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoded<const FIELDS: usize>(pub(super) [Field; FIELDS]);

impl<const FIELDS: usize> Encoded<FIELDS> {
    const NILS: Self = Self([Field::NIL; FIELDS]);
    const ABOVE: Self = Self(
        [Field {
            number: 1,
            bits: u64::MAX,
        }; FIELDS],
    );
}

#[inline]
fn double(high: u64, low: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

#[inline]
fn less<T: Ord>(a: T, b: T, same: bool) -> bool {
    if same {
        a <= b
    } else {
        a < b
    }
}

impl Bits for Encoded<1> {
    type Tail = u64;

    const LOWEST: Self = Self::NILS;
    const HIGHEST: Self = Self::ABOVE;

    #[inline]
    fn split(self) -> (bool, u64) {
        let [Field { number, bits }] = self.0;
        (number != 0, bits)
    }

    #[inline]
    fn join(first: bool, bits: u64) -> Self {
        let number = first.into();
        Self([Field { number, bits }])
    }

    #[inline]
    fn less(a: (u64, u64), b: (u64, u64), same: bool) -> bool {
        less(double(a.0, a.1), double(b.0, b.1), same)
    }
}

/// The bits of the first field and all of the second. Packed, so that keys have no padding.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C, packed)]
pub struct Pair {
    bits: u64,
    second: Field,
}

impl Bits for Encoded<2> {
    type Tail = Pair;

    const LOWEST: Self = Self::NILS;
    const HIGHEST: Self = Self::ABOVE;

    #[inline]
    fn split(self) -> (bool, Pair) {
        let [Field { number, bits }, second] = self.0;
        (number != 0, Pair { bits, second })
    }

    #[inline]
    fn join(first: bool, Pair { bits, second }: Pair) -> Self {
        let number = first.into();
        Self([Field { number, bits }, second])
    }

    #[inline]
    fn less(a: (Pair, u64), b: (Pair, u64), same: bool) -> bool {
        let rest = |(pair, id): (Pair, u64)| double(pair.second.bits, id);
        let numbers = |(pair, _): (Pair, u64)| pair.second.number;
        let rest = less(rest(a), rest(b), same);
        let rest = first_less(numbers(a).into(), numbers(b).into(), rest);
        // One more bit decides between equals.
        let whole = |bits: u64, bit: bool| u128::from(bits) << 1 | u128::from(bit);
        whole(a.0.bits, !rest) < whole(b.0.bits, true)
    }
}

/// Whether `a < b`, or `same` if they are equal; both are below 2^62. As the sign of a difference the
/// compiler turns it into a conditional move. The comparison of three words at once becomes a jump.
#[inline]
pub(super) fn first_less(a: u64, b: u64, same: bool) -> bool {
    (a as i64 - b as i64 - i64::from(same)) < 0
}

impl<const FIELDS: usize> Ord for Encoded<FIELDS> {
    fn cmp(&self, other: &Self) -> Ordering {
        let wide = |score: &Self| score.0.map(Field::wide);
        wide(self).cmp(&wide(other))
    }
}

impl<const FIELDS: usize> PartialOrd for Encoded<FIELDS> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
