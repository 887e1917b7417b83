//! Many lookups in one call: in several when they are very many.

use echo_data_core::View;
use rustler::{Encoder, Env, Term};

use crate::handle::{Found, Handle};
use crate::keyed::Keyed;
use crate::moment::Moment;
use crate::refusal::Refusal;
use crate::term::{self, Value};
use crate::timeslice::Timeslice;
use crate::{atoms, rows};

/// Ids that are looked up together, and between two looks at the clock.
const STRIDE: usize = 256;

/// Answers `{:ok, [{id, value}]}` for the ids that are there, in their order, or `{:more, continuation}`
/// for [`proceed`]. All rows are of one moment, however many calls it takes.
pub(crate) fn find<'a, K: Keyed>(
    env: Env<'a>,
    store: Found<'_, K>,
    ids: Term<'a>,
) -> Result<Term<'a>, Refusal> {
    let timeslice = Timeslice::begin();
    let mut lookup = Lookup::new(env, ids);
    let keys = lookup.next_keys(&store)?;
    if lookup.is_done() {
        store.read(env, |view| {
            lookup.add(env, K::rows(&view), &keys);
            Ok(())
        })?;
        timeslice.end(env);
        return Ok(lookup.finish(env));
    }
    Lookup::new(env, ids).go_on(env, &Moment::of(env, store)?)
}

/// Goes on with lookups where the last call left them.
pub(crate) fn proceed<'a, K: Keyed>(
    env: Env<'a>,
    continuation: Term<'a>,
) -> Result<Term<'a>, Refusal> {
    let (moment, position, rest, rows): (Term<'a>, _, _, _) =
        continuation.decode().map_err(Refusal::Native)?;
    let moment = Moment::<K>::from_term(moment).ok_or(Refusal::Native(rustler::Error::BadArg))?;
    let lookup = Lookup {
        position,
        rest,
        ids: Vec::new(),
        rows,
    };
    lookup.go_on(env, &moment)
}

struct Lookup<'a> {
    /// How many ids were read.
    position: usize,
    /// The ids that were not.
    rest: Term<'a>,
    /// The ids that were read last.
    ids: Vec<Term<'a>>,
    /// What was found, last first.
    rows: Term<'a>,
}

impl<'a> Lookup<'a> {
    fn new(env: Env<'a>, ids: Term<'a>) -> Self {
        Self {
            position: 0,
            rest: ids,
            ids: Vec::new(),
            rows: rows::nil(env),
        }
    }

    fn is_done(&self) -> bool {
        self.rest.is_empty_list()
    }

    /// One call's part of the lookups.
    fn go_on<K: Keyed>(mut self, env: Env<'a>, moment: &Moment<K>) -> Result<Term<'a>, Refusal> {
        let stepped = self.step(env, moment);
        if stepped.is_err() || self.is_done() {
            moment.end();
        }
        stepped?;
        Ok(self.answer(env, moment))
    }

    /// Looks ids up until there are no more or the time ends.
    fn step<K: Keyed>(&mut self, env: Env<'a>, moment: &Handle<K>) -> Result<(), Refusal> {
        let timeslice = Timeslice::begin();
        moment.read(env, |view| {
            while !self.is_done() && !timeslice.is_spent() {
                let keys = self.next_keys(moment)?;
                self.add(env, K::rows(&view), &keys);
            }
            Ok(())
        })?;
        timeslice.end(env);
        Ok(())
    }

    /// Reads up to [`STRIDE`] ids, and answers their keys.
    fn next_keys<K: Keyed>(&mut self, handle: &Handle<K>) -> Result<Vec<u64>, Refusal> {
        self.ids.clear();
        let mut keys = Vec::new();
        while keys.len() < STRIDE && !self.is_done() {
            let (id, rest) = self.rest.list_get_cell().map_err(|_| not_a_list())?;
            let key = handle.key(id);
            keys.push(key.map_err(|error| Refusal::GateAt(error, self.position))?);
            self.ids.push(id);
            self.position += 1;
            self.rest = rest;
        }
        Ok(keys)
    }

    /// Adds the rows of the keys that were read last.
    fn add(&mut self, env: Env<'a>, view: &View<'_, Value>, keys: &[u64]) {
        view.get_many(keys, |at, value| {
            if let Some(value) = value {
                let row = term::pair(env, self.ids[at], term::decode(env, value));
                self.rows = term::cell(env, row, self.rows);
            }
        });
    }

    fn answer<K: Keyed>(self, env: Env<'a>, moment: &Moment<K>) -> Term<'a> {
        if self.is_done() {
            return self.finish(env);
        }
        let continuation = (moment, self.position, self.rest, self.rows);
        (atoms::more(), continuation).encode(env)
    }

    fn finish(self, env: Env<'a>) -> Term<'a> {
        let rows = self.rows.list_reverse().expect("a list of rows is proper");
        term::pair(env, atoms::ok().to_term(env), rows)
    }
}

fn not_a_list() -> Refusal {
    Refusal::Misuse("ids must be a proper list".into())
}
