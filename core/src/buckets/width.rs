//! How ids are divided into buckets: by a right shift.

use std::error::Error;
use std::fmt;
use std::ops::RangeInclusive;

use crate::id::snowflake::{EPOCH_MS, TIMESTAMP_SHIFT};

/// How wide buckets are: `2^bits` milliseconds each, the first from the epoch of
/// [`snowflake`](crate::id::snowflake) on.
///
/// A bucket is the timestamp of its ids without its lowest `bits`, so that the buckets of ids follow each
/// other as the ids do.
///
/// ```
/// use echo_data_core::id::snowflake;
/// use echo_data_core::BucketWidth;
///
/// let width = BucketWidth::from_bits(12).unwrap();
/// assert_eq!(width.millis(), 4096);
/// let id = snowflake::min_for(1_769_526_512_000);
/// let start = width.start_ms(width.bucket_of(id));
/// assert!(start <= 1_769_526_512_000 && 1_769_526_512_000 < start + 4096);
/// assert!(BucketWidth::from_bits(41).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BucketWidth {
    bits: u32,
}

/// Buckets cannot have this many bits: only `0..=`[`BucketWidth::MAX_BITS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidBucketBits(
    /// What was asked for.
    pub u32,
);

impl fmt::Display for InvalidBucketBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = BucketWidth::MAX_BITS;
        write!(f, "bucket bits must be in 0..={most}, not {}", self.0)
    }
}

impl Error for InvalidBucketBits {}

impl BucketWidth {
    /// The most bits that a bucket can span: half of all time, about 35 years.
    pub const MAX_BITS: u32 = 40;

    /// Buckets of `2^bits` milliseconds.
    ///
    /// # Errors
    /// When `bits` are more than [`MAX_BITS`](Self::MAX_BITS).
    pub const fn from_bits(bits: u32) -> Result<Self, InvalidBucketBits> {
        if bits > Self::MAX_BITS {
            Err(InvalidBucketBits(bits))
        } else {
            Ok(Self { bits })
        }
    }

    /// The bits of a timestamp that a bucket spans.
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// How long a bucket lasts, in milliseconds.
    pub const fn millis(self) -> u64 {
        1 << self.bits
    }

    /// The bucket of an id.
    #[inline]
    pub const fn bucket_of(self, id: u64) -> u64 {
        id >> self.shift()
    }

    /// The bucket of an instant in milliseconds since 1970, or `None` when it is before the epoch and so
    /// before every bucket.
    pub fn bucket_at(self, unix_ms: i64) -> Option<u64> {
        let elapsed = unix_ms.checked_sub_unsigned(EPOCH_MS)?;
        Some(u64::try_from(elapsed).ok()? >> self.bits)
    }

    /// The first instant of `bucket`, in milliseconds since 1970; [`u64::MAX`] when it is beyond all.
    pub const fn start_ms(self, bucket: u64) -> u64 {
        bucket
            .saturating_mul(self.millis())
            .saturating_add(EPOCH_MS)
    }

    /// Every number that is an id of `bucket`, or `None` when its ids are beyond all numbers.
    pub fn ids(self, bucket: u64) -> Option<RangeInclusive<u64>> {
        let first = bucket.checked_mul(1 << self.shift())?;
        Some(first..=first | ((1 << self.shift()) - 1))
    }

    const fn shift(self) -> u32 {
        TIMESTAMP_SHIFT + self.bits
    }
}
