//! Base62 text for snowflakes: digits `0-9A-Za-z` in ASCII order, so that texts of one width sort as
//! their numbers do.
//!
//! The form on every boundary is the fixed one, [`WIDTH`] bytes padded with `0`: [`encode`] and
//! [`decode`]. Other widths are served by [`digits`], [`encode_into`] and [`decode_any_width`]. All of them
//! share one domain, `0..=`[`MAX`]: what lies above is refused, never truncated.

use super::snowflake::MAX;

/// Bytes of the fixed form. `MAX` is `AzL8n0Y58m7`, so eleven digits are enough and ten are not.
pub const WIDTH: usize = 11;

/// The digits, by value. ASCII order is numeric order.
pub const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const RADIX: u64 = 62;
const PAIR: u32 = 62 * 62;
const QUAD: u64 = RADIX.pow(4);

/// No digit has this bit, every byte outside the alphabet decodes to it: one test of the digits ORed
/// together replaces one test per byte.
const FOREIGN: u8 = 0x80;

/// The leading digit of `MAX`. Larger ones are refused by themselves because they overflow 64 bits, which
/// would hide the excess from a test of the sum.
const MAX_LEADING: u8 = (MAX / RADIX.pow(10)) as u8;

static VALUES: [u8; 256] = values();
static PAIRS: [[u8; 2]; PAIR as usize] = pairs();
const WEIGHTS: [u64; WIDTH] = weights();

const fn values() -> [u8; 256] {
    let mut table = [FOREIGN; 256];
    let mut digit = 0;
    while digit < ALPHABET.len() {
        table[ALPHABET[digit] as usize] = digit as u8;
        digit += 1;
    }
    table
}

const fn pairs() -> [[u8; 2]; PAIR as usize] {
    let mut table = [[0; 2]; PAIR as usize];
    let mut pair = 0;
    while pair < table.len() {
        table[pair] = [ALPHABET[pair / 62], ALPHABET[pair % 62]];
        pair += 1;
    }
    table
}

const fn weights() -> [u64; WIDTH] {
    let mut table = [1; WIDTH];
    let mut place = WIDTH - 1;
    while place > 0 {
        table[place - 1] = table[place] * RADIX;
        place -= 1;
    }
    table
}

/// The fixed form of `n`: eleven bytes, padded with `0`. `None` above [`MAX`].
///
/// O(1), no allocation.
///
/// ```
/// use echo_data_core::id::base62;
///
/// assert_eq!(base62::encode(62).as_ref(), Some(b"00000000010"));
/// assert_eq!(base62::encode(i64::MAX as u64).as_ref(), Some(b"AzL8n0Y58m7"));
/// assert_eq!(base62::encode(1 << 63), None);
/// ```
#[inline]
pub fn encode(n: u64) -> Option<[u8; WIDTH]> {
    (n <= MAX).then(|| encode_fixed(n))
}

/// The number in a fixed form. `None` unless `text` is exactly eleven digits of the alphabet with a
/// value of at most [`MAX`].
///
/// O(1), no allocation, no branch per byte.
///
/// ```
/// use echo_data_core::id::base62;
///
/// assert_eq!(base62::decode(b"00000000010"), Some(62));
/// assert_eq!(base62::decode(b"10"), None);
/// assert_eq!(base62::decode(b"zzzzzzzzzzz"), None);
/// ```
#[inline]
pub fn decode(text: &[u8]) -> Option<u64> {
    decode_fixed(text.try_into().ok()?)
}

/// How many digits `n` has without padding: 1 for zero, at most eleven for any `u64`.
///
/// O(1): at most ten comparisons.
pub fn digits(n: u64) -> usize {
    let leading = WEIGHTS[..WIDTH - 1]
        .iter()
        .take_while(|&&weight| n < weight)
        .count();
    WIDTH - leading
}

/// Fills `out` with `n`, right-aligned and padded with `0`: any width that holds [`digits`]`(n)`.
///
/// `None`, with `out` untouched, when `n` is above [`MAX`] or has more digits than `out` has bytes.
/// O(width of `out`), no allocation.
///
/// ```
/// use echo_data_core::id::base62;
///
/// let mut text = [0; 4];
/// assert_eq!(base62::encode_into(62, &mut text), Some(()));
/// assert_eq!(&text, b"0010");
/// assert_eq!(base62::encode_into(62, &mut text[..1]), None);
/// ```
pub fn encode_into(n: u64, out: &mut [u8]) -> Option<()> {
    let fixed = encode(n)?;
    let significant = &fixed[WIDTH - digits(n)..];
    let padding = out.len().checked_sub(significant.len())?;
    out[..padding].fill(ALPHABET[0]);
    out[padding..].copy_from_slice(significant);
    Some(())
}

/// The number in a text of any width, with or without padding. `None` when `text` is empty, holds a
/// byte outside the alphabet, or is worth more than [`MAX`].
///
/// O(length of `text`), no allocation.
///
/// ```
/// use echo_data_core::id::base62;
///
/// assert_eq!(base62::decode_any_width(b"10"), Some(62));
/// assert_eq!(base62::decode_any_width(b"000000000000000010"), Some(62));
/// assert_eq!(base62::decode_any_width(b""), None);
/// ```
pub fn decode_any_width(text: &[u8]) -> Option<u64> {
    let padding = text.iter().take_while(|&&byte| byte == ALPHABET[0]).count();
    let significant = &text[padding..];
    if text.is_empty() || significant.len() > WIDTH {
        return None;
    }
    let mut fixed = [ALPHABET[0]; WIDTH];
    fixed[WIDTH - significant.len()..].copy_from_slice(significant);
    decode_fixed(&fixed)
}

/// `n` at most `MAX`. Three groups of three, four and four digits are cut independently of each other, so
/// the divisions overlap; each group is one or two looked-up pairs.
#[inline]
pub(super) fn encode_fixed(n: u64) -> [u8; WIDTH] {
    debug_assert!(n <= MAX);
    let above_low = n / QUAD;
    let high = (n / (QUAD * QUAD)) as u32;
    let middle = (above_low % QUAD) as u32;
    let low = (n % QUAD) as u32;

    let mut text = [0; WIDTH];
    text[0] = ALPHABET[(high / PAIR) as usize];
    text[1..3].copy_from_slice(pair(high % PAIR));
    text[3..5].copy_from_slice(pair(middle / PAIR));
    text[5..7].copy_from_slice(pair(middle % PAIR));
    text[7..9].copy_from_slice(pair(low / PAIR));
    text[9..11].copy_from_slice(pair(low % PAIR));
    text
}

#[inline]
fn pair(value: u32) -> &'static [u8; 2] {
    &PAIRS[value as usize]
}

/// A sum of independent products rather than a chain of multiply-and-add: the processor overlaps them.
/// The sum is only meaningful, and only used, once the marks say that it cannot have wrapped.
#[inline]
pub(super) fn decode_fixed(text: &[u8; WIDTH]) -> Option<u64> {
    let mut marks = 0;
    let mut sum = 0u64;
    for (byte, weight) in text.iter().zip(WEIGHTS) {
        let value = VALUES[*byte as usize];
        marks |= value;
        sum = sum.wrapping_add(u64::from(value).wrapping_mul(weight));
    }
    let fits = (VALUES[text[0] as usize] <= MAX_LEADING) & (sum <= MAX);
    ((marks & FOREIGN == 0) & fits).then_some(sum)
}
