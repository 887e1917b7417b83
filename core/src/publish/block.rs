//! Blocks: the one shape of heap memory that a version can reach.
//!
//! A tree node or a value outside its leaf starts with the same sixteen bytes, so that reclamation
//! needs to know nothing of what it frees.
#![allow(unsafe_code)] // allocates and frees raw memory: the ground that nodes and payloads stand on

use std::alloc::{alloc, dealloc, handle_alloc_error, Layout};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::NonNull;

use crate::sync::{bury, AtomicU16, Ordering, Race};

use super::pool::{self, ALIGN};

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    Leaf,
    Inner,
    /// Plain bytes.
    Payload,
    /// A value with drop glue, whose function pointer follows the header.
    Droppable,
}

/// The head of every block.
#[repr(C)]
pub(crate) struct Header {
    /// The version that made this block; older versions cannot reach it.
    birth: u64,
    /// The whole allocation, header included.
    bytes: u32,
    kind: Kind,
    /// Leaf: slots allocated. Inner node: children. Payload: nothing.
    width: u8,
    /// Leaf: slots written or being written; the slots from here on are free to claim.
    claimed: AtomicU16,
    /// Where loom watches the block's plain memory.
    race: Race,
}

/// A pointer to a live block. Copies alias; whoever retires a block vouches that it does so once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block(NonNull<Header>);

// SAFETY: a block is immutable once published, but for slots past every published length, which have
// one owner each (see `claim`); moving the pointer between threads gives no access by itself.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

type DropFn = unsafe fn(NonNull<u8>);

/// Runs what may drop values of users. A panic was reported by its hook and ends here: whoever frees in
/// passing is in the middle of something else. What it carries may panic in its turn when it is dropped,
/// with something that does, too; after some rounds of that it is forgotten.
pub(super) fn contained(work: impl FnOnce()) {
    let mut carried = catch_unwind(AssertUnwindSafe(work)).err();
    for _ in 0..8 {
        let Some(payload) = carried.take() else {
            return;
        };
        carried = catch_unwind(AssertUnwindSafe(|| drop(payload))).err();
    }
    std::mem::forget(carried);
}

/// More bytes than a value can hold in any memory there is, and few enough to be summed with those of many
/// others.
const MOST_ELSEWHERE: usize = if usize::BITS < 64 {
    usize::MAX
} else {
    1 << (usize::BITS - 17)
};

/// What a droppable payload has between its header and its value.
#[repr(C)]
#[derive(Clone, Copy)]
struct Droppable {
    drop_value: DropFn,
    /// Bytes that the value holds elsewhere.
    elsewhere: usize,
}

/// Where the value of a droppable payload starts.
const DROPPABLE_OFFSET: usize =
    (size_of::<Header>() + size_of::<Droppable>()).next_multiple_of(ALIGN);

impl Block {
    /// Allocates a block of `bytes` in all. Its contents after the header are uninitialised.
    pub(crate) fn allocate(kind: Kind, width: usize, filled: usize, bytes: usize) -> Self {
        debug_assert!(bytes >= size_of::<Header>());
        // Before there is memory to be given back.
        assert!(u32::try_from(bytes).is_ok(), "a block is under 4 GiB");
        let (memory, bytes) = match kind {
            Kind::Leaf | Kind::Inner => (pool::allocate(bytes), pool::rounded(bytes)),
            Kind::Payload | Kind::Droppable => (Self::allocate_payload(bytes), bytes),
        };
        let pointer = memory.cast::<Header>();
        // SAFETY: freshly allocated, large and aligned enough for the header, and not shared yet.
        unsafe {
            pointer.write(Header {
                birth: 0,
                bytes: u32::try_from(bytes).expect("a block is under 4 GiB"),
                kind,
                width: width as u8,
                claimed: AtomicU16::new(filled as u16),
                race: Race::new(if kind == Kind::Leaf { width } else { 0 }),
            });
        }
        Self(pointer)
    }

