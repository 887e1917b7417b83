//! Many rows on their way into a store: encoded in several calls, published by one.

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use echo_data_core::discard;
use rustler::{Encoder, Env, Resource, ResourceArc, Term};

use crate::atoms;
use crate::handle::Handle;
use crate::refusal::Refusal;
use crate::term::{self, Value};
use crate::timeslice::Timeslice;

/// Rows between two looks at the clock.
const STRIDE: usize = 16;

/// Rows that are published where they were read. More take too long for a normal scheduler.
const SMALL: usize = 1024;

type Rows = Vec<(u64, Value)>;

/// Encoded rows that wait for the others. Only the process that makes the batch uses it.
struct Batch {
    rows: Mutex<Rows>,
}

#[rustler::resource_impl]
impl Resource for Batch {}

impl Batch {
    fn rows(&self) -> MutexGuard<'_, Rows> {
        // Rows are pushed whole, so they are sound whatever happened to an earlier holder.
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let rows = mem::take(&mut *self.rows());
        if rows.len() > SMALL {
            discard(rows);
        }
    }
}

/// Puts a list of `{id, value}`, or begins to: answers `:ok`, or what [`proceed`] answers.
pub(crate) fn begin<'a>(
    env: Env<'a>,
    handle: &Handle,
    list: Term<'a>,
) -> Result<Term<'a>, Refusal> {
    handle.write(env, |_| ())?;
    let mut rows = Rows::new();
    let timeslice = Timeslice::begin();
    let rest = read(handle, list, &mut rows, &timeslice)?;
    let answer = match rest.is_empty_list() && rows.len() <= SMALL {
        true => handle
            .write(env, |store| store.put_all(rows))
            .map(|()| atoms::ok().to_term(env))?,
        false => {
            let rows = Mutex::new(rows);
            continued(env, &ResourceArc::new(Batch { rows }), rest)
        }
    };
    timeslice.end(env);
    Ok(answer)
}

/// Reads on: answers `{:more, continuation}`, or `{:staged, batch}` for [`publish`].
pub(crate) fn proceed<'a>(
    env: Env<'a>,
    handle: &Handle,
    continuation: Term<'a>,
) -> Result<Term<'a>, Refusal> {
    let (batch, rest) = continuation
        .decode::<(ResourceArc<Batch>, Term<'a>)>()
        .map_err(Refusal::Native)?;
    let timeslice = Timeslice::begin();
    let rest = read(handle, rest, &mut batch.rows(), &timeslice)?;
    timeslice.end(env);
    Ok(continued(env, &batch, rest))
}

/// Puts all rows of a batch in one publication.
pub(crate) fn publish(env: Env<'_>, handle: &Handle, batch: Term<'_>) -> Result<(), Refusal> {
    let batch: ResourceArc<Batch> = batch.decode().map_err(Refusal::Native)?;
    let rows = mem::take(&mut *batch.rows());
    handle.write(env, |store| store.put_all(rows))
}

fn continued<'a>(env: Env<'a>, batch: &ResourceArc<Batch>, rest: Term<'a>) -> Term<'a> {
    match rest.is_empty_list() {
        true => (atoms::staged(), batch).encode(env),
        false => (atoms::more(), (batch, rest)).encode(env),
    }
}

/// Encodes rows until the list or the time ends; answers the rest of the list.
fn read<'a>(
    handle: &Handle,
    mut list: Term<'a>,
    rows: &mut Rows,
    timeslice: &Timeslice,
) -> Result<Term<'a>, Refusal> {
    while !list.is_empty_list() {
        let position = rows.len();
        let (row, rest) = list.list_get_cell().map_err(|_| not_a_row(position))?;
        let (id, value) = row
            .decode::<(Term, Term)>()
            .map_err(|_| not_a_row(position))?;
        let key = handle
            .key(id)
            .map_err(|error| Refusal::GateAt(error, position))?;
        rows.push((key, term::encode(value)?));
        list = rest;
        if position % STRIDE == STRIDE - 1 && timeslice.is_spent() {
            break;
        }
    }
    Ok(list)
}

fn not_a_row(position: usize) -> Refusal {
    Refusal::Misuse(
        format!("rows must be a list of {{id, value}}, and position {position} is none").into(),
    )
}
