//! A shared value that can be closed while others use it.
#![allow(unsafe_code)] // owns the value behind an atomic pointer

use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr;

use crate::publish::after_grace;
use crate::sync::{epoch, AtomicPtr, Ordering};

/// A value that is there until somebody closes it. Using and closing are wait-free.
///
/// Whoever opened it before the close goes on using it; whoever comes after gets nothing. The value is
/// dropped on the background thread once its last user is done.
///
/// ```
/// use echo_data_core::Closable;
///
/// let words = Closable::new(vec!["one", "two"]);
/// assert_eq!(words.open().unwrap().len(), 2);
/// assert!(words.close());
/// assert!(words.open().is_none());
/// assert!(!words.close());
/// ```
pub struct Closable<T: Send + Sync + 'static> {
    value: AtomicPtr<T>,
    owner: PhantomData<T>,
}

impl<T: Send + Sync + 'static> Closable<T> {
    /// Shares `value`.
    pub fn new(value: T) -> Self {
        Self {
            value: AtomicPtr::new(Box::into_raw(Box::new(value))),
            owner: PhantomData,
        }
    }

    /// The value, or `None` when it was closed. About 10 ns.
    ///
    /// It delays the freeing of memory in the whole process while it lives: keep it for one operation.
    #[inline]
    pub fn open(&self) -> Option<Open<'_, T>> {
        let guard = epoch::pin();
        // Acquire: pairs with the publication of the value by whoever shared this `Closable`, and keeps
        // reads of the value behind the look at the pointer.
        let value = self.value.load(Ordering::Acquire);
        // SAFETY: loaded under the guard; `close` frees it only after the guard is gone.
        unsafe { value.as_ref() }.map(|value| Open {
            value,
            _guard: guard,
        })
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.value.load(Ordering::Relaxed).is_null()
    }

    /// Closes it. Answers whether this call did.
    pub fn close(&self) -> bool {
        let guard = epoch::pin();
        // Release: what this thread did before the close is done for whoever finds it closed. Acquire:
        // the drop below sees the value as it was made.
        let value = self.value.swap(ptr::null_mut(), Ordering::AcqRel);
        if value.is_null() {
            return false;
        }
        let value = Closed(value);
        after_grace(&guard, move || drop(value));
        true
    }
}

/// The value after the close. It stays a plain pointer while others read through theirs: a box would
/// claim to be the only one.
struct Closed<T>(*mut T);

// SAFETY: it owns the value.
unsafe impl<T: Send> Send for Closed<T> {}

impl<T> Drop for Closed<T> {
    fn drop(&mut self) {
        // SAFETY: the close took the only owning pointer, and a grace period has passed since.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

impl<T: Send + Sync + 'static> Drop for Closable<T> {
    fn drop(&mut self) {
        // Relaxed: dropping is exclusive.
        let value = self.value.load(Ordering::Relaxed);
        if !value.is_null() {
            // SAFETY: not closed, so still owned here, and nobody borrows from `self` any more.
            drop(unsafe { Box::from_raw(value) });
        }
    }
}

impl<T: Send + Sync + 'static> std::fmt::Debug for Closable<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Closable")
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

/// A value that stays usable while this lives, closed or not.
pub struct Open<'a, T> {
    value: &'a T,
    _guard: epoch::Guard,
}

impl<T> Deref for Open<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.value
    }
}
