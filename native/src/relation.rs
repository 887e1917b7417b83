//! `EchoData.Relation`: what edge stores and hierarchies have in common.
//!
//! Every function takes the store as a reference, or as the name or pid of its process, and answers
//! `:closed` when there is no such store. Of two ends the subject is gated first.

use echo_data_core::id::{GateError, Namespace};
use echo_data_core::{EdgeStore, EdgeView, HeldEdges};
use rustler::{Encoder, Env, NifResult, NifUnitEnum, NifUntaggedEnum, Term};

use crate::bounds::{beyond, gate, window_keys};
use crate::handle::{self, Handle};
use crate::hot::hot_nif;
use crate::kind::kind;
use crate::neighbours::{From, To};
use crate::props::{self, Props};
use crate::refusal::answer;
use crate::rows::{self, Listing, Table};
use crate::store::{found_or_not, store_nifs};
use crate::{atoms, base62, term};

/// The kind of stores of edges between ids of two namespaces.
pub(crate) struct Relation;

pub(crate) type Found<'a> = handle::Found<'a, Relation>;

kind!(
    Relation, "an edge store or a hierarchy", c"echo_data_relation",
    rule: Rule, store: EdgeStore<Props>, held: HeldEdges<Props>, view: EdgeView<Props>,
    new: |_| EdgeStore::new()
);

store_nifs!("relation", Relation);

/// What is related, and how.
pub(crate) struct Rule {
    pub(crate) relation: Name,
    pub(crate) subject: Namespace,
    pub(crate) object: Namespace,
    /// The props of an edge for which none are given.
    pub(crate) bare: for<'a> fn(Env<'a>) -> Term<'a>,
}

/// The name of a relation.
#[derive(NifUntaggedEnum)]
pub(crate) enum Name {
    Atom(rustler::Atom),
    Text(String),
}

/// An end of the edges, by the walk that begins there.
#[derive(Clone, Copy, NifUnitEnum)]
pub(crate) enum End {
    /// A subject, from which objects are found.
    From,
    /// An object, to which subjects are linked.
    To,
}

impl Rule {
    /// The namespaces of an end, and of the ids that are found from there.
    fn namespaces(&self, end: End) -> (Namespace, Namespace) {
        match end {
            End::From => (self.subject, self.object),
            End::To => (self.object, self.subject),
        }
    }
}

impl Handle<Relation> {
    /// The keys of both ends of an edge.
    #[inline]
    pub(crate) fn ends(
        &self,
        subject: Term<'_>,
        object: Term<'_>,
    ) -> Result<(u64, u64), GateError> {
        let rule = self.rule();
        Ok((gate(subject, rule.subject)?, gate(object, rule.object)?))
    }

    /// The key of an id at this end.
    #[inline]
    pub(crate) fn key(&self, end: End, id: Term<'_>) -> Result<u64, GateError> {
        gate(id, self.rule().namespaces(end).0)
    }
}

hot_nif!("relation_link", 4, link);
hot_nif!("relation_unlink", 3, unlink);
hot_nif!("relation_props", 3, get_props);
hot_nif!("relation_member", 3, member);
hot_nif!("relation_degree", 3, degree);
hot_nif!("relation_page", 7, page);

