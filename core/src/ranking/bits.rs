//! Scores as bits whose order is that of the numbers.
//!
//! A field of a score is nine bytes: whether it is a number, and the number with its bits turned so that
//! they compare as unsigned integers do. That keeps every integer of 64 bits exact and leaves room for `nil`
//! before the smallest of them. In a key the first of these 65 bits shares a word with the group, so a score
//! of one field costs eight bytes there.

use std::cmp::Ordering;
use std::fmt;

use crate::index::by_first;

use super::score::Order;

/// One field of a score in a key. Packed, so that keys have no padding.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
pub trait Bits: Copy + Ord + Send + Sync + fmt::Debug + 'static {
    /// All of a score but the first bit.
    type Tail: Copy + Ord + Send + Sync + 'static;

    /// At or below every score.
    const LOWEST: Self;
    /// At or above every score.
    const HIGHEST: Self;

    /// The first bit, and the rest.
    fn split(self) -> (bool, Self::Tail);

    /// The score of these parts.
    fn join(first: bool, tail: Self::Tail) -> Self;

    /// [`Key::place_among`] for keys that are compared by the tail of a score; `rest` answers it for those
    /// that have it in common.
    ///
    /// [`Key::place_among`]: crate::index::Key::place_among
    fn place_by<K>(
        keys: &[K],
        tail: impl Fn(&K) -> Self::Tail,
        wanted: Self::Tail,
        rest: impl FnOnce(&[K]) -> usize,
    ) -> usize;
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
    fn place_by<K>(
        keys: &[K],
        tail: impl Fn(&K) -> u64,
        wanted: u64,
        rest: impl FnOnce(&[K]) -> usize,
    ) -> usize {
        by_first(keys, tail, wanted, rest)
    }
}

/// The bits of the first field and all of the second. Packed, so that keys have no padding.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
    fn place_by<K>(
        keys: &[K],
        tail: impl Fn(&K) -> Pair,
        wanted: Pair,
        rest: impl FnOnce(&[K]) -> usize,
    ) -> usize {
        let Pair { bits, second } = wanted;
        let second_of = |key: &K| tail(key).second;
        let by_second = |keys: &[K]| by_first(keys, |key| second_of(key).bits, second.bits, rest);
        let by_number = |keys: &[K]| {
            let number = second.number.into();
            by_first(keys, |key| second_of(key).number.into(), number, by_second)
        };
        by_first(keys, |key| tail(key).bits, bits, by_number)
    }
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
