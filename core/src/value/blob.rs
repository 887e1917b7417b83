//! Tagged bytes or an object, in two words.
#![allow(unsafe_code)] // keeps a pointer among bytes, and follows it to the payload

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use crate::publish::{Block, HEADER};

use super::{Slot, Value};

/// Tagged bytes of any length, or an object of type `A`: for values whose type is known only when the
/// program runs. Up to [`Blob::INLINE`] bytes stay in the leaf, more go behind a pointer. It takes 16
/// bytes of the leaf; [`SlimBlob`](crate::SlimBlob) takes 8.
///
/// The tag is the caller's: it comes back with the bytes.
pub struct Blob<A = ()> {
    slot: BlobSlot<A>,
}

/// What a reader sees of a [`Blob`] or a [`SlimBlob`](crate::SlimBlob).
#[derive(Debug, PartialEq, Eq)]
pub enum BlobRef<'a, A> {
    /// The tag and the bytes.
    Bytes(u8, &'a [u8]),
    /// The tag and the object.
    Object(u8, &'a A),
}

impl<A> Clone for BlobRef<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for BlobRef<'_, A> {}

const INLINE_BYTES: usize = 14;

/// Where a blob's contents are: their length when they are inline, or one of these.
const PAYLOAD: u8 = 16;
const OBJECT: u8 = 17;

/// The slot of a [`Blob`].
#[doc(hidden)]
#[repr(C, align(8))]
pub struct BlobSlot<A> {
    /// Not plain bytes, which would not carry the provenance of a pointer from place to place.
    data: [MaybeUninit<u8>; INLINE_BYTES],
    tag: u8,
    form: u8,
    object: PhantomData<fn() -> A>,
}

impl<A> Clone for BlobSlot<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for BlobSlot<A> {}

impl<A: Send + Sync + 'static> Blob<A> {
    /// The most bytes that are kept in the leaf.
    pub const INLINE: usize = INLINE_BYTES;

    /// The most bytes that a blob can have.
    pub const MAX: usize = u32::MAX as usize - HEADER;

    /// A blob of bytes, which are copied. Costs an allocation when there are more than
    /// [`Blob::INLINE`].
    ///
    /// # Panics
    /// If there are more than [`Blob::MAX`] bytes.
    pub fn bytes(tag: u8, bytes: &[u8]) -> Self {
        if bytes.len() > INLINE_BYTES {
            return Self::pointing(tag, PAYLOAD, Block::of_bytes(bytes));
        }
        let mut data = [MaybeUninit::new(0); INLINE_BYTES];
        // SAFETY: they fit, and a new array overlaps nothing.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), data.as_mut_ptr().cast(), bytes.len());
        }
        Self::from_slot(data, tag, bytes.len() as u8)
    }

    /// A blob of the first `length` of these bytes, which stay in the leaf: [`bytes`](Self::bytes) without
    /// a copy of unknown length, for what is written all the time.
    ///
    /// # Panics
    /// If `length` is more than 8.
    #[inline]
    pub fn short(tag: u8, bytes: [u8; 8], length: usize) -> Self {
        assert!(length <= bytes.len(), "a short blob has at most 8 bytes");
        let mut data = [MaybeUninit::new(0); INLINE_BYTES];
        data[..bytes.len()].copy_from_slice(&bytes.map(MaybeUninit::new));
        Self::from_slot(data, tag, length as u8)
    }

    /// A blob that is an object, dropped when the last reader is gone.
    pub fn object(tag: u8, object: A) -> Self {
        Self::owning(tag, object, 0)
    }

    /// As [`object`](Self::object), for one that holds `bytes` of memory elsewhere: they count in the
    /// store's [`Tally`](crate::Tally), up to 2^47, and hasten its reclamation.
    ///
    /// ```
    /// use echo_data_core::{Blob, OrderedStore};
    ///
    /// let store = OrderedStore::new();
    /// store.put(1, Blob::owning(0, vec![0_u8; 1 << 20], 1 << 20));
    /// assert!(store.info().memory.bytes > 1 << 20);
    /// ```
    pub fn owning(tag: u8, object: A, bytes: usize) -> Self {
        Self::pointing(tag, OBJECT, Block::of_value(object, bytes))
    }

    fn pointing(tag: u8, form: u8, block: Block) -> Self {
        let mut data = [MaybeUninit::new(0); INLINE_BYTES];
        // SAFETY: `data` is aligned to 8 in its slot only, so the write is unaligned; it has room.
        unsafe { data.as_mut_ptr().cast::<Block>().write_unaligned(block) };
        Self::from_slot(data, tag, form)
    }

    #[inline]
    fn from_slot(data: [MaybeUninit<u8>; INLINE_BYTES], tag: u8, form: u8) -> Self {
        Self {
            slot: BlobSlot {
                data,
                tag,
                form,
                object: PhantomData,
            },
        }
    }
}

impl<A> BlobSlot<A> {
    #[inline]
    fn block(&self) -> Option<Block> {
        // SAFETY: these forms are made by `pointing` alone, which wrote a block here.
        (self.form >= PAYLOAD)
            .then(|| unsafe { self.data.as_ptr().cast::<Block>().read_unaligned() })
    }
}

impl<A: Send + Sync + 'static> Slot for BlobSlot<A> {
    const HAS_PAYLOAD: bool = true;

    #[inline]
    fn payload(&self) -> Option<Block> {
        self.block()
    }
}

impl<A: Send + Sync + 'static> Value for Blob<A> {
    type Slot = BlobSlot<A>;
    type Ref<'a> = BlobRef<'a, A>;

    fn into_slot(self) -> BlobSlot<A> {
        let slot = self.slot;
        std::mem::forget(self);
        slot
    }

    #[inline]
    fn read(slot: &BlobSlot<A>) -> BlobRef<'_, A> {
        match slot.block() {
            None => {
                let inline = &slot.data[..slot.form as usize];
                // SAFETY: the form is the length of the bytes that `Blob::bytes` wrote here.
                let bytes = unsafe { &*(ptr::from_ref(inline) as *const [u8]) };
                BlobRef::Bytes(slot.tag, bytes)
            }
            Some(block) if slot.form == PAYLOAD => {
                // SAFETY: made by `Blob::bytes`; protected as `Value::read` says.
                BlobRef::Bytes(slot.tag, unsafe { block.as_bytes() })
            }
            // SAFETY: made by `Blob::object` as an `A`; protected as `Value::read` says.
            Some(block) => BlobRef::Object(slot.tag, unsafe { block.as_value() }),
        }
    }
}

impl<A> Drop for Blob<A> {
    fn drop(&mut self) {
        if let Some(block) = self.slot.block() {
            // SAFETY: not turned into a slot, so still ours alone.
            unsafe { block.free() };
        }
    }
}
