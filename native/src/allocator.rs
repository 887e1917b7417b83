//! The library's allocator: mimalloc, asked in the way that is fast.
//!
//! The `mimalloc` crate names the alignment in every call, which takes mimalloc off its fast path, also
//! for the list of arguments that rustler makes for every call of a NIF.
#![allow(unsafe_code)] // a global allocator is unsafe to implement

use std::alloc::{GlobalAlloc, Layout};

use libmimalloc_sys::{mi_free, mi_malloc, mi_malloc_aligned, mi_realloc, mi_realloc_aligned};

/// What mimalloc aligns every allocation to that is at least as large.
const NATURAL: usize = 16;

pub(crate) struct Allocator;

fn is_natural(layout: Layout) -> bool {
    layout.align() <= NATURAL && layout.align() <= layout.size()
}

// SAFETY: mimalloc is an allocator. It aligns to what is asked for, or, without being asked, to the
// smaller of 16 and the size rounded up to a power of two.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size and any power of two as alignment are fine.
        unsafe {
            if is_natural(layout) {
                mi_malloc(layout.size()).cast()
            } else {
                mi_malloc_aligned(layout.size(), layout.align()).cast()
            }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, _layout: Layout) {
        // SAFETY: the caller hands over what `alloc` gave.
        unsafe { mi_free(memory.cast()) };
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; the alignment stays.
        unsafe {
            if is_natural(layout) && layout.align() <= size {
                mi_realloc(memory.cast(), size).cast()
            } else {
                mi_realloc_aligned(memory.cast(), size, layout.align()).cast()
            }
        }
    }
}
