//! Asking the memory for what is about to be read.
#![allow(unsafe_code)] // a processor's hint

/// A cache line, in bytes.
const LINE: usize = 64;

/// Asks for one line. On processors for which the compiler has no stable hint, nothing. A prefetch
/// accesses nothing and never faults: any address will do.
#[inline]
pub(crate) fn line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        // SAFETY: a prefetch is a hint, as said above.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Asks for the lines of the `bytes` that begin at `address`.
#[inline]
pub(crate) fn lines(address: *const u8, bytes: usize) {
    for offset in (0..bytes).step_by(LINE) {
        line(address.wrapping_add(offset));
    }
}
