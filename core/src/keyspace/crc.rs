//! CRC16-XMODEM, eight bytes at a time.

use std::sync::LazyLock;

use crc16::{State, XMODEM};

/// Bytes that are looked up together.
const STRIDE: usize = 8;

/// `[n][byte]` is the checksum of `byte` and `n` zero bytes behind it.
type Tables = [[u16; 256]; STRIDE];

/// The checksum is linear: that of several bytes is the exclusive or of each one's, followed by as many
/// zeros as there are bytes behind it. So the lookups of one stride need not wait for each other.
static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    std::array::from_fn(|zeros| {
        std::array::from_fn(|byte| {
            let mut bytes = [0; STRIDE];
            bytes[0] = byte as u8;
            State::<XMODEM>::calculate(&bytes[..=zeros])
        })
    })
});

/// The checksum of `bytes`. O(bytes), no allocation; the first call makes 4 KiB of tables.
///
/// Strides are counted from the end: what is left over stands in front, where nothing comes before it.
#[inline]
pub(super) fn xmodem(bytes: &[u8]) -> u16 {
    let tables = &*TABLES;
    let (first, strides) = bytes.as_rchunks::<STRIDE>();
    let first = first.iter().rev().zip(tables);
    let crc = first.fold(0, |crc, (byte, table)| crc ^ table[usize::from(*byte)]);
    strides
        .iter()
        .fold(crc, |crc, stride| after_stride(tables, crc, stride))
}

/// What came before stands in the first two bytes of what follows.
#[inline]
fn after_stride(tables: &Tables, crc: u16, stride: &[u8; STRIDE]) -> u16 {
    let [high, low] = crc.to_be_bytes();
    let [a, b, c, d, e, f, g, h] = *stride;
    tables[7][usize::from(a ^ high)]
        ^ tables[6][usize::from(b ^ low)]
        ^ tables[5][usize::from(c)]
        ^ tables[4][usize::from(d)]
        ^ tables[3][usize::from(e)]
        ^ tables[2][usize::from(f)]
        ^ tables[1][usize::from(g)]
        ^ tables[0][usize::from(h)]
}
