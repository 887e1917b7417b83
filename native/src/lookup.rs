//! Many lookups in one call: in several when they are very many.

use echo_data_core::id::GateError;
use rustler::{Encoder, Env, Term};

use crate::handle::{other_kind, Found, Handle};
use crate::kind::Kind;
use crate::moment::{Moment, CONTINUATION};
use crate::refusal::Refusal;
use crate::timeslice::Timeslice;
use crate::{atoms, rows, term};

/// Ids that are looked up together, and between two looks at the clock.
const STRIDE: usize = 256;

/// What is looked up of many ids.
pub(crate) trait Wanted<'a>: Sized {
    type Kind: Kind;

    /// The key of an id.
    fn key(handle: &Handle<Self::Kind>, id: Term<'_>) -> Result<u64, GateError>;

    /// Puts what is found of these ids in front of a list, so that the last comes first.
    fn add(
        &self,
        env: Env<'a>,
        view: &<Self::Kind as Kind>::View<'_>,
        ids: &[Term<'a>],
        keys: &[u64],
        list: Term<'a>,
    ) -> Term<'a>;

    /// How it is said in a continuation.
    fn term(&self, env: Env<'a>) -> Term<'a>;
    fn from_term(term: Term<'a>) -> Result<Self, Refusal>;
}

/// Answers `{:ok, list}` of what is found, in the order of the ids, or `{:more, continuation}` for
/// [`proceed`]. All is of one moment, however many calls it takes.
pub(crate) fn find<'a, W: Wanted<'a>>(
    env: Env<'a>,
    store: Found<'_, W::Kind>,
    ids: Term<'a>,
    wanted: W,
) -> Result<Term<'a>, Refusal> {
    let timeslice = Timeslice::begin();
    let mut lookup = Lookup::new(env, ids, wanted);
    let keys = lookup.next_keys(&store)?;
    if lookup.is_done() {
        store.read(env, |view| {
            lookup.add(env, &view, &keys);
            Ok(())
        })?;
        timeslice.end(env);
        return Ok(lookup.finish(env));
    }
    Lookup::new(env, ids, lookup.wanted).go_on(env, &Moment::of(env, store)?)
}

/// Goes on with lookups where the last call left them.
pub(crate) fn proceed<'a, W: Wanted<'a>>(
    env: Env<'a>,
    continuation: Term<'a>,
) -> Result<Term<'a>, Refusal> {
    let (moment, position, rest, list, wanted): (Term<'a>, _, _, _, _) =
        continuation.decode().map_err(Refusal::Native)?;
    let moment =
        Moment::<W::Kind>::from_term(moment).ok_or_else(|| other_kind::<W::Kind>(CONTINUATION))?;
    let lookup = Lookup {
        wanted: W::from_term(wanted)?,
        position,
        rest,
        ids: Vec::new(),
        list,
    };
    lookup.go_on(env, &moment)
}

struct Lookup<'a, W> {
    wanted: W,
    /// How many ids were read.
    position: usize,
    /// The ids that were not.
    rest: Term<'a>,
    /// The ids that were read last.
    ids: Vec<Term<'a>>,
    /// What was found, last first.
    list: Term<'a>,
}

impl<'a, W: Wanted<'a>> Lookup<'a, W> {
    fn new(env: Env<'a>, ids: Term<'a>, wanted: W) -> Self {
        Self {
            wanted,
            position: 0,
            rest: ids,
            ids: Vec::new(),
            list: rows::nil(env),
        }
    }

    fn is_done(&self) -> bool {
        self.rest.is_empty_list()
    }

    /// One call's part of the lookups.
    fn go_on(mut self, env: Env<'a>, moment: &Moment<W::Kind>) -> Result<Term<'a>, Refusal> {
        let stepped = self.step(env, moment);
        if stepped.is_err() || self.is_done() {
            moment.end();
        }
        stepped?;
        Ok(self.answer(env, moment))
    }

    /// Looks ids up until there are no more or the time ends.
    fn step(&mut self, env: Env<'a>, moment: &Handle<W::Kind>) -> Result<(), Refusal> {
        let timeslice = Timeslice::begin();
        moment.read(env, |view| {
            while !self.is_done() && !timeslice.is_spent() {
                let keys = self.next_keys(moment)?;
                self.add(env, &view, &keys);
            }
            Ok(())
        })?;
        timeslice.end(env);
        Ok(())
    }

    /// Reads up to [`STRIDE`] ids, and answers their keys.
    fn next_keys(&mut self, handle: &Handle<W::Kind>) -> Result<Vec<u64>, Refusal> {
        self.ids.clear();
        let mut keys = Vec::new();
        while keys.len() < STRIDE && !self.is_done() {
            let (id, rest) = self.rest.list_get_cell().map_err(|_| not_a_list())?;
            let key = W::key(handle, id);
            keys.push(key.map_err(|error| Refusal::GateAt(error, self.position))?);
            self.ids.push(id);
            self.position += 1;
            self.rest = rest;
        }
        Ok(keys)
    }

    /// Adds what is found of the ids that were read last.
    fn add(&mut self, env: Env<'a>, view: &<W::Kind as Kind>::View<'_>, keys: &[u64]) {
        self.list = self.wanted.add(env, view, &self.ids, keys, self.list);
    }

    fn answer(self, env: Env<'a>, moment: &Moment<W::Kind>) -> Term<'a> {
        if self.is_done() {
            return self.finish(env);
        }
        let wanted = self.wanted.term(env);
        let continuation = (moment, self.position, self.rest, self.list, wanted);
        (atoms::more(), continuation).encode(env)
    }

    fn finish(self, env: Env<'a>) -> Term<'a> {
        let list = self
            .list
            .list_reverse()
            .expect("what is found is a proper list");
        term::pair(env, atoms::ok().to_term(env), list)
    }
}

fn not_a_list() -> Refusal {
    Refusal::Misuse("ids must be a proper list".into())
}