    fn payload_layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, ALIGN).expect("a block is under 4 GiB")
    }

    fn allocate_payload(bytes: usize) -> NonNull<u8> {
        let layout = Self::payload_layout(bytes);
        // SAFETY: the layout is never empty, since `bytes` covers the header.
        NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
    }

    /// A payload of plain bytes.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        let block = Self::allocate(Kind::Payload, 0, 0, size_of::<Header>() + bytes.len());
        // SAFETY: the allocation has room for `bytes` after the header and is not shared yet.
        unsafe {
            block
                .after_header()
                .copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len());
        }
        block
    }

    /// The bytes of a block made by [`Block::of_bytes`].
    ///
    /// # Safety
    /// The block was made by `of_bytes` and stays live for `'a`.
    pub(crate) unsafe fn as_bytes<'a>(self) -> &'a [u8] {
        self.header().race.read(0..0);
        // SAFETY: `of_bytes` wrote this many bytes after the header, and never again.
        unsafe {
            std::slice::from_raw_parts(
                self.after_header().as_ptr(),
                self.bytes() - size_of::<Header>(),
            )
        }
    }

    /// A payload holding a value that holds `elsewhere` bytes in its turn, or [`MOST_ELSEWHERE`] if that is
    /// less; dropped when the block is freed.
    pub(crate) fn of_value<T: Send + Sync + 'static>(value: T, elsewhere: usize) -> Self {
        const {
            assert!(
                align_of::<T>() <= ALIGN,
                "values are aligned to 16 bytes at most"
            )
        };
        let block = Self::allocate(Kind::Droppable, 0, 0, DROPPABLE_OFFSET + size_of::<T>());
        // SAFETY: called once, by `free`, with the pointer to the value written below.
        let drop_value: DropFn = |value| unsafe { value.cast::<T>().drop_in_place() };
        // SAFETY: the allocation has room for both at these offsets, aligned, and is not shared yet.
        unsafe {
            block.after_header().cast().write(Droppable {
                drop_value,
                elsewhere: elsewhere.min(MOST_ELSEWHERE),
            });
            block.byte_add(DROPPABLE_OFFSET).cast::<T>().write(value);
        }
        block
    }

    /// The value of a block made by [`Block::of_value`].
    ///
    /// # Safety
    /// The block was made by `of_value::<T>` and stays live for `'a`.
    pub(crate) unsafe fn as_value<'a, T>(self) -> &'a T {
        self.header().race.read(0..0);
        // SAFETY: `of_value` wrote a `T` here, and it is dropped only when the block is freed.
        unsafe { self.byte_add(DROPPABLE_OFFSET).cast::<T>().as_ref() }
    }

    /// Frees the block, dropping the value that it holds, if any. A panic of its destructor is contained.
    ///
    /// # Safety
    /// Nobody can reach the block any more, and nobody frees it again.
    pub(crate) unsafe fn free(self) {
        let (kind, bytes) = (self.kind(), self.bytes());
        self.header().race.free();
        if kind == Kind::Droppable {
            // SAFETY: `of_value` wrote this head for the value at this offset; we are its last user.
            contained(|| unsafe {
                let head = self.after_header().cast::<Droppable>().read();
                (head.drop_value)(self.byte_add(DROPPABLE_OFFSET));
            });
        }
        // SAFETY: the caller hands over the last use; allocated by `allocate`, for this kind, with
        // this size.
        unsafe {
            self.0.drop_in_place();
            match kind {
                Kind::Leaf | Kind::Inner => pool::release(self.0.cast(), bytes),
                Kind::Payload | Kind::Droppable => bury(move || {
                    dealloc(self.0.as_ptr().cast(), Self::payload_layout(bytes));
                }),
            }
        }
    }

    #[inline]
    fn header(&self) -> &Header {
        // SAFETY: a `Block` points to a live header for as long as its holder is entitled to it
        // (pinned, holding a snapshot, or building it); see `publish`.
        unsafe { self.0.as_ref() }
    }

    pub(crate) fn kind(self) -> Kind {
        self.header().kind
    }

    /// The bytes of the block itself.
    fn bytes(self) -> usize {
        self.header().bytes as usize
    }

    /// The bytes that are given back when the block is freed: its own, and what its value holds elsewhere.
    pub(crate) fn weight(self) -> usize {
        match self.kind() {
            Kind::Leaf | Kind::Inner | Kind::Payload => self.bytes(),
            // SAFETY: `of_value` wrote the head of every droppable payload.
            Kind::Droppable => unsafe {
                let elsewhere = self.after_header().cast::<Droppable>().as_ref().elsewhere;
                self.bytes() + elsewhere
            },
        }
    }

    pub(crate) fn birth(self) -> u64 {
        self.header().birth
    }

    #[inline]
    pub(crate) fn width(self) -> usize {
        self.header().width as usize
    }

    /// Sets the version that this block first belongs to.
    ///
    /// # Safety
    /// The block is not published yet and has no other user.
    pub(crate) unsafe fn set_birth(self, birth: u64) {
        // SAFETY: the caller is the only user, so no reference to the header is alive.
        unsafe { (*self.0.as_ptr()).birth = birth };
    }

    /// Tries to become the only writer of slot `slot`, the first that no version has published.
    ///
    /// The winner owns the slot until the leaf is freed: whether its version is published or not,
    /// nobody else can claim the slot again.
    #[inline]
    pub(crate) fn claim(self, slot: usize) -> bool {
        let slot = slot as u16;
        // Relaxed: the counter only chooses an owner. The slot's contents are ordered by the
        // publication of the version whose length covers it (`Published::try_publish`).
        self.header()
            .claimed
            .compare_exchange(slot, slot + 1, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// Tells loom that slots `0..slots` of this block are read.
    #[inline(always)]
    pub(crate) fn note_read(self, slots: usize) {
        self.header().race.read(0..slots);
    }

    /// Tells loom that slot `slot` of this block is written.
    #[inline(always)]
    pub(crate) fn note_write(self, slot: usize) {
        self.header().race.write(slot);
    }

    /// Where the block starts, for hints to the memory.
    #[inline]
    pub(crate) fn address(self) -> *const u8 {
        self.0.as_ptr().cast()
    }

    /// The first byte after the header.
    #[inline]
    pub(crate) fn after_header(self) -> NonNull<u8> {
        // SAFETY: every allocation covers its header, so this is at most one past its end.
        unsafe { self.byte_add(size_of::<Header>()) }
    }

    /// # Safety
    /// `offset` is within the allocation.
    #[inline]
    pub(crate) unsafe fn byte_add(self, offset: usize) -> NonNull<u8> {
        // SAFETY: as the caller says.
        unsafe { self.0.cast::<u8>().add(offset) }
    }
}

/// The size of a block's head, in bytes.
pub(crate) const HEADER: usize = size_of::<Header>();
