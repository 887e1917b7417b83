//! Which slot a key falls into.

use memchr::memchr;

use super::crc;

/// How many slots a cluster has: a key's slot is below.
pub const SLOTS: u16 = 1 << 14;

/// The part of a key that decides about its slot: what is between the first `{` and the next `}` when that is
/// not empty, else all of the key. O(key), no allocation.
///
/// ```
/// use echo_data_core::keyspace::hashtag;
///
/// assert_eq!(hashtag(b"emq:{orders}:pending"), b"orders");
/// assert_eq!(hashtag(b"{a}{b}"), b"a");
/// assert_eq!(hashtag(b"{{a}}"), b"{a");
/// assert_eq!(hashtag(b"{}{a}"), b"{}{a}");
/// assert_eq!(hashtag(b"{a"), b"{a");
/// ```
#[inline]
pub fn hashtag(key: &[u8]) -> &[u8] {
    let inside = memchr(b'{', key).and_then(|open| {
        let behind = &key[open + 1..];
        memchr(b'}', behind).map(|close| &behind[..close])
    });
    inside.filter(|tag| !tag.is_empty()).unwrap_or(key)
}

/// The slot of a key: CRC16-XMODEM of its [`hashtag`], modulo [`SLOTS`]. O(key), no allocation.
///
/// ```
/// use echo_data_core::keyspace::slot;
///
/// assert_eq!(slot(b"123456789"), 12739);
/// assert_eq!(slot(b"emq:{orders}:pending"), 105);
/// ```
#[inline]
pub fn slot(key: &[u8]) -> u16 {
    crc::xmodem(hashtag(key)) % SLOTS
}
