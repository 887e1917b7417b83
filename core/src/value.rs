//! Values: what a store keeps beside a key.
//!
//! A leaf holds one slot a row, and slots are plain bits: path copying moves them without touching
//! what they stand for. A small `Copy` value *is* its slot; [`Boxed`] and [`Blob`] keep a pointer to
//! an immutable payload, which the store owns and frees once no reader can see it.
#![allow(unsafe_code)] // follows slots to the payloads that they own

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use crate::publish::{Block, Edit, ALIGN};

/// The bits of a value in a leaf.
pub trait Slot: Copy + Send + Sync + 'static {
    /// Whether any slot of this type has a payload.
    #[doc(hidden)]
    const HAS_PAYLOAD: bool;

    /// The payload that this slot owns.
    #[doc(hidden)]
    fn payload(&self) -> Option<Block>;
}

/// What can be stored: every `Copy` type, kept in the leaf itself, and the owners [`Boxed`] and
/// [`Blob`]. The trait is sealed; programs wrap their own types in [`Boxed`].
pub trait Value: sealed::Sealed + Send + Sync + Sized + 'static {
    #[doc(hidden)]
    type Slot: Slot;

    /// What a reader gets: a reference that is valid while the view that it came from is.
    type Ref<'a>: Copy;

    /// Turns the value into a slot that owns it.
    #[doc(hidden)]
    fn into_slot(self) -> Self::Slot;

    /// Reads a slot. The reference to the slot comes from a protected leaf, or from a copy that does
    /// not outlive the leaf's protection; both protect the payload too.
    #[doc(hidden)]
    fn read(slot: &Self::Slot) -> Self::Ref<'_>;
}

/// Keeps [`Value`] to this module: a slot that got out of a store could be read after its payload is
/// freed.
mod sealed {
    pub trait Sealed {}

    impl<T: Copy + Send + Sync + 'static> Sealed for T {}
    impl<T> Sealed for super::Boxed<T> {}
    impl<A> Sealed for super::Blob<A> {}
}

/// A slot that is the value.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Inline<T>(pub(crate) T);

impl<T: Copy + Send + Sync + 'static> Slot for Inline<T> {
    const HAS_PAYLOAD: bool = false;

    #[inline]
    fn payload(&self) -> Option<Block> {
        None
    }
}

impl<T: Copy + Send + Sync + 'static> Value for T {
    type Slot = Inline<T>;
    type Ref<'a> = &'a T;

    fn into_slot(self) -> Inline<T> {
        const {
            assert!(
                align_of::<T>() <= ALIGN,
                "values are aligned to 16 bytes at most"
            )
        };
        Inline(self)
    }

    #[inline]
    fn read(slot: &Inline<T>) -> &T {
        &slot.0
    }
}

/// A value of any type, kept behind one pointer and dropped once no reader can see it, on whichever
/// thread finds that out. A destructor that panics is reported by the panic hook and goes no further.
#[derive(Debug)]
pub struct Boxed<T>(pub T);

/// The slot of a [`Boxed`].
#[doc(hidden)]
pub struct BoxedSlot<T>(Block, PhantomData<fn() -> T>);

impl<T> Clone for BoxedSlot<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for BoxedSlot<T> {}

impl<T: Send + Sync + 'static> Slot for BoxedSlot<T> {
    const HAS_PAYLOAD: bool = true;

    #[inline]
    fn payload(&self) -> Option<Block> {
        Some(self.0)
    }
}

impl<T: Send + Sync + 'static> Value for Boxed<T> {
    type Slot = BoxedSlot<T>;
    type Ref<'a> = &'a T;

    fn into_slot(self) -> BoxedSlot<T> {
        BoxedSlot(Block::of_value(self.0, 0), PhantomData)
    }

    #[inline]
    fn read(slot: &BoxedSlot<T>) -> &T {
        // SAFETY: made by `into_slot` as a `T`; protected as `Value::read` says.
        unsafe { slot.0.as_value() }
    }
}

/// Tagged bytes of any length, or an object of type `A`: for values whose type is known only when the
/// program runs. Up to [`Blob::INLINE`] bytes stay in the leaf, more go behind a pointer.
///
/// The tag is the caller's: it comes back with the bytes.
pub struct Blob<A = ()> {
    slot: BlobSlot<A>,
}

/// What a reader sees of a [`Blob`].
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
    pub const MAX: usize = u32::MAX as usize - crate::publish::HEADER;

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

    /// A blob that is an object, dropped when the last reader is gone.
    pub fn object(tag: u8, object: A) -> Self {
        Self::owning(tag, object, 0)
    }

    /// As [`object`](Self::object), for one that holds `bytes` of memory elsewhere: they count in the
    /// store's [`Tally`](crate::Tally), and hasten its reclamation.
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

/// A slot that stands in two indexes of one store: the one with `OWNER` owns its payload, the other
/// only names it.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Shared<S, const OWNER: bool>(pub(crate) S);

impl<S: Slot, const OWNER: bool> Slot for Shared<S, OWNER> {
    const HAS_PAYLOAD: bool = OWNER && S::HAS_PAYLOAD;

    #[inline]
    fn payload(&self) -> Option<Block> {
        if OWNER {
            self.0.payload()
        } else {
            None
        }
    }
}

/// A value on its way into a store: its payload is freed unless the change is published.
pub(crate) struct Staged<V: Value> {
    slot: V::Slot,
}

impl<V: Value> Staged<V> {
    pub(crate) fn new(value: V) -> Self {
        Self {
            slot: value.into_slot(),
        }
    }

    /// The slot to be written by this attempt.
    #[inline]
    pub(crate) fn enter(&self, edit: &mut Edit) -> V::Slot {
        if let Some(payload) = self.slot.payload() {
            edit.adopt(payload);
        }
        self.slot
    }

    /// The change was published: the store owns the value now.
    pub(crate) fn commit(self) {
        std::mem::forget(self);
    }
}

impl<V: Value> Drop for Staged<V> {
    fn drop(&mut self) {
        if let Some(payload) = self.slot.payload() {
            // SAFETY: never published, so still ours alone.
            unsafe { payload.free() };
        }
    }
}
