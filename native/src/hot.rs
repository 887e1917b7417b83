//! NIFs on the hot path: as `#[rustler::nif]`, without the list of arguments that it allocates and the
//! wide result that it passes on. Together they are a tenth of a call that takes 150 ns.
//!
//! A hot NIF takes its arguments as an array and answers a term or an error; panics are caught here as
//! rustler catches them.
#![allow(unsafe_code)] // is what the VM calls: takes raw terms

use std::panic::{catch_unwind, AssertUnwindSafe};

use rustler::codegen_runtime::{handle_nif_result, ErlNifEnv, ErlNifTerm};
use rustler::{Env, NifResult, Term};

/// Registers `$function` as the NIF `$name` with `$arity` arguments, on normal schedulers or where it is
/// said.
macro_rules! hot_nif {
    ($name:expr, $arity:literal, $function:expr) => {
        $crate::hot::hot_nif!($name, $arity, $function, Normal);
    };
    ($name:expr, $arity:literal, $function:expr, $schedulers:ident) => {
        rustler::codegen_runtime::inventory::submit! {
            rustler::Nif {
                name: concat!($name, "\0").as_ptr().cast(),
                arity: $arity,
                flags: rustler::SchedulerFlags::$schedulers as rustler::codegen_runtime::c_uint,
                raw_func: {
                    #[allow(unsafe_code)] // what the VM calls
                    unsafe extern "C" fn entry(
                        env: *mut rustler::codegen_runtime::ErlNifEnv,
                        _count: rustler::codegen_runtime::c_int,
                        arguments: *const rustler::codegen_runtime::ErlNifTerm,
                    ) -> rustler::codegen_runtime::ErlNifTerm {
                        // SAFETY: the VM calls a NIF with as many arguments as it is registered for.
                        unsafe { $crate::hot::call::<$arity>(env, arguments, $function) }
                    }
                    entry
                },
            }
        }
    };
}

pub(crate) use hot_nif;

/// Calls `nif`, and turns what it answers, or that it panicked, into what the VM expects.
///
/// # Safety
/// Called by the VM, with `N` arguments.
#[inline(always)]
pub(crate) unsafe fn call<const N: usize>(
    env: *mut ErlNifEnv,
    arguments: *const ErlNifTerm,
    nif: impl for<'a> Fn(Env<'a>, [Term<'a>; N]) -> NifResult<Term<'a>>,
) -> ErlNifTerm {
    let lifetime = ();
    // SAFETY: the VM's environment lives for this call, and so does `lifetime`.
    let env = unsafe { Env::new(&lifetime, env) };
    // SAFETY: there are `N` arguments, which are terms of this environment.
    let arguments = std::array::from_fn(|place| unsafe { Term::new(env, *arguments.add(place)) });
    match catch_unwind(AssertUnwindSafe(|| nif(env, arguments))) {
        Ok(Ok(term)) => term.as_c_arg(),
        // SAFETY: the answer goes straight back to the VM.
        outcome => unsafe { handle_nif_result(outcome, env).apply(env) },
    }
}