/// `:ok`.
fn link<'a>(env: Env<'a>, [store, subject, object, props]: [Term<'a>; 4]) -> NifResult<Term<'a>> {
    let link = |found: Found| {
        let (subject, object) = found.ends(subject, object)?;
        let props = props::encode(props)?;
        found.write(env, |store| store.link(subject, object, props))?;
        Ok(atoms::ok().to_term(env))
    };
    answer(env, handle::with(store, link))
}

/// `:ok` or `{:error, :not_found}`.
fn unlink<'a>(env: Env<'a>, [store, subject, object]: [Term<'a>; 3]) -> NifResult<Term<'a>> {
    let unlink = |found: Found| {
        let (subject, object) = found.ends(subject, object)?;
        Ok(
            match found.write(env, |store| store.unlink(subject, object))? {
                true => atoms::ok().to_term(env),
                false => found_or_not(env, None),
            },
        )
    };
    answer(env, handle::with(store, unlink))
}

/// `{:ok, props}` or `{:error, :not_found}`.
fn get_props<'a>(env: Env<'a>, [store, subject, object]: [Term<'a>; 3]) -> NifResult<Term<'a>> {
    let props = |found: Found| {
        let (subject, object) = found.ends(subject, object)?;
        found.read(env, |view| {
            let props = view.from(subject).get(object);
            Ok(found_or_not(
                env,
                props.map(|props| props::decode(env, props)),
            ))
        })
    };
    answer(env, handle::with(store, props))
}

/// Whether there is the edge.
fn member<'a>(env: Env<'a>, [store, subject, object]: [Term<'a>; 3]) -> NifResult<Term<'a>> {
    let member = |found: Found| {
        let (subject, object) = found.ends(subject, object)?;
        found.read(env, |view| {
            Ok(view.from(subject).contains(object).encode(env))
        })
    };
    answer(env, handle::with(store, member))
}

/// `{:ok, count}` of the neighbours of an id.
fn degree<'a>(env: Env<'a>, [store, end, id]: [Term<'a>; 3]) -> NifResult<Term<'a>> {
    let end = end.decode()?;
    let degree = |found: Found| {
        let key = found.key(end, id)?;
        found.read(env, |view| {
            let degree = degree_of(&view, end, key).encode(env);
            Ok(term::pair(env, atoms::ok().to_term(env), degree))
        })
    };
    answer(env, handle::with(store, degree))
}

pub(crate) fn degree_of(view: &EdgeView<'_, Props>, end: End, key: u64) -> usize {
    match end {
        End::From => view.from(key).len(),
        End::To => view.to(key).len(),
    }
}

/// `{:ok, count}` of the neighbours of an id from `low` on and below `high`.
#[rustler::nif(name = "relation_count")]
fn count<'a>(
    env: Env<'a>,
    store: Term<'a>,
    end: End,
    id: Term<'a>,
    low: Term<'a>,
    high: Term<'a>,
) -> NifResult<Term<'a>> {
    let count = |found: Found| {
        let key = found.key(end, id)?;
        let namespace = found.rule().namespaces(end).1;
        let keys = window_keys(low, high, namespace)?;
        found.read(env, |view| {
            let count = match end {
                End::From => view.from(key).count(keys),
                End::To => view.to(key).count(keys),
            };
            Ok((atoms::ok(), count).encode(env))
        })
    };
    answer(env, handle::with(store, count))
}

/// `{:ok, {id, props}}` for the neighbour at a position, counted from the oldest, or
/// `{:error, :not_found}`.
#[rustler::nif(name = "relation_nth")]
fn nth<'a>(
    env: Env<'a>,
    store: Term<'a>,
    end: End,
    id: Term<'a>,
    position: Term<'a>,
) -> NifResult<Term<'a>> {
    let position = position.decode().unwrap_or(usize::MAX);
    let nth = |found: Found| {
        let key = found.key(end, id)?;
        let namespace = found.rule().namespaces(end).1;
        found.read(env, |view| {
            let neighbour = match end {
                End::From => view.from(key).select(position),
                End::To => view.to(key).select(position),
            };
            let neighbour = neighbour.map(|(key, props)| {
                let id = rows::branded(env, namespace, key);
                term::pair(env, id, props::decode(env, props))
            });
            Ok(found_or_not(env, neighbour))
        })
    };
    answer(env, handle::with(store, nth))
}

/// `{:ok, neighbours}` or `{:more, continuation}`: up to `limit` neighbours of an id in `order`, beyond
/// `cursor` if it is an id, from the end if it is `nil`.
fn page<'a>(
    env: Env<'a>,
    [store, end, id, order, cursor, limit, values]: [Term<'a>; 7],
) -> NifResult<Term<'a>> {
    let (end, order) = (end.decode()?, order.decode()?);
    let listing = Listing {
        order,
        // `:all`, or a number that is larger than any store.
        limit: limit.decode().unwrap_or(usize::MAX),
        values: values.decode()?,
    };
    let page = |found: Found| {
        let key = found.key(end, id)?;
        let keys = beyond(cursor, order, found.rule().namespaces(end).1)?;
        match end {
            End::From => rows::list(env, found, From::numbered(key), listing, |_| keys.clone()),
            End::To => rows::list(env, found, To::numbered(key), listing, |_| keys.clone()),
        }
    };
    answer(env, handle::with(store, page))
}

/// As `relation_page`, which answered `{:more, continuation}`.
#[rustler::nif(name = "relation_more")]
fn more<'a>(env: Env<'a>, end: End, continuation: Term<'a>) -> NifResult<Term<'a>> {
    let rows = match end {
        End::From => rows::proceed::<From>(env, continuation),
        End::To => rows::proceed::<To>(env, continuation),
    };
    answer(env, rows)
}

/// `{relation, subject_namespace, object_namespace}`.
#[rustler::nif(name = "relation_rule")]
fn rule<'a>(env: Env<'a>, store: Term<'a>) -> NifResult<Term<'a>> {
    let rule = |found: Found| {
        let rule = found.rule();
        let [subject, object] =
            [rule.subject, rule.object].map(|namespace| base62::binary(env, namespace.as_bytes()));
        Ok((&rule.relation, subject, object).encode(env))
    };
    answer(env, handle::with(store, rule))
}
