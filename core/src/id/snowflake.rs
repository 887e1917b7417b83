//! Snowflakes: 63-bit ids that sort by creation time, and the lock-free generator that mints them.
//!
//! | bits | field | range |
//! |---|---|---|
//! | 22..63 | milliseconds since [`EPOCH_MS`] | 41 bits, until September 2093 |
//! | 12..22 | node | `0..=`[`MAX_NODE`] |
//! | 0..12 | sequence | `0..=`[`MAX_SEQUENCE`] |
//!
//! The top bit is always zero, so an id is also a non-negative `i64`. The readers of fields are meant for
//! ids, that is for numbers up to [`MAX`].

use std::error::Error;
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::sync::{AtomicU64, Ordering};

/// 2024-01-01T00:00:00Z, where timestamps begin, in milliseconds since 1970.
pub const EPOCH_MS: u64 = 1_704_067_200_000;

/// The largest id: 2^63 - 1.
pub const MAX: u64 = i64::MAX as u64;

/// The timestamp is an id shifted right by this much.
pub const TIMESTAMP_SHIFT: u32 = 22;

/// The node begins at this bit; the sequence lies below.
pub const NODE_SHIFT: u32 = 12;

/// The largest timestamp, in milliseconds since [`EPOCH_MS`].
pub const MAX_TIMESTAMP: u64 = MAX >> TIMESTAMP_SHIFT;

/// The largest node.
pub const MAX_NODE: u16 = 1023;

/// The largest sequence: 4096 ids of one node share a millisecond.
pub const MAX_SEQUENCE: u16 = 4095;

/// The timestamp of `id`: milliseconds since [`EPOCH_MS`].
#[inline]
pub const fn timestamp(id: u64) -> u64 {
    id >> TIMESTAMP_SHIFT
}

/// The creation time of `id`: milliseconds since 1970-01-01T00:00:00Z.
#[inline]
pub const fn unix_ms(id: u64) -> u64 {
    timestamp(id) + EPOCH_MS
}

/// The node that minted `id`, `0..=`[`MAX_NODE`].
#[inline]
pub const fn node(id: u64) -> u16 {
    (id >> NODE_SHIFT) as u16 & MAX_NODE
}

/// The sequence of `id` within its millisecond, `0..=`[`MAX_SEQUENCE`].
#[inline]
pub const fn sequence(id: u64) -> u16 {
    id as u16 & MAX_SEQUENCE
}

/// The id with the given fields.
///
/// # Panics
/// When `timestamp` is above [`MAX_TIMESTAMP`], `node` above [`MAX_NODE`] or `sequence` above
/// [`MAX_SEQUENCE`]: a truncated field would be the id of something else.
#[inline]
pub const fn compose(timestamp: u64, node: u16, sequence: u16) -> u64 {
    assert!(timestamp <= MAX_TIMESTAMP, "timestamp out of range");
    assert!(node <= MAX_NODE, "node out of range");
    assert!(sequence <= MAX_SEQUENCE, "sequence out of range");
    (timestamp << TIMESTAMP_SHIFT) | ((node as u64) << NODE_SHIFT) | sequence as u64
}

/// The smallest id at or after an instant, in milliseconds since 1970: the synthetic cursor that turns
/// a time into a bound.
///
/// An instant at or before [`EPOCH_MS`] answers 0. An instant after the last representable millisecond has
/// no id and answers [`MAX`], the nearest there is.
///
/// ```
/// use echo_data_core::id::snowflake;
///
/// let bound = snowflake::min_for(1_769_526_512_000);
/// assert_eq!(snowflake::unix_ms(bound), 1_769_526_512_000);
/// assert_eq!(snowflake::unix_ms(bound - 1), 1_769_526_511_999);
/// assert_eq!(snowflake::min_for(0), 0);
/// ```
#[inline]
pub const fn min_for(unix_ms: i64) -> u64 {
    match begin_of(unix_ms) {
        begin @ ..=MAX => begin,
        _ => MAX,
    }
}

/// Where the ids of an instant, in milliseconds since 1970, and of all later ones begin: what [`min_for`]
/// answers, but [`MAX`]` + 1`, which is no id, for an instant after the last representable millisecond. To be
/// the end of a range, which would lose the last id otherwise.
///
/// ```
/// use echo_data_core::id::snowflake;
///
/// let soon = snowflake::begin_of(1_769_526_512_000);
/// assert_eq!(soon, snowflake::min_for(1_769_526_512_000));
/// assert!((soon..snowflake::begin_of(i64::MAX)).contains(&snowflake::MAX));
/// ```
#[inline]
pub const fn begin_of(unix_ms: i64) -> u64 {
    let timestamp = since_epoch(unix_ms);
    if timestamp > MAX_TIMESTAMP {
        MAX + 1
    } else {
        timestamp << TIMESTAMP_SHIFT
    }
}

const fn since_epoch(unix_ms: i64) -> u64 {
    match unix_ms.saturating_sub(EPOCH_MS as i64) {
        elapsed @ 0.. => elapsed as u64,
        _ => 0,
    }
}

