//! Many edges at once: those of a list, those of one end, those that two subjects share.

use std::ffi::CStr;

use echo_data_core::{EdgeStore, EdgeView, Replaced};
use rustler::{Encoder, Env, NifResult, Term};

use crate::batch::{self, Batch, Row, SMALL};
use crate::bounds::gate;
use crate::handle::{self, Handle};
use crate::props::{self, Props};
use crate::refusal::{answer, Refusal};
use crate::relation::{degree_of, End, Found, Relation};
use crate::resource::{self, Type};
use crate::timeslice::Timeslice;
use crate::{atoms, rows, term};

/// An edge to be linked: its ends and its props.
struct Edge(u64, u64, Props);

impl Row for Edge {
    type Kind = Relation;
    const NAME: &'static CStr = c"echo_data_edges";
    const LIST: &'static str =
        "edges must be a list of {subject, object} and {subject, object, props}";

    fn kept() -> &'static Type<Batch<Self>> {
        static TYPE: Type<Batch<Edge>> = Type::new();
        &TYPE
    }

    fn read(handle: &Handle<Relation>, row: Term<'_>) -> Option<Result<Self, Refusal>> {
        let bare = || {
            let (subject, object) = row.decode().ok()?;
            Some((subject, object, (handle.rule().bare)(row.get_env())))
        };
        let (subject, object, props) = row.decode().ok().or_else(bare)?;
        let read = || {
            let (subject, object) = handle.ends(subject, object)?;
            Ok(Self(subject, object, props::encode(props)?))
        };
        Some(read())
    }
}

/// An object to be linked to a subject that all objects of a list share, with the edge's props.
struct Object(u64, Props);

impl Row for Object {
    type Kind = Relation;
    const NAME: &'static CStr = c"echo_data_objects";
    const LIST: &'static str = "objects must be a list of ids and {id, props}";

    fn kept() -> &'static Type<Batch<Self>> {
        static TYPE: Type<Batch<Object>> = Type::new();
        &TYPE
    }

    fn read(handle: &Handle<Relation>, row: Term<'_>) -> Option<Result<Self, Refusal>> {
        let (object, props) = match row.is_tuple() {
            true => row.decode().ok()?,
            false => (row, (handle.rule().bare)(row.get_env())),
        };
        let read = || {
            let object = gate(object, handle.rule().object)?;
            Ok(Self(object, props::encode(props)?))
        };
        Some(read())
    }
}

/// Opens the types of relations and their batches; answers whether the VM did so.
pub(crate) fn open_types(env: Env<'_>) -> bool {
    resource::open::<Handle<Relation>>(env)
        && resource::open::<Batch<Edge>>(env)
        && resource::open::<Batch<Object>>(env)
}

/// `:ok`, or `{:more, continuation}` for `relation_link_more`, or `{:staged, batch}` for
/// `relation_link_staged`.
#[rustler::nif(name = "relation_link_many")]
fn link_many<'a>(env: Env<'a>, store: Term<'a>, edges: Term<'a>) -> NifResult<Term<'a>> {
    let begin = |found: Found| batch::begin(env, &found, edges, 0, link_all(env));
    answer(env, handle::with(store, begin))
}

/// As `relation_link_many`.
#[rustler::nif(name = "relation_link_more")]
fn link_more<'a>(env: Env<'a>, store: Term<'a>, continuation: Term<'a>) -> NifResult<Term<'a>> {
    let proceed = |found: Found| batch::proceed::<Edge>(env, &found, continuation);
    answer(env, handle::with(store, proceed))
}

/// `:ok`.
#[rustler::nif(name = "relation_link_staged", schedule = "DirtyCpu")]
fn link_staged<'a>(env: Env<'a>, store: Term<'a>, batch: Term<'a>) -> NifResult<Term<'a>> {
    let publish = |found: Found| batch::publish(env, &found, batch, link_all(env));
    answer(env, handle::with(store, publish))
}

fn link_all<'a>(env: Env<'a>) -> impl FnOnce(&EdgeStore<Props>, Vec<Edge>) -> Term<'a> {
    move |store, edges| {
        store.link_all(edges.into_iter().map(|Edge(s, o, props)| (s, o, props)));
        atoms::ok().to_term(env)
    }
}

/// `{:ok, %{added: _, kept: _, removed: _}}`, or `{:more, continuation}` for `relation_replace_more`, or
/// `{:staged, batch}` for `relation_replace_staged`.
#[rustler::nif(name = "relation_replace")]
fn replace<'a>(
    env: Env<'a>,
    store: Term<'a>,
    subject: Term<'a>,
    objects: Term<'a>,
) -> NifResult<Term<'a>> {
    let begin = |found: Found| {
        let subject = found.key(End::From, subject)?;
        let present = found.read(env, |view| Ok(view.from(subject).len()))?;
        batch::begin(env, &found, objects, present, replace_all(env, subject))
    };
    answer(env, handle::with(store, begin))
}

