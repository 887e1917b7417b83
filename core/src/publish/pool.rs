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

/// Blocks are aligned for any key or value of up to this alignment, and no more: allocators pay for
/// alignments beyond their own with room.
pub(crate) const ALIGN: usize = 16;

/// Sizes up to 512 bytes are rounded up to a multiple of this, those up to 4 KiB to four sizes each
/// doubling, and larger ones, which are rare, to a multiple of 512. Up to there these are the size classes of
/// common allocators, mimalloc's among them: what the pool rounds up, the allocator does not round again.
const GRAIN: usize = 64;

/// The sizes that are recycled: every node of eight-byte keys and values of sixteen is among them.
const CLASSES: usize = 16;

/// Bytes kept of each size: what one hand-over of garbage can be (`LIMBO_BYTES`), so that the records of
/// a run of appends all come back from here. A thread keeps at most 16 times as much, 1 MB, and only
/// after it has freed that much. With shrunken nodes it keeps none, so that a sanitizer run with them
/// sees every use after a free.
const KEPT: usize = if cfg!(tiny_nodes) { 0 } else { 64 << 10 };

/// The class of a size, by its grains.
const CLASS_OF: [u8; 33] = {
    let mut classes = [0; 33];
    let mut grains = 1;
    while grains < classes.len() {
        classes[grains] = match grains {
            1..=8 => grains - 1,
            9..=16 => 3 + grains.div_ceil(2),
            _ => 7 + grains.div_ceil(4),
        } as u8;
        grains += 1;
    }
    classes
};

/// Which of the recycled sizes `bytes` are rounded up to; `CLASSES` when they are too many.
#[inline]
const fn class(bytes: usize) -> usize {
    let grains = bytes.div_ceil(GRAIN);
    if grains < CLASS_OF.len() {
        CLASS_OF[grains] as usize
    } else {
        CLASSES
    }
}

/// The bytes that [`allocate`] sets aside for `bytes`.
#[inline]
pub(super) const fn rounded(bytes: usize) -> usize {
    match class(bytes) {
        CLASSES => bytes.next_multiple_of(8 * GRAIN),
        class => size(class),
    }
}

struct Pool([Vec<NonNull<u8>>; CLASSES]);

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool([const { Vec::new() }; CLASSES])) };
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(rounded(bytes), ALIGN).expect("a block is under 4 GiB")
}

/// Memory for `bytes`, which are not 0, aligned to [`ALIGN`].
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
            Some(list) if list.len() * rounded(bytes) < KEPT => {
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
                unsafe { dealloc(memory.as_ptr(), layout(size(class))) };
            }
        }
    }
}

/// The size of the blocks in a class.
const fn size(class: usize) -> usize {
    match class {
        0..=7 => (class + 1) * GRAIN,
        8..=11 => (class - 3) * 2 * GRAIN,
        _ => (class - 7) * 4 * GRAIN,
    }
}

#[cfg(test)]
mod tests {
    use super::{class, rounded, size, CLASSES};

    #[test]
    fn every_size_has_the_class_of_its_rounding() {
        for bytes in 1..=2048 {
            assert!(rounded(bytes) >= bytes && rounded(bytes) - bytes <= bytes.max(64) / 4 + 64);
            assert_eq!(size(class(bytes)), rounded(bytes), "{bytes}");
            assert_eq!(class(rounded(bytes)), class(bytes));
        }
        assert_eq!(class(2048), CLASSES - 1);
        assert_eq!(class(2049), CLASSES);
    }
}
