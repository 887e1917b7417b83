//! Tagged bytes or an object, in one word.
#![allow(unsafe_code)] // keeps a pointer among bytes, and follows it to the payload

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use smallvec::SmallVec;

use crate::publish::{Block, Kind, ALIGN};

use super::{Blob, BlobRef, Slot, Value};

/// Tagged bytes of any length, or an object of type `A`, as a [`Blob`] is, in 8 bytes of the leaf and not
/// 16: for values that are mostly small and many, as the props of edges, which stand in two indexes. Up to
/// [`SlimBlob::INLINE`] bytes stay in the leaf, more go behind a pointer.
///
/// ```
/// use echo_data_core::{BlobRef, EdgeStore, SlimBlob};
///
/// let holds: EdgeStore<SlimBlob> = EdgeStore::new();
/// holds.link(1, 7, SlimBlob::bytes(0, b"4 lots"));
/// assert_eq!(holds.view().to(7).get(1), Some(BlobRef::Bytes(0, b"4 lots")));
/// ```
pub struct SlimBlob<A = ()> {
    slot: SlimSlot<A>,
}

const WORD: usize = 8;
const INLINE_BYTES: usize = WORD - 2;

/// Where what is inline stands in the word. The form, twice the length and one, is where a pointer has its
/// lowest bits: they are zero, since a block is aligned, and the form is odd.
const LITTLE: bool = cfg!(target_endian = "little");
const FORM: usize = if LITTLE { 0 } else { WORD - 1 };
const TAG: usize = if LITTLE { 1 } else { WORD - 2 };
const BYTES: usize = if LITTLE { 2 } else { 0 };
/// Where a pointer stands.
const POINTER: usize = if LITTLE { 0 } else { WORD - size_of::<Block>() };

const _: () = assert!(size_of::<Block>() <= WORD && ALIGN > 1);

/// The slot of a [`SlimBlob`].
#[doc(hidden)]
#[repr(C, align(8))]
pub struct SlimSlot<A> {
    /// Not plain bytes, which would not carry the provenance of a pointer from place to place.
    word: [MaybeUninit<u8>; WORD],
    object: PhantomData<fn() -> A>,
}

impl<A> Clone for SlimSlot<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for SlimSlot<A> {}

/// What the payload of an object holds.
struct Tagged<A> {
    tag: u8,
    object: A,
}

impl<A: Send + Sync + 'static> SlimBlob<A> {
    /// The most bytes that are kept in the leaf.
    pub const INLINE: usize = INLINE_BYTES;

    /// The most bytes that a slim blob can have.
    pub const MAX: usize = Blob::<A>::MAX - 1;

    /// A slim blob of bytes, which are copied. Costs an allocation when there are more than
    /// [`SlimBlob::INLINE`].
    ///
    /// # Panics
    /// If there are more than [`SlimBlob::MAX`] bytes.
    pub fn bytes(tag: u8, bytes: &[u8]) -> Self {
        if bytes.len() > INLINE_BYTES {
            let mut tagged: SmallVec<[u8; 128]> = SmallVec::with_capacity(1 + bytes.len());
            tagged.push(tag);
            tagged.extend_from_slice(bytes);
            return Self::pointing(Block::of_bytes(&tagged));
        }
        let mut word = [0; WORD];
        word[FORM] = (bytes.len() as u8) << 1 | 1;
        word[TAG] = tag;
        word[BYTES..][..bytes.len()].copy_from_slice(bytes);
        Self::of_word(word.map(MaybeUninit::new))
    }

    /// A slim blob that is an object, dropped when the last reader is gone.
    pub fn object(tag: u8, object: A) -> Self {
        Self::owning(tag, object, 0)
    }

    /// As [`object`](Self::object), for one that holds `bytes` of memory elsewhere; see [`Blob::owning`].
    pub fn owning(tag: u8, object: A, bytes: usize) -> Self {
        Self::pointing(Block::of_value(Tagged { tag, object }, bytes))
    }

    fn pointing(block: Block) -> Self {
        let mut word = [MaybeUninit::new(0); WORD];
        // SAFETY: the word has room for a pointer there.
        unsafe {
            let place = word.as_mut_ptr().add(POINTER).cast::<Block>();
            place.write_unaligned(block);
        }
        Self::of_word(word)
    }

    fn of_word(word: [MaybeUninit<u8>; WORD]) -> Self {
        let object = PhantomData;
        Self {
            slot: SlimSlot { word, object },
        }
    }
}

impl<A> SlimSlot<A> {
    /// The bytes of the word from `at` on, `len` of them.
    #[inline]
    fn part(&self, at: usize, len: usize) -> &[u8] {
        let part = &self.word[at..at + len];
        // SAFETY: `bytes` and `pointing` initialise the whole word; read as bytes, those of a pointer
        // only lose what makes them one.
        unsafe { &*(ptr::from_ref(part) as *const [u8]) }
    }

    #[inline]
    fn form(&self) -> u8 {
        self.part(FORM, 1)[0]
    }

    #[inline]
    fn block(&self) -> Option<Block> {
        // SAFETY: a form that is even is of `pointing`, which wrote a block here.
        self.form().is_multiple_of(2).then(|| unsafe {
            let place = self.word.as_ptr().add(POINTER).cast::<Block>();
            place.read_unaligned()
        })
    }
}

impl<A: Send + Sync + 'static> Slot for SlimSlot<A> {
    const HAS_PAYLOAD: bool = true;

    #[inline]
    fn payload(&self) -> Option<Block> {
        self.block()
    }
}

impl<A: Send + Sync + 'static> Value for SlimBlob<A> {
    type Slot = SlimSlot<A>;
    type Ref<'a> = BlobRef<'a, A>;

    fn into_slot(self) -> SlimSlot<A> {
        let slot = self.slot;
        std::mem::forget(self);
        slot
    }

    #[inline]
    fn read(slot: &SlimSlot<A>) -> BlobRef<'_, A> {
        let Some(block) = slot.block() else {
            let length = usize::from(slot.form() >> 1);
            return BlobRef::Bytes(slot.part(TAG, 1)[0], slot.part(BYTES, length));
        };
        if block.kind() == Kind::Payload {
            // SAFETY: a payload of bytes is made by `SlimBlob::bytes`; protected as `Value::read` says.
            let tagged = unsafe { block.as_bytes() };
            return BlobRef::Bytes(tagged[0], &tagged[1..]);
        }
        // SAFETY: any other is made by `SlimBlob::owning` as this; protected as `Value::read` says.
        let tagged: &Tagged<A> = unsafe { block.as_value() };
        BlobRef::Object(tagged.tag, &tagged.object)
    }
}

impl<A> Drop for SlimBlob<A> {
    fn drop(&mut self) {
        if let Some(block) = self.slot.block() {
            // SAFETY: not turned into a slot, so still ours alone.
            unsafe { block.free() };
        }
    }
}
