//! From terms to bytes.
#![allow(unsafe_code)] // walks tuples, lists and maps through the VM's own accessors

use std::mem::MaybeUninit;

use rustler::sys::*;
use rustler::{Binary, Term, TermType};
use smallvec::SmallVec;

use super::*;
use crate::refusal::Refusal;

/// What is still to be written, last first.
enum Work {
    Term(ErlNifTerm),
    /// A container whose operands have been written: its operations and its count.
    Close(Container, usize),
}

#[derive(Clone, Copy)]
enum Container {
    List,
    Improper,
    Tuple,
    Map,
}

/// The value of a term, for [`decode`](super::decode). O(its size), without recursion. Binaries are
/// copied, so that no part of a larger binary keeps the whole alive.
///
/// # Errors
/// Misuse, when the term is nested deeper than [`DEPTH`] or larger than a blob can be.
pub(crate) fn encode(term: Term<'_>) -> Result<Value, Refusal> {
    let mut encoder = Encoder {
        term,
        output: SmallVec::new(),
        work: SmallVec::new(),
        depth: 0,
        shares: false,
    };
    encoder.run()?;
    let (&first, rest) = encoder
        .output
        .split_first()
        .expect("every term has an operation");
    if rest.len() > Value::MAX {
        return Err(Refusal::Misuse("value must be smaller than 4 GiB".into()));
    }
    Ok(if encoder.shares {
        Value::object(first, Shared::new(rest))
    } else {
        Value::bytes(first, rest)
    })
}

struct Encoder<'a> {
    term: Term<'a>,
    output: SmallVec<[u8; 256]>,
    work: SmallVec<[Work; 32]>,
    depth: usize,
    /// Whether there is a binary that is to be read back without a copy.
    shares: bool,
}

