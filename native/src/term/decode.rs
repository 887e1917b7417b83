//! From bytes to terms.
#![allow(unsafe_code)] // builds terms from raw words that are all of one environment

use echo_data_core::BlobRef;
use rustler::sys::{enif_make_double, enif_make_int64, enif_make_new_binary, ErlNifTerm};
use rustler::{Env, Term};
use smallvec::SmallVec;

use super::shared::Shared;
use super::*;
use crate::timeslice;

/// Terms that wait for their container, without an allocation for a map of up to 32 keys.
type Stack = SmallVec<[ErlNifTerm; 64]>;

/// The term that `encode` was given. O(its size); about 10 ns a leaf.
#[inline]
pub(crate) fn decode<'a>(env: Env<'a>, value: BlobRef<'_, Shared>) -> Term<'a> {
    let (mut operation, input, shared) = match value {
        BlobRef::Bytes(first, rest) => (first, rest, None),
        BlobRef::Object(first, shared) => (first, shared.bytes(), Some(shared)),
    };
    timeslice::report_bytes(env, input.len());
    let mut machine = Machine {
        env,
        input,
        shared,
        stack: Stack::new(),
    };
    loop {
        let term = machine.perform(operation);
        let Some((&next, input)) = machine.input.split_first() else {
            // SAFETY: made in `env` just now.
            return unsafe { Term::new(env, term) };
        };
        machine.stack.push(term);
        (operation, machine.input) = (next, input);
    }
}

struct Machine<'a, 'v> {
    env: Env<'a>,
    input: &'v [u8],
    shared: Option<&'v Shared>,
    stack: Stack,
}

impl Machine<'_, '_> {
    #[inline]
    fn perform(&mut self, operation: u8) -> ErlNifTerm {
        let env = self.env;
        match operation {
            SMALL..=0xFF => integer(env, i64::from(operation - SMALL)),
            SHORT_BINARY..SMALL => self.binary(usize::from(operation - SHORT_BINARY)),
            SHORT_MAP..SHORT_BINARY => self.map(usize::from(operation - SHORT_MAP)),
            SHORT_TUPLE..SHORT_MAP => self.tuple(usize::from(operation - SHORT_TUPLE)),
            // SAFETY: `encode` took the word from an atom; so below.
            ATOM32 => unsafe { build::atom(u64::from(u32::from_le_bytes(self.array()))) },
            // SAFETY: as above.
            ATOM64 => unsafe { build::atom(u64::from_le_bytes(self.array())) },
            INT8 => integer(env, i64::from(i8::from_le_bytes(self.array()))),
            INT16 => integer(env, i64::from(i16::from_le_bytes(self.array()))),
            INT32 => integer(env, i64::from(i32::from_le_bytes(self.array()))),
            INT64 => integer(env, i64::from_le_bytes(self.array())),
            _ => self.perform_rare(operation),
        }
    }

    fn perform_rare(&mut self, operation: u8) -> ErlNifTerm {
        let env = self.env;
        match operation {
            FLOAT => float(env, f64::from_bits(u64::from_le_bytes(self.array()))),
            // SAFETY: no terms.
            NIL => unsafe { build::list(env, &[]) },
            BINARY => {
                let length = self.count();
                self.binary(length)
            }
            EXTERNAL => self.external(),
            LIST => self.list(),
            IMPROPER => self.improper_list(),
            TUPLE => {
                let count = self.count();
                self.tuple(count)
            }
            MAP => {
                let count = self.count();
                self.map(count)
            }
            _ => unreachable!("only `encode` writes operations"),
        }
    }

    #[inline]
    fn binary(&mut self, length: usize) -> ErlNifTerm {
        let bytes = self.take(length);
        match self.shared {
            Some(shared) if length > COPIED => shared.binary(self.env, bytes),
            _ => copied(self.env, bytes),
        }
    }

    fn external(&mut self) -> ErlNifTerm {
        let length = self.count();
        let bytes = self.take(length);
        // SAFETY: written by the VM's own encoder in this VM, so trusted. All its atoms exist.
        let decoded = unsafe { self.env.binary_to_term_trusted(bytes) };
        let (term, _) = decoded.expect("the VM reads what it wrote");
        term.as_c_arg()
    }

    #[inline]
    fn tuple(&mut self, count: usize) -> ErlNifTerm {
        let first = self.stack.len() - count;
        // SAFETY: everything on the stack was made in this environment; so below.
        let tuple = unsafe { build::tuple(self.env, &self.stack[first..]) };
        self.stack.truncate(first);
        tuple
    }

    #[inline]
    fn map(&mut self, count: usize) -> ErlNifTerm {
        let first = self.stack.len() - 2 * count;
        let (keys, values) = self.stack[first..].split_at(count);
        // SAFETY: as in `tuple`.
        let map = unsafe { build::map(self.env, keys, values) };
        self.stack.truncate(first);
        map.expect("the keys of a map differ")
    }

    fn list(&mut self) -> ErlNifTerm {
        let first = self.stack.len() - self.count();
        // SAFETY: as in `tuple`.
        let list = unsafe { build::list(self.env, &self.stack[first..]) };
        self.stack.truncate(first);
        list
    }

    fn improper_list(&mut self) -> ErlNifTerm {
        let tail = self.stack.pop().expect("an improper list has a tail");
        let first = self.stack.len() - self.count();
        // SAFETY: as in `tuple`.
        let list = unsafe { build::improper_list(self.env, &self.stack[first..], tail) };
        self.stack.truncate(first);
        list
    }
}

impl<'v> Machine<'_, 'v> {
    #[inline]
    fn take(&mut self, length: usize) -> &'v [u8] {
        let (taken, rest) = self.input.split_at(length);
        self.input = rest;
        taken
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self
            .input
            .split_first_chunk()
            .expect("an operation has its operands");
        self.input = rest;
        *taken
    }

    fn count(&mut self) -> usize {
        let (count, rest) = count(self.input);
        self.input = rest;
        count
    }
}

#[inline]
fn integer(env: Env<'_>, integer: i64) -> ErlNifTerm {
    // SAFETY: the environment is live.
    unsafe { enif_make_int64(env.as_c_arg(), integer) }
}

fn float(env: Env<'_>, float: f64) -> ErlNifTerm {
    // SAFETY: the environment is live; the bits were of a float of the VM, so it is finite.
    unsafe { enif_make_double(env.as_c_arg(), float) }
}

#[inline]
fn copied(env: Env<'_>, bytes: &[u8]) -> ErlNifTerm {
    let mut term = std::mem::MaybeUninit::uninit();
    // SAFETY: the VM answers room for this many bytes, or ends, and writes the term.
    unsafe {
        let room = enif_make_new_binary(env.as_c_arg(), bytes.len(), term.as_mut_ptr());
        room.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        term.assume_init()
    }
}
