//! Objects that live in the VM: terms refer to them, the VM counts who does and drops them after the last.
//!
//! As rustler's resources, but a type of object is found by a load instead of in a map of types, which
//! took 8 ns of every call.
#![allow(unsafe_code)] // allocates, counts and reads objects through the VM

use std::ffi::CStr;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

use rustler::sys::{
    c_void, enif_alloc_resource, enif_get_resource, enif_keep_resource, enif_make_resource,
    enif_monitor_process, enif_open_resource_type_x, enif_release_resource, ErlNifEnv,
    ErlNifMonitor, ErlNifPid, ErlNifResourceDown, ErlNifResourceDtor, ErlNifResourceFlags,
    ErlNifResourceType, ErlNifResourceTypeInit,
};
use rustler::{Encoder, Env, LocalPid, Term};

/// What can live in the VM.
pub(crate) trait Object: Sized + Send + Sync + 'static {
    /// The name of the type, which no other type of this library has.
    const NAME: &'static CStr;

    /// Where the type is kept: the same place for every call, and for no other type.
    fn kept() -> &'static Type<Self>;

    /// Runs when a process that this object watches has ended; see [`Ref::watch`].
    fn down(&self) {}
}

/// The VM's description of a type of objects.
pub(crate) struct Type<T> {
    description: AtomicPtr<ErlNifResourceType>,
    objects: PhantomData<fn() -> T>,
}

impl<T: Object> Type<T> {
    pub(crate) const fn new() -> Self {
        Self {
            description: AtomicPtr::new(ptr::null_mut()),
            objects: PhantomData,
        }
    }

    #[inline]
    fn description(&self) -> *const ErlNifResourceType {
        // Acquire: pairs with the Release in `open`.
        self.description.load(Ordering::Acquire)
    }
}

/// Opens the type of `T`; answers whether the VM did so. Called once, when the library is loaded.
pub(crate) fn open<T: Object>(env: Env<'_>) -> bool {
    let callbacks = ErlNifResourceTypeInit {
        dtor: drop_object::<T> as *const ErlNifResourceDtor,
        stop: ptr::null(),
        down: tell_object::<T> as *const ErlNifResourceDown,
    };
    let mut tried = ErlNifResourceFlags::ERL_NIF_RT_CREATE;
    // SAFETY: the name ends with a NUL, and the VM copies it and the callbacks.
    let opened = unsafe {
        enif_open_resource_type_x(
            env.as_c_arg(),
            T::NAME.as_ptr(),
            &callbacks,
            ErlNifResourceFlags::ERL_NIF_RT_CREATE,
            &mut tried,
        )
    };
    // Release: pairs with the Acquire in `description`.
    let kept = &T::kept().description;
    kept.store(opened.cast_mut(), Ordering::Release);
    !opened.is_null()
}

/// # Safety
/// Called by the VM, once, for an object that `Ref::new` made as a `T`.
unsafe extern "C" fn drop_object<T: Object>(_env: *mut ErlNifEnv, object: *mut c_void) {
    // A panic must not unwind into the VM; the panic hook has reported it.
    // SAFETY: the VM has no other reference to the object any more.
    let dropped = AssertUnwindSafe(|| unsafe { ptr::drop_in_place(object.cast::<T>()) });
    let _reported = catch_unwind(dropped);
}

/// # Safety
/// Called by the VM for an object that `Ref::new` made as a `T`.
unsafe extern "C" fn tell_object<T: Object>(
    _env: *mut ErlNifEnv,
    object: *mut c_void,
    _pid: *const ErlNifPid,
    _monitor: *const ErlNifMonitor,
) {
    // SAFETY: the VM keeps the object while it calls.
    let object = unsafe { &*object.cast::<T>() };
    let _reported = catch_unwind(AssertUnwindSafe(|| object.down()));
}

/// A counted reference.
pub(crate) struct Ref<T: Object>(NonNull<T>);