/// Mints snowflakes for any number of threads, without locks: a thread retries only because another one
/// has minted in the meantime.
///
/// The state is one atomic cell, the last minted `timestamp << 12 | sequence`, a logical clock with 4096
/// ticks to the millisecond. A mint sets it to the greater of the clock given and the last tick plus one.
/// From this follow the guarantees:
///
/// - No tick is used twice, so no two ids of one generator are equal, whatever nodes are passed. Per node,
///   ids strictly increase, across threads too: a mint that happens after another is greater.
/// - A clock that steps back changes nothing: minting goes on from the logical clock.
/// - More than 4096 ids in a millisecond borrow from the next one.
/// - The logical clock never wraps. After the last tick of the 41-bit range (2093) every mint is refused with
///   [`MintError::Exhausted`]; so is a mint whose clock reads later than that, and it leaves the generator
///   as it was, so one wild reading does not use up the range.
///
/// Id 0 is never minted: the tick of an unused generator is 0.
///
/// ```
/// use echo_data_core::id::{snowflake, Generator};
///
/// static IDS: Generator = Generator::new();
/// let first = IDS.next(7);
/// let second = IDS.next(7);
/// assert!(first < second);
/// assert_eq!(snowflake::node(second), 7);
/// ```
#[derive(Debug)]
pub struct Generator {
    last: AtomicU64,
}

const TICK_SHIFT: u32 = NODE_SHIFT;
const MAX_TICK: u64 = (MAX_TIMESTAMP << TICK_SHIFT) | MAX_SEQUENCE as u64;

impl Generator {
    /// A generator that has minted nothing.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self {
            last: AtomicU64::new(0),
        }
    }

    /// A generator that has minted nothing.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self {
            last: AtomicU64::new(0),
        }
    }

    /// Mints an id at the system clock's time. O(1) and one clock read when no other thread mints.
    ///
    /// # Panics
    /// Where [`try_next`](Self::try_next) answers an error.
    #[inline]
    pub fn next(&self, node: u16) -> u64 {
        self.try_next(node)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Mints an id at the given time, in milliseconds since 1970: for simulated time. A time before
    /// [`EPOCH_MS`] counts as the epoch.
    ///
    /// # Panics
    /// Where [`try_next_at`](Self::try_next_at) answers an error.
    #[inline]
    pub fn next_at(&self, node: u16, unix_ms: i64) -> u64 {
        self.try_next_at(node, unix_ms)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// As [`next`](Self::next), with errors for the caller to handle.
    ///
    /// # Errors
    /// See [`MintError`]. A refused mint leaves the generator as it was.
    #[inline]
    pub fn try_next(&self, node: u16) -> Result<u64, MintError> {
        self.try_next_at(node, system_unix_ms())
    }

    /// As [`next_at`](Self::next_at), with errors for the caller to handle.
    ///
    /// # Errors
    /// See [`MintError`]. A refused mint leaves the generator as it was.
    #[inline]
    pub fn try_next_at(&self, node: u16, unix_ms: i64) -> Result<u64, MintError> {
        if node > MAX_NODE {
            return Err(MintError::Node(node));
        }
        let now = since_epoch(unix_ms);
        if now > MAX_TIMESTAMP {
            return Err(MintError::Exhausted);
        }
        let tick = self.advance(now << TICK_SHIFT)?;
        let sequence = tick as u16 & MAX_SEQUENCE;
        Ok(compose(tick >> TICK_SHIFT, node, sequence))
    }

    /// Moves the logical clock to `now` or by one tick, whichever is later.
    ///
    /// All orderings are `Relaxed`. The cell is the whole of the shared state and publishes nothing else, so
    /// there is no other memory to order. Uniqueness needs only that read-modify-writes of one cell form a
    /// single chain, and "a mint that happens after another is greater" only that a thread never reads
    /// a value older than one it knows of; both hold for `Relaxed` accesses to one cell.
    #[inline]
    fn advance(&self, now: u64) -> Result<u64, MintError> {
        // Relaxed: a stale value only makes the exchange below fail.
        let mut last = self.last.load(Ordering::Relaxed);
        loop {
            let tick = now.max(last + 1);
            if tick > MAX_TICK {
                return Err(MintError::Exhausted);
            }
            // Relaxed on success: the tick is owned by winning the cell's chain, nothing is published.
            // Relaxed on failure: the value read is only the start of the next attempt.
            match self
                .last
                .compare_exchange_weak(last, tick, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return Ok(tick),
                Err(newer) => last = newer,
            }
        }
    }
}

impl Default for Generator {
    fn default() -> Self {
        Self::new()
    }
}

/// Milliseconds since 1970 by the system clock. A clock set before 1970 reads as 1970, which is before
/// [`EPOCH_MS`] and so counts as the epoch; one beyond `i64` reads as its maximum, which has no id.
fn system_unix_ms() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(elapsed) => i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX),
        Err(_) => 0,
    }
}

/// Why a [`Generator`] minted nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MintError {
    /// The node is above [`MAX_NODE`].
    Node(u16),
    /// The clock, or the logical clock, is past the last millisecond that 41 bits can hold.
    Exhausted,
}

impl fmt::Display for MintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(node) => write!(f, "node {node} is out of range, 0 to {MAX_NODE}"),
            Self::Exhausted => {
                f.write_str("no snowflake is left: the 41-bit timestamp has run out")
            }
        }
    }
}

impl Error for MintError {}