/// As `relation_replace`.
#[rustler::nif(name = "relation_replace_more")]
fn replace_more<'a>(env: Env<'a>, store: Term<'a>, continuation: Term<'a>) -> NifResult<Term<'a>> {
    let proceed = |found: Found| batch::proceed::<Object>(env, &found, continuation);
    answer(env, handle::with(store, proceed))
}

/// `{:ok, %{added: _, kept: _, removed: _}}`.
#[rustler::nif(name = "relation_replace_staged", schedule = "DirtyCpu")]
fn replace_staged<'a>(
    env: Env<'a>,
    store: Term<'a>,
    subject: Term<'a>,
    batch: Term<'a>,
) -> NifResult<Term<'a>> {
    let publish = |found: Found| {
        let subject = found.key(End::From, subject)?;
        batch::publish(env, &found, batch, replace_all(env, subject))
    };
    answer(env, handle::with(store, publish))
}

fn replace_all<'a>(
    env: Env<'a>,
    subject: u64,
) -> impl FnOnce(&EdgeStore<Props>, Vec<Object>) -> Term<'a> {
    move |store, objects| {
        let objects = objects.into_iter().map(|Object(key, props)| (key, props));
        let Replaced {
            added,
            kept,
            removed,
        } = store.replace(subject, objects);
        let counts = [
            (atoms::added(), added),
            (atoms::kept(), kept),
            (atoms::removed(), removed),
        ];
        let counts = Term::map_from_pairs(env, &counts).expect("three keys");
        term::pair(env, atoms::ok().to_term(env), counts)
    }
}

/// `{:ok, count}` of the edges of an id, which are removed, or `:large` for `relation_drop_large`.
#[rustler::nif(name = "relation_drop")]
fn drop_few<'a>(env: Env<'a>, store: Term<'a>, end: End, id: Term<'a>) -> NifResult<Term<'a>> {
    drop_edges(env, store, end, id, SMALL)
}

/// As `relation_drop`, however many edges there are.
#[rustler::nif(name = "relation_drop_large", schedule = "DirtyCpu")]
fn drop_many<'a>(env: Env<'a>, store: Term<'a>, end: End, id: Term<'a>) -> NifResult<Term<'a>> {
    drop_edges(env, store, end, id, usize::MAX)
}

fn drop_edges<'a>(
    env: Env<'a>,
    store: Term<'a>,
    end: End,
    id: Term<'a>,
    most: usize,
) -> NifResult<Term<'a>> {
    let drop = |found: Found| {
        let key = found.key(end, id)?;
        found.write(env, |store| {
            let timeslice = Timeslice::begin();
            if degree_of(&store.view(), end, key) > most {
                return atoms::large().to_term(env);
            }
            let dropped = match end {
                End::From => store.drop_subject(key),
                End::To => store.drop_object(key),
            };
            timeslice.end(env);
            term::pair(env, atoms::ok().to_term(env), dropped.encode(env))
        })
    };
    answer(env, handle::with(store, drop))
}

/// `{:ok, objects}` that both subjects are linked to, oldest first, or `:large` for
/// `relation_common_large`.
#[rustler::nif(name = "relation_common")]
fn common_few<'a>(
    env: Env<'a>,
    store: Term<'a>,
    subject: Term<'a>,
    other: Term<'a>,
) -> NifResult<Term<'a>> {
    common(env, store, [subject, other], SMALL)
}

/// As `relation_common`, however many objects there are.
#[rustler::nif(name = "relation_common_large", schedule = "DirtyCpu")]
fn common_many<'a>(
    env: Env<'a>,
    store: Term<'a>,
    subject: Term<'a>,
    other: Term<'a>,
) -> NifResult<Term<'a>> {
    common(env, store, [subject, other], usize::MAX)
}

fn common<'a>(
    env: Env<'a>,
    store: Term<'a>,
    [subject, other]: [Term<'a>; 2],
    most: usize,
) -> NifResult<Term<'a>> {
    let common = |found: Found| {
        let subjects = (found.key(End::From, subject)?, found.key(End::From, other)?);
        let namespace = found.rule().object;
        found.read(env, |view| {
            let timeslice = Timeslice::begin();
            let Some(shared) = shared_objects(&view, subjects, most) else {
                return Ok(atoms::large().to_term(env));
            };
            let objects = shared.into_iter().rev().fold(rows::nil(env), |list, key| {
                term::cell(env, rows::branded(env, namespace, key), list)
            });
            timeslice.end(env);
            Ok(term::pair(env, atoms::ok().to_term(env), objects))
        })
    };
    answer(env, handle::with(store, common))
}

/// `None` when there are more than `most` objects to look at.
fn shared_objects(
    view: &EdgeView<'_, Props>,
    (subject, other): (u64, u64),
    most: usize,
) -> Option<Vec<u64>> {
    let (left, right) = (view.from(subject), view.from(other));
    (left.len().saturating_add(right.len()) <= most).then(|| left.common(right).collect())
}
