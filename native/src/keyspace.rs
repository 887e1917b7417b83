//! `EchoMQ.Keyspace`. Keys may be long, and lists of keys too: see [`timed`] and [`slots_of`].

use echo_data_core::id::BrandedId;
use echo_data_core::keyspace::{self, even_partition, Key, Layout, QueueName, SlotSet};
use rustler::{Binary, Encoder, Env, Error, NewBinary, NifResult, Term};

use crate::hot::hot_nif;
use crate::timeslice::{timed, Timeslice};
use crate::{atoms, base62, error, term};

hot_nif!("keyspace_slot", 1, slot);

/// The slot of a key.
fn slot<'a>(env: Env<'a>, [key]: [Term<'a>; 1]) -> NifResult<Term<'a>> {
    let key = binary("key", key)?;
    Ok(timed(env, key.len(), || keyspace::slot(&key)).encode(env))
}

/// The part of a key that decides about its slot. Not a copy.
#[rustler::nif(name = "keyspace_hashtag")]
fn hashtag<'a>(env: Env<'a>, key: Term<'a>) -> NifResult<Binary<'a>> {
    let key = binary("key", key)?;
    let tag = timed(env, key.len(), || keyspace::hashtag(&key));
    part(key, tag)
}

/// The key of a kind of a queue.
#[rustler::nif(name = "keyspace_queue_key")]
fn queue_key<'a>(env: Env<'a>, queue: Term<'a>, kind: Term<'a>) -> NifResult<Binary<'a>> {
    let (queue, kind) = (binary("queue", queue)?, binary("type", kind)?);
    let key = Key::queue(name(&queue)?, &kind).map_err(|refused| {
        error::argument(format!("{refused}: a job's key is made by job_key/2"))
    })?;
    Ok(build(env, key))
}

/// The key of a job of a queue.
#[rustler::nif(name = "keyspace_job_key")]
fn job_key<'a>(env: Env<'a>, queue: Term<'a>, id: Term<'a>) -> NifResult<Binary<'a>> {
    let queue = binary("queue", queue)?;
    let queue = name(&queue)?;
    let id = Binary::from_term(id)
        .ok()
        .and_then(|id| BrandedId::parse(&id).ok());
    let id = id.ok_or_else(|| error::argument("job_key requires a valid branded id"))?;
    Ok(build(env, Key::job(queue, id)))
}

/// The key of what the library keeps for itself under a name.
#[rustler::nif(name = "keyspace_reserve")]
fn reserve<'a>(env: Env<'a>, name: Term<'a>) -> NifResult<Binary<'a>> {
    Ok(build(env, Key::reserve(&binary("name", name)?)))
}

/// `{:queue, queue, type}`, `{:job, queue, id}`, `{:reserve, name}` or `:error`.
#[rustler::nif(name = "keyspace_parse")]
fn parse<'a>(env: Env<'a>, key: Term<'a>) -> NifResult<Term<'a>> {
    let key = binary("key", key)?;
    Ok(match timed(env, key.len(), || Key::parse(&key)) {
        Some(Key::Queue { queue, kind, .. }) => (
            atoms::queue(),
            part(key, queue.as_bytes())?,
            part(key, kind)?,
        )
            .encode(env),
        Some(Key::Job { queue, id, .. }) => {
            let id = base62::binary(env, &id.to_bytes());
            (atoms::job(), part(key, queue.as_bytes())?, id).encode(env)
        }
        Some(Key::Reserve { name, .. }) => (atoms::reserve(), part(key, name)?).encode(env),
        None => atoms::error().encode(env),
    })
}

/// `{:ok, slots}`, the last key's first and in front of `known`, or `{:more, {rest, slots}}` to be called with.
#[rustler::nif(name = "keyspace_slots")]
fn slots<'a>(env: Env<'a>, keys: Term<'a>, known: Term<'a>) -> NifResult<Term<'a>> {
    let mut slots = known;
    let rest = slots_of(env, keys, |slot| {
        slots = term::cell(env, slot.encode(env), slots);
    })?;
    Ok(match rest.is_empty_list() {
        true => (atoms::ok(), slots).encode(env),
        false => (atoms::more(), (rest, slots)).encode(env),
    })
}

