//! From terms to bytes.
#![allow(unsafe_code)] // walks tuples, lists and maps through the VM's own accessors

use std::mem::MaybeUninit;

use rustler::sys::{
    enif_get_tuple, enif_map_iterator_create, enif_map_iterator_destroy,
    enif_map_iterator_get_pair, enif_map_iterator_next, ErlNifMapIteratorEntry, ErlNifTerm,
};
use rustler::{Binary, Term, TermType};
use smallvec::SmallVec;

use super::*;
use crate::refusal::Refusal;
use crate::timeslice;

/// Terms that are looked at together, without an allocation for a map of up to 32 keys.
type Terms = SmallVec<[ErlNifTerm; 64]>;

/// Bytes that nearly every value fits in.
const USUAL: usize = 256;

/// What is still to be written, last first.
enum Work {
    Term(ErlNifTerm),
    /// A container whose operands have been written.
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
#[inline]
pub(crate) fn encode<E: Encoded>(term: Term<'_>) -> Result<E, Refusal> {
    if let Ok(integer) = term.decode() {
        let form = Integer::new(integer);
        return Ok(E::short(form.operation, form.operand, form.length));
    }
    let mut encoder = Encoder::new(term);
    encoder.run()?;
    let (&first, rest) = encoder
        .output
        .split_first()
        .expect("every term has an operation");
    if rest.len() > E::MAX {
        return Err(Refusal::Misuse("value must be smaller than 4 GiB".into()));
    }
    timeslice::report_bytes(term.get_env(), rest.len());
    Ok(if encoder.shares {
        E::shared(first, rest)
    } else {
        E::bytes(first, rest)
    })
}

/// All bytes of the value of a term: what [`decode`](super::decode) takes apart into the first and the rest.
/// Equal terms without maps have equal bytes.
///
/// # Errors
/// As [`encode`], but for the size.
pub(crate) fn encode_bytes(term: Term<'_>) -> Result<Vec<u8>, Refusal> {
    let mut encoder = Encoder::new(term);
    encoder.run()?;
    timeslice::report_bytes(term.get_env(), encoder.output.len());
    Ok(encoder.output)
}

/// An integer as it is written.
struct Integer {
    operation: u8,
    operand: [u8; 8],
    length: usize,
}

impl Integer {
    #[inline]
    fn new(integer: i64) -> Self {
        let (operation, length) = match integer {
            0..=0x7F => (SMALL + integer as u8, 0),
            -0x80..=0x7F => (INT8, 1),
            -0x8000..=0x7FFF => (INT16, 2),
            -0x8000_0000..=0x7FFF_FFFF => (INT32, 4),
            _ => (INT64, 8),
        };
        Self {
            operation,
            operand: integer.to_le_bytes(),
            length,
        }
    }

    fn operand(&self) -> &[u8] {
        &self.operand[..self.length]
    }
}

struct Encoder<'a> {
    /// The whole term.
    term: Term<'a>,
    output: Vec<u8>,
    work: Vec<Work>,
    depth: usize,
    /// Whether there is a binary that is to be read back without a copy.
    shares: bool,
}

impl<'a> Encoder<'a> {
    fn new(term: Term<'a>) -> Self {
        Self {
            term,
            output: Vec::with_capacity(USUAL),
            work: Vec::new(),
            depth: 0,
            shares: false,
        }
    }

