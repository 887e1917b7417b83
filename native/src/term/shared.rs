//! Bytes that a store and the processes of the VM hold together.
#![allow(unsafe_code)] // a resource of bytes: allocated, counted and read through the VM

use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

use rustler::sys::{
    c_void, enif_alloc_resource, enif_make_resource_binary, enif_open_resource_type_x,
    enif_release_resource, enif_sizeof_resource, ErlNifResourceFlags, ErlNifResourceType,
    ErlNifResourceTypeInit, ErlNifTerm,
};
use rustler::Env;

/// The type of these resources. It has no destructor, so the last holder frees the bytes wherever it
/// is, without a detour over a scheduler.
static TYPE: AtomicPtr<ErlNifResourceType> = AtomicPtr::new(ptr::null_mut());

/// Opens the resource type; answers whether the VM did so. Called once, when the library is loaded.
pub(crate) fn open_type(env: Env<'_>) -> bool {
    let callbacks = ErlNifResourceTypeInit {
        dtor: ptr::null(),
        stop: ptr::null(),
        down: ptr::null(),
    };
    let mut tried = ErlNifResourceFlags::ERL_NIF_RT_CREATE;
    // SAFETY: the name ends with a NUL, and the VM copies it and the callbacks.
    let opened = unsafe {
        enif_open_resource_type_x(
            env.as_c_arg(),
            c"echo_data_shared_bytes".as_ptr(),
            &callbacks,
            ErlNifResourceFlags::ERL_NIF_RT_CREATE,
            &mut tried,
        )
    };
    // Release: pairs with the Acquire in `Shared::new`.
    TYPE.store(opened.cast_mut(), Ordering::Release);
    !opened.is_null()
}

/// Immutable bytes, freed with their last holder: the store, or a binary that was read from it.
pub(crate) struct Shared(NonNull<c_void>);

// SAFETY: the bytes are immutable, and the VM counts their holders atomically.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Shares a copy of `bytes`.
    pub(super) fn new(bytes: &[u8]) -> Self {
        // Acquire: pairs with the Release in `open_type`.
        let kind = TYPE.load(Ordering::Acquire);
        // SAFETY: the type was opened when the library was loaded; the allocation is of this size and
        // has no other holder yet.
        unsafe {
            let object = enif_alloc_resource(kind, bytes.len());
            let object = NonNull::new(object).expect("the VM ends when memory does");
            ptr::copy_nonoverlapping(bytes.as_ptr(), object.as_ptr().cast(), bytes.len());
            Self(object)
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: all bytes were written by `new`, and are never written again.
        unsafe {
            let length = enif_sizeof_resource(self.0.as_ptr());
            std::slice::from_raw_parts(self.0.as_ptr().cast(), length)
        }
    }

    /// A binary that is part of these bytes and keeps all of them alive.
    ///
    /// # Panics
    /// If `part` is not a part of these bytes.
    pub(super) fn binary(&self, env: Env<'_>, part: &[u8]) -> ErlNifTerm {
        let (all, part) = (self.bytes().as_ptr_range(), part.as_ptr_range());
        assert!(all.start <= part.start && part.end <= all.end);
        let length = part.end as usize - part.start as usize;
        // SAFETY: the part lives as long as the object, which the new binary holds.
        unsafe {
            enif_make_resource_binary(env.as_c_arg(), self.0.as_ptr(), part.start.cast(), length)
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: gives back the holding that `new` began with.
        unsafe { enif_release_resource(self.0.as_ptr()) };
    }
}
