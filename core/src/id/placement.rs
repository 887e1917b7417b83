//! The placement hash: where an id belongs when work is spread over partitions.

/// A 32-bit hash of a snowflake, the same on every machine and in every release.
///
/// The definition is part of the id format: `h ^= h >> 33; h *= 0xFF51AFD7ED558CCD (mod 2^64); h ^= h >> 33`,
/// low 32 bits. It is defined for every `u64`. O(1), a handful of instructions.
///
/// ```
/// assert_eq!(echo_data_core::id::hash32(274_557_032_793_636_864), 234_878_118);
/// ```
#[inline]
pub const fn hash32(n: u64) -> u32 {
    let folded = n ^ (n >> 33);
    let mixed = folded.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    (mixed ^ (mixed >> 33)) as u32
}
