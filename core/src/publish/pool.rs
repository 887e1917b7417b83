//! Recycling: a few freed blocks of each size, kept by the thread that freed them.
//!
//! A write frees about as many nodes as it makes, of about the same sizes. Handing them from one to
//! the other while they are still in the cache spares the allocator's bookkeeping and the misses on
//! memory that has not been touched for long.
#![allow(unsafe_code)] // allocates and frees raw memory

use std::alloc::{alloc, dealloc, handle_alloc_error, Layout};
use std::cell::RefCell;
use std::ptr::NonNull;

use crate::sync::bury;

/// Sizes are rounded up to this many bytes: a cache line, so that no two blocks share one.
pub(super) const GRAIN: usize = 64;
/// Blocks of up to this many grains are recycled: every node of eight-byte keys and values of sixteen.
const CLASSES: usize = 32;
/// Blocks kept of each size. A thread keeps at most `64 × (1 + … + 32) × KEPT` bytes, about 1 MB, and
/// only after it has freed that much. With shrunken nodes it keeps none, so that a sanitizer run with
/// them sees every use after a free.
const KEPT: usize = if cfg!(tiny_nodes) { 0 } else { 32 };

/// The bytes that [`allocate`] sets aside for `bytes`.
pub(super) const fn rounded(bytes: usize) -> usize {
    bytes.next_multiple_of(GRAIN)
}

struct Pool([Vec<NonNull<u8>>; CLASSES]);

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool([const { Vec::new() }; CLASSES])) };
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(rounded(bytes), GRAIN).expect("a block is under 4 GiB")
}

fn class(bytes: usize) -> usize {
    bytes.div_ceil(GRAIN) - 1
}

/// Memory for `bytes`, which are not 0, aligned to a cache line.
#[inline]
pub(super) fn allocate(bytes: usize) -> NonNull<u8> {
    // A thread that is ending has no pool any more.
    let recycled = POOL.try_with(|pool| pool.borrow_mut().0.get_mut(class(bytes))?.pop());
    recycled
        .ok()
        .flatten()
        .unwrap_or_else(|| allocate_new(layout(bytes)))
}

#[cold]
fn allocate_new(layout: Layout) -> NonNull<u8> {
    // SAFETY: the layout is not empty.
    NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

/// Gives memory back.
///
/// # Safety
/// `memory` comes from [`allocate`] with these `bytes` and is not used any more.
#[inline]
pub(super) unsafe fn release(memory: NonNull<u8>, bytes: usize) {
    // SAFETY: as the caller says.
    bury(move || unsafe { keep_or_free(memory, bytes) });
}

#[inline]
unsafe fn keep_or_free(memory: NonNull<u8>, bytes: usize) {
    let kept = POOL.try_with(|pool| {
        let mut pool = pool.borrow_mut();
        match pool.0.get_mut(class(bytes)) {
            Some(list) if list.len() < KEPT => {
                list.push(memory);
                true
            }
            _ => false,
        }
    });
    if kept != Ok(true) {
        // SAFETY: allocated with this layout; its last use, as the caller says.
        unsafe { dealloc(memory.as_ptr(), layout(bytes)) };
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for (class, list) in self.0.iter_mut().enumerate() {
            for memory in list.drain(..) {
                // SAFETY: allocated with the layout of this class, and unused.
                unsafe { dealloc(memory.as_ptr(), layout((class + 1) * GRAIN)) };
            }
        }
    }
}