// SAFETY: objects can be used on every thread, and the VM counts references atomically.
unsafe impl<T: Object> Send for Ref<T> {}
// SAFETY: as above.
unsafe impl<T: Object> Sync for Ref<T> {}

impl<T: Object> Ref<T> {
    /// Gives `object` to the VM.
    pub(crate) fn new(object: T) -> Self {
        const {
            assert!(
                align_of::<T>() <= align_of::<u64>(),
                "the VM aligns to a word"
            )
        };
        // SAFETY: the type was opened when the library was loaded; the allocation has room for a `T`,
        // is aligned to a word, and nobody else knows it yet.
        unsafe {
            let place = enif_alloc_resource(T::kept().description(), size_of::<T>());
            let place = NonNull::new(place).expect("the VM ends when memory does");
            let place = place.cast::<T>();
            place.write(object);
            Self(place)
        }
    }

    /// The object of a term, counted.
    pub(crate) fn from_term(term: Term<'_>) -> Option<Self> {
        find(term).map(Borrow::keep)
    }

    /// Has the VM call [`Object::down`] when the process has ended; answers whether it will. It does not
    /// when the process has ended already.
    pub(crate) fn watch(&self, env: Env<'_>, process: LocalPid) -> bool {
        let mut monitor = MaybeUninit::<ErlNifMonitor>::uninit();
        // SAFETY: the type has the callback; `env` is the environment of the calling process.
        let answer = unsafe {
            enif_monitor_process(
                env.as_c_arg(),
                self.raw(),
                process.as_c_arg(),
                monitor.as_mut_ptr(),
            )
        };
        answer == 0
    }

    #[inline]
    pub(crate) fn borrow(&self) -> Borrow<'_, T> {
        Borrow(self.0, PhantomData)
    }

    fn raw(&self) -> *const c_void {
        self.0.as_ptr().cast_const().cast()
    }
}

impl<T: Object> Deref for Ref<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: made by `new`, and counted here.
        unsafe { self.0.as_ref() }
    }
}

impl<T: Object> Clone for Ref<T> {
    fn clone(&self) -> Self {
        self.borrow().keep()
    }
}

impl<T: Object> Drop for Ref<T> {
    fn drop(&mut self) {
        // SAFETY: gives back the counted reference.
        unsafe { enif_release_resource(self.raw()) };
    }
}

impl<T: Object> Encoder for Ref<T> {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        // SAFETY: the object is counted here, and the new term counts it, too.
        unsafe { Term::new(env, enif_make_resource(env.as_c_arg(), self.raw())) }
    }
}

/// An object that a term or a [`Ref`] keeps alive.
pub(crate) struct Borrow<'a, T>(NonNull<T>, PhantomData<&'a T>);

impl<T> Clone for Borrow<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Borrow<'_, T> {}

impl<T: Object> Borrow<'_, T> {
    /// A counted reference.
    pub(crate) fn keep(self) -> Ref<T> {
        // SAFETY: the object is alive, since somebody counts it for as long as this borrows.
        unsafe { enif_keep_resource(self.0.as_ptr().cast_const().cast()) };
        Ref(self.0)
    }
}

impl<T: Object> Deref for Borrow<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: alive as in `keep`, and objects are only ever shared.
        unsafe { self.0.as_ref() }
    }
}

/// The object of a term, if it is a `T`.
#[inline]
pub(crate) fn find<T: Object>(term: Term<'_>) -> Option<Borrow<'_, T>> {
    let mut object = MaybeUninit::<*const c_void>::uninit();
    // SAFETY: the type was opened when the library was loaded; the VM writes the object's address when
    // its type is this one. A term keeps its object for as long as its environment lives.
    unsafe {
        let found = enif_get_resource(
            term.get_env().as_c_arg(),
            term.as_c_arg(),
            T::kept().description(),
            object.as_mut_ptr(),
        );
        (found != 0)
            .then(|| NonNull::new(object.assume_init().cast_mut().cast::<T>()))
            .flatten()
            .map(|object| Borrow(object, PhantomData))
    }
}
