//! Values: what a store keeps beside a key.
//!
//! A leaf holds one slot a row, and slots are plain bits: path copying moves them without touching
//! what they stand for. A small `Copy` value *is* its slot; [`Boxed`], [`Blob`] and [`SlimBlob`] keep
//! a pointer to an immutable payload, which the store owns and frees once no reader can see it.
#![allow(unsafe_code)] // follows slots to the payloads that they own

mod blob;
mod slim;

pub use blob::{Blob, BlobRef};
pub use slim::SlimBlob;

use std::marker::PhantomData;

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

/// What can be stored: every `Copy` type, kept in the leaf itself, and the owners [`Boxed`], [`Blob`]
/// and [`SlimBlob`]. The trait is sealed; programs wrap their own types in [`Boxed`].
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
    impl<A> Sealed for super::SlimBlob<A> {}
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

/// A slot that stands in two indexes of one store: the one with `OWNER` owns its payload, the other
/// only names it.
#[derive(Clone, Copy)]
pub(crate) struct Shared<S, const OWNER: bool>(pub(crate) S);

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

/// Stages the values of a batch: sorted by key, of equal keys the last.
pub(crate) fn stage<K: Copy + Ord, V: Value>(
    rows: impl Iterator<Item = (K, V)>,
) -> Vec<(K, Staged<V>)> {
    let mut staged: Vec<_> = rows.map(|(key, value)| (key, Staged::new(value))).collect();
    staged.reverse();
    staged.sort_by_key(|&(key, _)| key);
    staged.dedup_by_key(|&mut (key, _)| key);
    staged
}
