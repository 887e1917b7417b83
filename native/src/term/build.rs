//! Terms from their parts, and parts of terms, without the intermediate vectors of the safe builders.
#![allow(unsafe_code)] // calls the VM's term constructors

use rustler::sys::{
    enif_get_tuple, enif_make_list_cell, enif_make_list_from_array, enif_make_map_from_arrays,
    enif_make_map_put, enif_make_new_map, enif_make_tuple_from_array, ErlNifTerm,
};
use rustler::{Env, Term};

/// The word of a term: for an atom or a pid of this VM, its identity.
#[inline]
pub(crate) fn word(term: ErlNifTerm) -> u64 {
    // SAFETY: `ErlNifTerm` is a transparent wrapper of the VM's word.
    let word: usize = unsafe { std::mem::transmute(term) };
    word as u64
}

/// The atom of a word.
///
/// # Safety
/// The word was taken from an atom of this VM.
#[inline]
pub(super) unsafe fn atom(word: u64) -> ErlNifTerm {
    // SAFETY: as in `word`; atoms are immediate and live as long as the VM.
    unsafe { std::mem::transmute(word as usize) }
}

/// `{first, second}`.
#[inline]
pub(crate) fn pair<'a>(env: Env<'a>, first: Term<'a>, second: Term<'a>) -> Term<'a> {
    // SAFETY: both terms are of `env`.
    unsafe { Term::new(env, tuple(env, &[first.as_c_arg(), second.as_c_arg()])) }
}

/// `{first, second, third}`.
#[inline]
pub(crate) fn triple<'a>(
    env: Env<'a>,
    first: Term<'a>,
    second: Term<'a>,
    third: Term<'a>,
) -> Term<'a> {
    let elements = [first.as_c_arg(), second.as_c_arg(), third.as_c_arg()];
    // SAFETY: all terms are of `env`.
    unsafe { Term::new(env, tuple(env, &elements)) }
}

/// The elements of a tuple, if it has so many.
#[inline]
pub(crate) fn elements<const N: usize>(tuple: Term<'_>) -> Option<[Term<'_>; N]> {
    let env = tuple.get_env();
    let (mut arity, mut elements) = (0, std::ptr::null());
    // SAFETY: the VM answers 0 for what is no tuple; else it writes how many elements there are, and where,
    // and they stay there for the whole call.
    unsafe {
        let found = enif_get_tuple(env.as_c_arg(), tuple.as_c_arg(), &mut arity, &mut elements);
        (found != 0 && arity as usize == N)
            .then(|| std::array::from_fn(|at| Term::new(env, *elements.add(at))))
    }
}

/// `[head | tail]`.
#[inline]
pub(crate) fn cell<'a>(env: Env<'a>, head: Term<'a>, tail: Term<'a>) -> Term<'a> {
    // SAFETY: both terms are of `env`.
    unsafe {
        let list = enif_make_list_cell(env.as_c_arg(), head.as_c_arg(), tail.as_c_arg());
        Term::new(env, list)
    }
}

/// # Safety
/// Here and below: the terms are of `env`.
#[inline]
pub(super) unsafe fn tuple(env: Env<'_>, elements: &[ErlNifTerm]) -> ErlNifTerm {
    // SAFETY: the array has as many terms as it says.
    unsafe { enif_make_tuple_from_array(env.as_c_arg(), elements.as_ptr(), elements.len() as u32) }
}

/// # Safety
/// As [`tuple`].
pub(super) unsafe fn list(env: Env<'_>, elements: &[ErlNifTerm]) -> ErlNifTerm {
    // SAFETY: as in `tuple`.
    unsafe { enif_make_list_from_array(env.as_c_arg(), elements.as_ptr(), elements.len() as u32) }
}

/// `[elements | tail]`.
///
/// # Safety
/// As [`tuple`].
pub(super) unsafe fn improper_list(
    env: Env<'_>,
    elements: &[ErlNifTerm],
    tail: ErlNifTerm,
) -> ErlNifTerm {
    let prepend = |tail, &head| {
        // SAFETY: as in `tuple`.
        unsafe { enif_make_list_cell(env.as_c_arg(), head, tail) }
    };
    elements.iter().rev().fold(tail, prepend)
}

/// A map of up to so many pairs is sooner made pair by pair: 20 ns each, and 60 for arrays of any length.
const PAIR_BY_PAIR: usize = 2;

/// `None` when two of many keys are the same; of few the last counts.
///
/// # Safety
/// As [`tuple`].
#[inline]
pub(super) unsafe fn map(
    env: Env<'_>,
    keys: &[ErlNifTerm],
    values: &[ErlNifTerm],
) -> Option<ErlNifTerm> {
    assert_eq!(keys.len(), values.len(), "a map has a value for every key");
    if keys.len() > PAIR_BY_PAIR {
        // SAFETY: as the caller says.
        return unsafe { map_of_arrays(env, keys, values) };
    }
    // SAFETY: an empty map of `env`.
    let empty = unsafe { enif_make_new_map(env.as_c_arg()) };
    let put = |map, (&key, &value)| {
        let mut larger = map;
        // SAFETY: `map` is a map of `env`, made here; the terms are as the caller says.
        unsafe { enif_make_map_put(env.as_c_arg(), map, key, value, &mut larger) };
        larger
    };
    let map = keys.iter().zip(values).fold(empty, put);
    Some(map)
}

/// # Safety
/// As [`tuple`]; the arrays are of one length.
unsafe fn map_of_arrays(
    env: Env<'_>,
    keys: &[ErlNifTerm],
    values: &[ErlNifTerm],
) -> Option<ErlNifTerm> {
    let mut map = std::mem::MaybeUninit::uninit();
    // SAFETY: both arrays have this many terms; the map is written when the answer is not 0.
    unsafe {
        let made = enif_make_map_from_arrays(
            env.as_c_arg(),
            keys.as_ptr(),
            values.as_ptr(),
            keys.len(),
            map.as_mut_ptr(),
        );
        (made != 0).then(|| map.assume_init())
    }
}
