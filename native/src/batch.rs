//! Many rows on their way into a store: encoded in several calls, published by one.

use std::ffi::CStr;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use echo_data_core::discard;
use rustler::{Encoder, Env, Term};

use crate::atoms;
use crate::handle::Handle;
use crate::kind::Kind;
use crate::refusal::Refusal;
use crate::resource::{Object, Ref, Type};
use crate::timeslice::Timeslice;

/// Rows between two looks at the clock.
const STRIDE: usize = 16;

/// Rows that are published where they were read. More take too long for a normal scheduler.
pub(crate) const SMALL: usize = 1024;

/// A row as it is read from a list.
pub(crate) trait Row: Send + Sized + 'static {
    type Kind: Kind;

    /// The name of the type that batches of these rows have in the VM.
    const NAME: &'static CStr;

    /// Rows that are published where they were read.
    const SMALL: usize = SMALL;

    /// What the list must be, in a message.
    const LIST: &'static str;

    /// Where that type is kept.
    fn kept() -> &'static Type<Batch<Self>>;

    /// Reads one row; `None` if it has not the shape of one.
    fn read(handle: &Handle<Self::Kind>, row: Term<'_>) -> Option<Result<Self, Refusal>>;
}

/// Encoded rows that wait for the others. Only the process that makes the batch uses it.
pub(crate) struct Batch<R: Send + 'static> {
    rows: Mutex<Vec<R>>,
}

impl<R: Row> Object for Batch<R> {
    const NAME: &'static CStr = R::NAME;

    fn kept() -> &'static Type<Self> {
        R::kept()
    }
}

impl<R: Send + 'static> Batch<R> {
    fn rows(&self) -> MutexGuard<'_, Vec<R>> {
        // Rows are pushed whole, so they are sound whatever happened to an earlier holder.
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Send + 'static> Drop for Batch<R> {
    fn drop(&mut self) {
        let rows = mem::take(&mut *self.rows());
        if rows.len() > SMALL {
            discard(rows);
        }
    }
}

/// Reads a list of rows, or begins to: answers what `publish` does, or what [`proceed`] answers.
/// `beside` is how many rows `publish` has to look at besides these.
pub(crate) fn begin<'a, R: Row>(
    env: Env<'a>,
    handle: &Handle<R::Kind>,
    list: Term<'a>,
    beside: usize,
    publish: impl FnOnce(&StoreOf<R>, Vec<R>) -> Term<'a>,
) -> Result<Term<'a>, Refusal> {
    handle.write(env, |_| ())?;
    let mut rows = Vec::new();
    let timeslice = Timeslice::begin();
    let rest = read(handle, list, &mut rows, &timeslice)?;
    let answer = match rest.is_empty_list() && rows.len() + beside <= R::SMALL {
        true => handle.write(env, |store| publish(store, rows))?,
        false => {
            let rows = Mutex::new(rows);
            continued(env, &Ref::new(Batch { rows }), rest)
        }
    };
    timeslice.end(env);
    Ok(answer)
}

/// The store that rows are for.
pub(crate) type StoreOf<R> = <<R as Row>::Kind as Kind>::Store;

/// Reads on: answers `{:more, continuation}`, or `{:staged, batch}` for [`publish`].
pub(crate) fn proceed<'a, R: Row>(
    env: Env<'a>,
    handle: &Handle<R::Kind>,
    continuation: Term<'a>,
) -> Result<Term<'a>, Refusal> {
    let (batch, rest) = continuation
        .decode::<(Term<'a>, Term<'a>)>()
        .map_err(Refusal::Native)?;
    let batch = batch_of::<R>(batch)?;
    let timeslice = Timeslice::begin();
    let rest = read(handle, rest, &mut batch.rows(), &timeslice)?;
    timeslice.end(env);
    Ok(continued(env, &batch, rest))
}

/// Publishes all rows of a batch at once.
pub(crate) fn publish<'a, R: Row>(
    env: Env<'a>,
    handle: &Handle<R::Kind>,
    batch: Term<'a>,
    publish: impl FnOnce(&StoreOf<R>, Vec<R>) -> Term<'a>,
) -> Result<Term<'a>, Refusal> {
    let batch = batch_of::<R>(batch)?;
    let rows = mem::take(&mut *batch.rows());
    handle.write(env, |store| publish(store, rows))
}

fn batch_of<R: Row>(term: Term<'_>) -> Result<Ref<Batch<R>>, Refusal> {
    Ref::from_term(term).ok_or(Refusal::Native(rustler::Error::BadArg))
}

fn continued<'a, R: Row>(env: Env<'a>, batch: &Ref<Batch<R>>, rest: Term<'a>) -> Term<'a> {
    match rest.is_empty_list() {
        true => (atoms::staged(), batch).encode(env),
        false => (atoms::more(), (batch, rest)).encode(env),
    }
}

/// Encodes rows until the list or the time ends; answers the rest of the list.
fn read<'a, R: Row>(
    handle: &Handle<R::Kind>,
    mut list: Term<'a>,
    rows: &mut Vec<R>,
    timeslice: &Timeslice,
) -> Result<Term<'a>, Refusal> {
    while !list.is_empty_list() {
        let position = rows.len();
        let (row, rest) = list.list_get_cell().map_err(|_| not_a_row::<R>(position))?;
        let row = R::read(handle, row).ok_or_else(|| not_a_row::<R>(position))?;
        rows.push(row.map_err(|refusal| refusal.at(position))?);
        list = rest;
        if position % STRIDE == STRIDE - 1 && timeslice.is_spent() {
            break;
        }
    }
    Ok(list)
}

fn not_a_row<R: Row>(position: usize) -> Refusal {
    Refusal::Misuse(format!("{}, and position {position} is none", R::LIST).into())
}
