//! Scores: what members are ranked by, of types known to the compiler or kinds known at run time.

use std::cmp::Reverse;
use std::fmt;

use super::bits::{Bits, Encoded, Field};

/// Which way to count: from the smallest score, or its mirror image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The smallest score first.
    #[default]
    Ascending,
    /// The largest score first.
    Descending,
}

/// Why a change was refused. The set is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Field `0`, counted from 0, is no number: NaN has no place in an order.
    NotANumber(usize),
    /// Field `0`, counted from 0, is of another kind than the set's: no integer is rounded to a float, and
    /// no float to an integer.
    WrongKind(usize),
    /// The set is unique and another member of the group has this score.
    NotUnique,
    /// The sum is beyond the range of integers, or of finite floats, or it is no number.
    Overflow,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotANumber(field) => write!(f, "field {field} of the score is not a number"),
            Self::WrongKind(field) => write!(f, "field {field} of the score is of another kind"),
            Self::NotUnique => f.write_str("another member has this score"),
            Self::Overflow => f.write_str("the sum is out of range"),
        }
    }
}

impl std::error::Error for Refusal {}

/// What a set is ordered by: one number or a pair of them, the first deciding.
///
/// | type | order |
/// |---|---|
/// | `i64`, `f64` | ascending; `-0.0` is `0.0`, NaN is refused |
/// | `Option` of them | `None` before every number |
/// | [`Reverse`] of any of these | descending, the mirror image |
/// | `(A, B)` of any of these | by `A`, then by `B` |
/// | `[Number; 1]`, `[Number; 2]` | by a [`Measure`] for each field, which is chosen when the program runs |
pub trait Score: sealed::Sealed + Copy + Send + Sync + 'static {
    /// What is to be known of all scores of a set: nothing if their type tells it.
    type Rule: Send + Sync + 'static;

    #[doc(hidden)]
    type Bits: Bits;

    #[doc(hidden)]
    fn encode(self, rule: &Self::Rule) -> Result<Self::Bits, Refusal>;

    #[doc(hidden)]
    fn decode(bits: Self::Bits, rule: &Self::Rule) -> Self;

    /// The sum, field by field, if it is in range. What is not there counts as zero.
    #[doc(hidden)]
    fn plus(self, delta: Self) -> Option<Self>;
}

/// One field of a [`Score`] whose type tells its order.
pub trait Element: sealed::Element + Copy + Send + Sync + 'static {
    #[doc(hidden)]
    fn to_field(self) -> Option<Field>;

    #[doc(hidden)]
    fn of_field(field: Field) -> Self;

    #[doc(hidden)]
    fn increased(self, delta: Self) -> Option<Self>;
}

/// The bits of a key are chosen here and nowhere else.
mod sealed {
    pub trait Sealed {}
    pub trait Element {}

    impl<E: Element> Sealed for E {}
    impl<A: Element, B: Element> Sealed for (A, B) {}
    impl<const FIELDS: usize> Sealed for [super::Number; FIELDS] {}
    impl<E: Element> Element for std::cmp::Reverse<E> {}
}

fn float_plus(value: f64, delta: f64) -> Option<f64> {
    let sum = value + delta;
    let overflows = sum.is_infinite() && value.is_finite() && delta.is_finite();
    (!sum.is_nan() && !overflows).then_some(sum)
}

macro_rules! elements {
    ($($number:ty: $to:expr, $of:expr, $plus:expr;)+) => {$(
        impl sealed::Element for $number {}
        impl sealed::Element for Option<$number> {}

        impl Element for $number {
            #[inline]
            fn to_field(self) -> Option<Field> {
                $to(self)
            }

            #[inline]
            fn of_field(field: Field) -> Self {
                $of(field)
            }

            fn increased(self, delta: Self) -> Option<Self> {
                $plus(self, delta)
            }
        }

        impl Element for Option<$number> {
            #[inline]
            fn to_field(self) -> Option<Field> {
                self.map_or(Some(Field::NIL), $to)
            }

            #[inline]
            fn of_field(field: Field) -> Self {
                (field != Field::NIL).then(|| $of(field))
            }

            fn increased(self, delta: Self) -> Option<Self> {
                match (self, delta) {
                    (Some(value), Some(delta)) => $plus(value, delta).map(Some),
                    (value, delta) => Some(value.or(delta)),
                }
            }
        }
    )+};
}

elements! {
    i64: |value| Some(Field::integer(value)), Field::to_integer, i64::checked_add;
    f64: Field::float, Field::to_float, float_plus;
}

impl<E: Element> Element for Reverse<E> {
    #[inline]
    fn to_field(self) -> Option<Field> {
        self.0.to_field().map(Field::mirrored)
    }

    #[inline]
    fn of_field(field: Field) -> Self {
        Self(E::of_field(field.mirrored()))
    }

    fn increased(self, delta: Self) -> Option<Self> {
        self.0.increased(delta.0).map(Self)
    }
}