/// `{:legal | :crossed, slots}` of the keys and of what is `known`, or `{:more, {rest, slots}}` to be
/// called with.
#[rustler::nif(name = "keyspace_slot_set")]
fn slot_set<'a>(env: Env<'a>, keys: Term<'a>, known: Vec<u16>) -> NifResult<Term<'a>> {
    let mut set = SlotSet::default();
    known.into_iter().for_each(|slot| set.insert(slot));
    let rest = slots_of(env, keys, |slot| set.insert(slot))?;
    let slots = set.as_slice();
    Ok(match (rest.is_empty_list(), set.verdict()) {
        (false, _) => (atoms::more(), (rest, slots)).encode(env),
        (true, Ok(_)) => (atoms::legal(), slots).encode(env),
        (true, Err(_)) => (atoms::crossed(), slots).encode(env),
    })
}

/// The slot of all keys of a queue.
#[rustler::nif(name = "keyspace_queue_slot")]
fn queue_slot(queue: Term<'_>) -> NifResult<u16> {
    Ok(name(&binary("queue", queue)?)?.slot())
}

/// Which of so many even parts of the slots a queue belongs to.
#[rustler::nif(name = "keyspace_partition")]
fn partition(queue: Term<'_>, parts: Term<'_>) -> NifResult<u16> {
    let slot = name(&binary("queue", queue)?)?.slot();
    // Decoded whole: of a narrow type the decoder keeps the low bits.
    let parts = parts.decode::<u64>().ok();
    let part = parts.and_then(|parts| even_partition(slot, parts.try_into().ok()?));
    part.ok_or_else(|| error::argument("parts must be in 1..16384"))
}

/// Which of the ranges `{first, last, number}` a queue belongs to: its number, or `nil`.
#[rustler::nif(name = "keyspace_owner")]
fn owner(queue: Term<'_>, ranges: Vec<(u16, u16, u32)>) -> NifResult<Option<u32>> {
    let slot = name(&binary("queue", queue)?)?.slot();
    let ranges = ranges
        .into_iter()
        .map(|(first, last, number)| (first..=last, number));
    let layout = Layout::new(ranges).map_err(|refused| error::argument(refused.to_string()))?;
    Ok(layout.owner(slot).copied())
}

/// Bytes of keys between two looks at the clock; a key counts for some more than it has.
const STRIDE: usize = 8 << 10;
const KEY: usize = 64;

/// Tells the slots of keys until the list or the time ends; answers the rest of the list.
fn slots_of<'a>(env: Env<'a>, keys: Term<'a>, mut tell: impl FnMut(u16)) -> NifResult<Term<'a>> {
    let timeslice = Timeslice::begin();
    let (mut rest, mut bytes) = (keys, 0);
    while !rest.is_empty_list() {
        let (key, behind) = rest.list_get_cell().map_err(|_| not_keys())?;
        let key = Binary::from_term(key).map_err(|_| not_keys())?;
        tell(keyspace::slot(&key));
        rest = behind;
        bytes += key.len() + KEY;
        if bytes > STRIDE {
            bytes = 0;
            if timeslice.is_spent() {
                break;
            }
        }
    }
    timeslice.end(env);
    Ok(rest)
}

fn not_keys() -> Error {
    error::argument("keys must be a list of binaries")
}

fn binary<'a>(argument: &str, term: Term<'a>) -> NifResult<Binary<'a>> {
    Binary::from_term(term).map_err(|_| error::argument(format!("{argument} must be a binary")))
}

fn name<'a>(queue: &'a Binary<'_>) -> NifResult<QueueName<'a>> {
    QueueName::new(queue).map_err(|refused| error::argument(refused.to_string()))
}

fn build<'a>(env: Env<'a>, key: Key<'_>) -> Binary<'a> {
    let mut built = NewBinary::new(env, key.size());
    timed(env, key.size(), || key.write(&mut built));
    built.into()
}

/// Bytes of `whole` as a binary that shares them.
fn part<'a>(whole: Binary<'a>, bytes: &[u8]) -> NifResult<Binary<'a>> {
    let before = bytes.as_ptr().addr() - whole.as_ptr().addr();
    whole.make_subbinary(before, bytes.len())
}