    fn run(&mut self) -> Result<(), Refusal> {
        self.write(self.term)?;
        while let Some(work) = self.work.pop() {
            match work {
                Work::Term(term) => self.write(self.part(term))?,
                Work::Close(container, count) => {
                    self.depth -= 1;
                    self.close(container, count);
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, term: Term<'a>) -> Result<(), Refusal> {
        match self.write_leaf(term) {
            None => Ok(()),
            Some(TermType::Map) => self.map(term),
            Some(TermType::Tuple) => self.tuple(term),
            Some(_) => self.list(term),
        }
    }

    /// Writes a term that is no container; answers what it is if it is one.
    #[inline]
    fn write_leaf(&mut self, term: Term<'a>) -> Option<TermType> {
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
                Ok(float) => self.fixed(FLOAT, float.to_bits().to_le_bytes()),
                Err(_) => self.external(term),
            },
            TermType::List if term.is_empty_list() => self.output.push(NIL),
            kind @ (TermType::Map | TermType::Tuple | TermType::List) => return Some(kind),
            _ => self.external(term),
        }
        None
    }

    #[inline]
    fn integer(&mut self, integer: i64) {
        let form = Integer::new(integer);
        self.output.push(form.operation);
        self.output.extend_from_slice(form.operand());
    }

    #[inline]
    fn atom(&mut self, word: u64) {
        match u32::try_from(word) {
            Ok(word) => self.fixed(ATOM32, word.to_le_bytes()),
            Err(_) => self.fixed(ATOM64, word.to_le_bytes()),
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

    fn tuple(&mut self, term: Term<'a>) -> Result<(), Refusal> {
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
        self.container(Container::Tuple, elements.len(), elements)
    }

    fn list(&mut self, term: Term<'a>) -> Result<(), Refusal> {
        let mut elements = Terms::new();
        let mut tail = term;
        while let Ok((head, rest)) = tail.list_get_cell() {
            elements.push(head.as_c_arg());
            tail = rest;
        }
        let count = elements.len();
        if tail.is_empty_list() {
            return self.container(Container::List, count, &elements);
        }
        elements.push(tail.as_c_arg());
        self.container(Container::Improper, count, &elements)
    }

    fn map(&mut self, term: Term<'a>) -> Result<(), Refusal> {
        let (mut keys, mut values) = (Terms::new(), Terms::new());
        for_each_pair(term, |key, value| {
            keys.push(key);
            values.push(value);
        });
        let count = keys.len();
        keys.append(&mut values);
        self.container(Container::Map, count, &keys)
    }

    /// Writes a container, or as much of it as there is before a container inside.
    fn container(
        &mut self,
        container: Container,
        count: usize,
        operands: &[ErlNifTerm],
    ) -> Result<(), Refusal> {
        if self.depth == DEPTH {
            let message = format!("value must not be nested deeper than {DEPTH}");
            return Err(Refusal::Misuse(message.into()));
        }
        let inner = operands
            .iter()
            .position(|&operand| self.write_leaf(self.part(operand)).is_some());
        match inner {
            None => self.close(container, count),
            Some(inner) => {
                self.depth += 1;
                self.work.push(Work::Close(container, count));
                let rest = operands[inner..].iter().rev();
                self.work.extend(rest.map(|&operand| Work::Term(operand)));
            }
        }
        Ok(())
    }

    fn close(&mut self, container: Container, count: usize) {
        close(&mut self.output, container, count);
    }

    /// A term that is a part of the term that is encoded.
    #[inline]
    fn part(&self, term: ErlNifTerm) -> Term<'a> {
        // SAFETY: a part is of the same environment as the whole.
        unsafe { Term::new(self.term.get_env(), term) }
    }

    #[inline]
    fn fixed<const N: usize>(&mut self, operation: u8, operand: [u8; N]) {
        self.output.push(operation);
        self.output.extend_from_slice(&operand);
    }

    fn count(&mut self, count: usize) {
        push_count(&mut self.output, count);
    }
}

/// Makes a tuple of the last `count` values that were written.
pub(crate) fn close_tuple(output: &mut Vec<u8>, count: usize) {
    close(output, Container::Tuple, count);
}

fn close(output: &mut Vec<u8>, container: Container, count: usize) {
    let (long, short) = match container {
        Container::Tuple => (TUPLE, Some(SHORT_TUPLE)),
        Container::Map => (MAP, Some(SHORT_MAP)),
        Container::List => (LIST, None),
        Container::Improper => (IMPROPER, None),
    };
    match short {
        Some(short) if count < SHORT_COUNT => output.push(short + count as u8),
        _ => {
            output.push(long);
            push_count(output, count);
        }
    }
}

fn push_count(output: &mut Vec<u8>, mut count: usize) {
    while count >= 0x80 {
        output.push(count as u8 | 0x80);
        count >>= 7;
    }
    output.push(count as u8);
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