impl<E: Element> Score for E {
    type Rule = ();
    type Bits = Encoded<1>;

    #[inline]
    fn encode(self, (): &()) -> Result<Encoded<1>, Refusal> {
        let field = self.to_field().ok_or(Refusal::NotANumber(0))?;
        Ok(Encoded([field]))
    }

    #[inline]
    fn decode(Encoded([field]): Encoded<1>, (): &()) -> Self {
        E::of_field(field)
    }

    fn plus(self, delta: Self) -> Option<Self> {
        self.increased(delta)
    }
}

impl<A: Element, B: Element> Score for (A, B) {
    type Rule = ();
    type Bits = Encoded<2>;

    #[inline]
    fn encode(self, (): &()) -> Result<Encoded<2>, Refusal> {
        let first = self.0.to_field().ok_or(Refusal::NotANumber(0))?;
        let second = self.1.to_field().ok_or(Refusal::NotANumber(1))?;
        Ok(Encoded([first, second]))
    }

    #[inline]
    fn decode(Encoded([first, second]): Encoded<2>, (): &()) -> Self {
        (A::of_field(first), B::of_field(second))
    }

    fn plus(self, delta: Self) -> Option<Self> {
        Some((self.0.increased(delta.0)?, self.1.increased(delta.1)?))
    }
}

/// A field of a score whose kind is known when the program runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// No number; before all of them. Added to a number it changes nothing.
    Nil,
    /// An integer, exact.
    Integer(i64),
    /// A float. NaN is refused.
    Float(f64),
}

/// The kind of number in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Integers of 64 bits.
    Integer,
    /// Floats of 64 bits.
    Float,
}

/// What is known of one field of all scores of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// The kind of its numbers.
    pub kind: Kind,
    /// Their order.
    pub order: Order,
}

impl Measure {
    /// Whether `a` comes before `b`. What is not of this kind comes before nothing, and nothing before it.
    ///
    /// ```
    /// use echo_data_core::{Kind, Measure, Number, Order};
    ///
    /// let measure = Measure { kind: Kind::Integer, order: Order::Descending };
    /// assert!(measure.precedes(Number::Integer(7), Number::Integer(5)));
    /// assert!(!measure.precedes(Number::Nil, Number::Integer(5)));
    /// assert!(!measure.precedes(Number::Integer(7), Number::Float(5.0)));
    /// ```
    pub fn precedes(self, a: Number, b: Number) -> bool {
        match (self.encode(a), self.encode(b)) {
            (Ok(a), Ok(b)) => Encoded([a]) < Encoded([b]),
            _ => false,
        }
    }

    fn encode(self, number: Number) -> Result<Field, fn(usize) -> Refusal> {
        let field = match (self.kind, number) {
            (_, Number::Nil) => Field::NIL,
            (Kind::Integer, Number::Integer(value)) => Field::integer(value),
            (Kind::Float, Number::Float(value)) => match Field::float(value) {
                Some(field) => field,
                None => return Err(Refusal::NotANumber),
            },
            _ => return Err(Refusal::WrongKind),
        };
        Ok(field.in_order(self.order))
    }

    fn decode(self, field: Field) -> Number {
        match (field.in_order(self.order), self.kind) {
            (Field::NIL, _) => Number::Nil,
            (field, Kind::Integer) => Number::Integer(field.to_integer()),
            (field, Kind::Float) => Number::Float(field.to_float()),
        }
    }
}

impl Number {
    /// The sum, if it is in range: no integer wraps round, and no finite floats become infinite. What is
    /// no number changes nothing.
    pub fn plus(self, delta: Self) -> Option<Self> {
        match (self, delta) {
            (Self::Integer(value), Self::Integer(delta)) => {
                value.checked_add(delta).map(Self::Integer)
            }
            (Self::Float(value), Self::Float(delta)) => float_plus(value, delta).map(Self::Float),
            (value, Self::Nil) => Some(value),
            (_, delta) => Some(delta),
        }
    }
}

impl<const FIELDS: usize> Score for [Number; FIELDS]
where
    Encoded<FIELDS>: Bits,
{
    type Rule = [Measure; FIELDS];
    type Bits = Encoded<FIELDS>;

    #[inline]
    fn encode(self, rule: &Self::Rule) -> Result<Encoded<FIELDS>, Refusal> {
        let mut fields = [Field::NIL; FIELDS];
        for (at, field) in fields.iter_mut().enumerate() {
            *field = rule[at].encode(self[at]).map_err(|refusal| refusal(at))?;
        }
        Ok(Encoded(fields))
    }

    #[inline]
    fn decode(Encoded(fields): Encoded<FIELDS>, rule: &Self::Rule) -> Self {
        std::array::from_fn(|at| rule[at].decode(fields[at]))
    }

    fn plus(mut self, delta: Self) -> Option<Self> {
        for (value, delta) in self.iter_mut().zip(delta) {
            *value = value.plus(delta)?;
        }
        Some(self)
    }
}