impl<'a> Encoder<'a> {
    fn run(&mut self) -> Result<(), Refusal> {
        self.write(self.term)?;
        while let Some(work) = self.work.pop() {
            match work {
                Work::Term(term) => {
                    // SAFETY: a part of the term that is encoded.
                    self.write(unsafe { Term::new(self.term.get_env(), term) })?;
                }
                Work::Close(container, count) => {
                    self.depth -= 1;
                    self.close(container, count);
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, term: Term<'a>) -> Result<(), Refusal> {
        match term.get_type() {
            TermType::Integer => match term.decode() {
                Ok(integer) => self.integer(integer),
                Err(_) => self.external(term),
            },
            TermType::Atom => self.atom(build::word(term.as_c_arg())),
            TermType::Binary => match Binary::from_term(term) {
                Ok(binary) => self.binary(&binary),
                Err(_) => self.external(term),
            },
            TermType::Float => match term.decode::<f64>() {
                Ok(float) => self.fixed(FLOAT, &float.to_bits().to_le_bytes()),
                Err(_) => self.external(term),
            },
            TermType::Map => return self.open_map(term),
            TermType::Tuple => return self.open_tuple(term),
            TermType::List => return self.open_list(term),
            _ => self.external(term),
        }
        Ok(())
    }

    fn integer(&mut self, integer: i64) {
        if let 0..=0x7F = integer {
            self.output.push(SMALL + integer as u8);
        } else if let Ok(integer) = i8::try_from(integer) {
            self.fixed(INT8, &integer.to_le_bytes());
        } else if let Ok(integer) = i16::try_from(integer) {
            self.fixed(INT16, &integer.to_le_bytes());
        } else if let Ok(integer) = i32::try_from(integer) {
            self.fixed(INT32, &integer.to_le_bytes());
        } else {
            self.fixed(INT64, &integer.to_le_bytes());
        }
    }

    fn atom(&mut self, word: u64) {
        match u32::try_from(word) {
            Ok(word) => self.fixed(ATOM32, &word.to_le_bytes()),
            Err(_) => self.fixed(ATOM64, &word.to_le_bytes()),
        }
    }

    fn binary(&mut self, bytes: &[u8]) {
        if bytes.len() < SHORT_LENGTH {
            self.output.push(SHORT_BINARY + bytes.len() as u8);
        } else {
            self.output.push(BINARY);
            self.count(bytes.len());
        }
        self.shares |= bytes.len() > COPIED;
        self.output.extend_from_slice(bytes);
    }

    /// What has no form here: pids, references, functions, ports, large integers, odd bits.
    fn external(&mut self, term: Term<'a>) {
        let bytes = term.to_binary();
        self.output.push(EXTERNAL);
        self.count(bytes.len());
        self.output.extend_from_slice(&bytes);
    }

    fn open(&mut self, container: Container, count: usize) -> Result<(), Refusal> {
        if self.depth == DEPTH {
            let message = format!("value must not be nested deeper than {DEPTH}");
            return Err(Refusal::Misuse(message.into()));
        }
        self.depth += 1;
        self.work.push(Work::Close(container, count));
        Ok(())
    }

    fn close(&mut self, container: Container, count: usize) {
        let (long, short) = match container {
            Container::Tuple => (TUPLE, Some(SHORT_TUPLE)),
            Container::Map => (MAP, Some(SHORT_MAP)),
            Container::List => (LIST, None),
            Container::Improper => (IMPROPER, None),
        };
        match short {
            Some(short) if count < SHORT_COUNT => self.output.push(short + count as u8),
            _ => {
                self.output.push(long);
                self.count(count);
            }
        }
    }

    fn open_tuple(&mut self, term: Term<'a>) -> Result<(), Refusal> {
        let (mut arity, mut elements) = (0, std::ptr::null());
        // SAFETY: the term is a tuple of this environment; the VM answers where its elements are, and
        // they stay there for the whole call.
        let elements = unsafe {
            let env = term.get_env().as_c_arg();
            enif_get_tuple(env, term.as_c_arg(), &mut arity, &mut elements);
            match arity {
                0 => &[],
                _ => std::slice::from_raw_parts(elements, arity as usize),
            }
        };
        self.open(Container::Tuple, elements.len())?;
        self.work
            .extend(elements.iter().rev().map(|&element| Work::Term(element)));
        Ok(())
    }

    fn open_list(&mut self, term: Term<'a>) -> Result<(), Refusal> {
        if term.is_empty_list() {
            self.output.push(NIL);
            return Ok(());
        }
        let place = self.work.len();
        self.open(Container::List, 0)?;
        let mut tail = term;
        while let Some((head, rest)) = split(tail) {
            self.work.push(Work::Term(head.as_c_arg()));
            tail = rest;
        }
        let count = self.work.len() - place - 1;
        self.work[place] = Work::Close(Container::List, count);
        if !tail.is_empty_list() {
            self.work[place] = Work::Close(Container::Improper, count);
            self.work.push(Work::Term(tail.as_c_arg()));
        }
        self.work[place + 1..].reverse();
        Ok(())
    }

    fn open_map(&mut self, term: Term<'a>) -> Result<(), Refusal> {
        self.open(Container::Map, term.map_size().unwrap_or(0))?;
        let place = self.work.len();
        let mut values: SmallVec<[Work; 32]> = SmallVec::new();
        for_each_pair(term, |key, value| {
            self.work.push(Work::Term(key));
            values.push(Work::Term(value));
        });
        self.work.append(&mut values);
        self.work[place..].reverse();
        Ok(())
    }

    fn fixed(&mut self, operation: u8, bytes: &[u8]) {
        self.output.push(operation);
        self.output.extend_from_slice(bytes);
    }

    fn count(&mut self, mut count: usize) {
        while count >= 0x80 {
            self.output.push(count as u8 | 0x80);
            count >>= 7;
        }
        self.output.push(count as u8);
    }
}

/// The head and the tail of a list that is not empty.
fn split(list: Term<'_>) -> Option<(Term<'_>, Term<'_>)> {
    let env = list.get_env();
    let (mut head, mut tail) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: both are written, as terms of this environment, when the answer is not 0.
    unsafe {
        let split = enif_get_list_cell(
            env.as_c_arg(),
            list.as_c_arg(),
            head.as_mut_ptr(),
            tail.as_mut_ptr(),
        );
        (split != 0).then(|| {
            (
                Term::new(env, head.assume_init()),
                Term::new(env, tail.assume_init()),
            )
        })
    }
}

/// Visits the pairs of a map; those of a map of up to 32 keys in the order of its keys.
fn for_each_pair(map: Term<'_>, mut visit: impl FnMut(ErlNifTerm, ErlNifTerm)) {
    let env = map.get_env().as_c_arg();
    let mut iterator = MaybeUninit::uninit();
    // SAFETY: the term is a map of this environment, so the iterator is made, and is valid until it is
    // destroyed; the pair is written when the answer is not 0.
    unsafe {
        let first = ErlNifMapIteratorEntry::ERL_NIF_MAP_ITERATOR_HEAD;
        if enif_map_iterator_create(env, map.as_c_arg(), iterator.as_mut_ptr(), first) == 0 {
            return;
        }
        let mut iterator = iterator.assume_init();
        let (mut key, mut value) = (map.as_c_arg(), map.as_c_arg());
        while enif_map_iterator_get_pair(env, &mut iterator, &mut key, &mut value) != 0 {
            visit(key, value);
            enif_map_iterator_next(env, &mut iterator);
        }
        enif_map_iterator_destroy(env, &mut iterator);
    }
}
