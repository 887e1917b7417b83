//! `EchoData.RankedSet`: members of groups by their scores, behind a reference or under a name.
//!
//! Every function takes the set as a reference, or as the name or pid of its process, and answers `:closed`
//! when there is no such set.

use echo_data_core::{self as core, Condition, Contradiction, Kind, Measure, Put, When};
use rustler::{Atom, Encoder, Env, NifResult, NifTaggedEnum, NifUnitEnum, Term};

use crate::branded_id::decode_namespace;
use crate::handle::{self, Access, Handle};
use crate::hot::hot_nif;
use crate::kind::kind;
use crate::ranked_store::{either, Fields, Held, Rule, Store, View};
use crate::refusal::{answer, Refusal};
use crate::rows::{self, Order};
use crate::store::store_nifs;
use crate::{atoms, base62, error, group, score, term};

/// The kind of sets of ids of one namespace, ordered by score in groups.
#[derive(Clone, Copy)]
pub(crate) struct RankedSet;

pub(crate) type Found<'a> = handle::Found<'a, RankedSet>;

kind!(
    RankedSet, "a ranked set", c"echo_data_ranked_set",
    rule: Rule, store: Store, held: Held, view: View<>,
    new: |rule| Store::new(rule)
);

store_nifs!("ranked", RankedSet);
hot_nif!("ranked_put", 5, put);
hot_nif!("ranked_increment", 4, increment);
hot_nif!("ranked_delete", 3, delete);
hot_nif!("ranked_score", 3, get_score);
hot_nif!("ranked_rank", 3, rank);
hot_nif!("ranked_rank_for_score", 3, rank_for_score);
hot_nif!("ranked_select", 3, select);
hot_nif!("ranked_count", 2, count);
hot_nif!("ranked_count_distinct", 2, count_distinct);
hot_nif!("ranked_count_between", 4, count_between);

#[derive(Clone, Copy, NifUnitEnum)]
enum Ties {
    Ordinal,
    Competition,
    Dense,
    Max,
}

impl From<Ties> for core::Ties {
    #[inline]
    fn from(ties: Ties) -> Self {
        match ties {
            Ties::Ordinal => Self::Ordinal,
            Ties::Competition => Self::Competition,
            Ties::Dense => Self::Dense,
            Ties::Max => Self::Max,
        }
    }
}

/// Which ranking is asked, and how it counts.
pub(crate) struct Query {
    pub(crate) group: Vec<u8>,
    pub(crate) ties: core::Ties,
    pub(crate) order: core::Order,
}

impl Query {
    /// Of `{group, ties, order}`.
    #[inline]
    pub(crate) fn decode(query: Term<'_>) -> Result<Self, Refusal> {
        let [group, ties, order] =
            term::elements(query).ok_or(Refusal::Native(rustler::Error::BadArg))?;
        Ok(Self {
            group: group::encode(group)?,
            ties: ties.decode::<Ties>().map_err(Refusal::Native)?.into(),
            order: order.decode::<Order>().map_err(Refusal::Native)?.into(),
        })
    }
}

impl From<Order> for core::Order {
    #[inline]
    fn from(order: Order) -> Self {
        match order {
            Order::Asc => Self::Ascending,
            Order::Desc => Self::Descending,
        }
    }
}

impl From<core::Order> for Order {
    fn from(order: core::Order) -> Self {
        match order {
            core::Order::Ascending => Self::Asc,
            core::Order::Descending => Self::Desc,
        }
    }
}

/// What is asked of a put, beside that the set allows it.
#[derive(NifUnitEnum)]
enum If {
    New,
    Exists,
    Greater,
    Less,
}

/// A field of a score, as it is stated when a set is made: `{kind, order}`.
#[derive(NifTaggedEnum)]
pub(crate) enum Field {
    Integer(Order),
    Float(Order),
}

impl From<Field> for Measure {
    fn from(field: Field) -> Self {
        let (kind, order) = match field {
            Field::Integer(order) => (Kind::Integer, order),
            Field::Float(order) => (Kind::Float, order),
        };
        let order = order.into();
        Self { kind, order }
    }
}

impl From<Measure> for Field {
    fn from(Measure { kind, order }: Measure) -> Self {
        match kind {
            Kind::Integer => Self::Integer(order.into()),
            Kind::Float => Self::Float(order.into()),
        }
    }
}

/// A new set of the calling process.
#[rustler::nif(name = "ranked_new")]
fn new<'a>(
    env: Env<'a>,
    namespace: Term<'a>,
    fields: Vec<Field>,
    unique: bool,
    access: Access,
) -> NifResult<Term<'a>> {
    let rule = rule_of(namespace, fields, unique)?;
    let handle = Handle::<RankedSet>::open(env, rule, access);
    answer(env, handle.map(|handle| handle.encode(env)))
}

/// A new set of the calling process, known by its pid and, unless it is `nil`, by `name`.
#[rustler::nif(name = "ranked_new_named")]
fn new_named<'a>(
    env: Env<'a>,
    namespace: Term<'a>,
    fields: Vec<Field>,
    unique: bool,
    name: Atom,
) -> NifResult<Term<'a>> {
    let rule = rule_of(namespace, fields, unique)?;
    let handle = Handle::<RankedSet>::open_named(env, rule, name);
    answer(env, handle.map(|handle| handle.encode(env)))
}

fn rule_of(namespace: Term<'_>, fields: Vec<Field>, unique: bool) -> NifResult<Rule> {
    let measures: Vec<Measure> = fields.into_iter().map(Measure::from).collect();
    let fields = match measures[..] {
        [measure] => Fields::One([measure]),
        [first, second] => Fields::Two([first, second]),
        _ => return Err(error::argument("score must have one field or two")),
    };
    Ok(Rule {
        namespace: decode_namespace(namespace)?,
        fields,
        unique,
    })
}

/// `{namespace, [{kind, order}], unique}`.
#[rustler::nif(name = "ranked_rule")]
fn rule<'a>(env: Env<'a>, set: Term<'a>) -> NifResult<Term<'a>> {
    let rule = |found: Found| {
        let rule = found.rule();
        let namespace = base62::binary(env, rule.namespace.as_bytes());
        let fields = rule.fields.measures().iter().copied().map(Field::from);
        let fields: Vec<_> = fields.collect();
        Ok((namespace, fields, rule.unique).encode(env))
    };
    answer(env, handle::with(set, rule))
}

/// What happened, `{:error, :not_unique}` or `{:error, :overflow}`.
///
/// # Errors
/// Misuse, of scores that `score` should not have let through.
pub(crate) fn outcome<'a, T>(
    env: Env<'a>,
    outcome: Result<T, core::Refusal>,
    tell: impl FnOnce(T) -> Term<'a>,
) -> Result<Term<'a>, Refusal> {
    let reason = match outcome {
        Ok(done) => return Ok(term::pair(env, atoms::ok().to_term(env), tell(done))),
        Err(core::Refusal::NotUnique) => atoms::not_unique(),
        Err(core::Refusal::Overflow) => atoms::overflow(),
        Err(other) => return Err(Refusal::Misuse(other.to_string().into())),
    };
    Ok((atoms::error(), reason).encode(env))
}

pub(crate) fn put_atom(put: Put) -> Atom {
    match put {
        Put::Added => atoms::added(),
        Put::Updated => atoms::updated(),
        Put::Unchanged => atoms::unchanged(),
    }
}

/// `{:ok, value}` or `:error`.
#[inline]
fn found_or_error<'a>(env: Env<'a>, value: Option<Term<'a>>) -> Term<'a> {
    match value {
        Some(value) => term::pair(env, atoms::ok().to_term(env), value),
        None => atoms::error().to_term(env),
    }
}

/// `{:ok, :added | :updated | :unchanged}` or `{:error, :not_unique}`.
fn put<'a>(env: Env<'a>, [set, id, score, group, when]: [Term<'a>; 5]) -> NifResult<Term<'a>> {
    let put = |found: Found| {
        let rule = found.rule();
        let (key, group) = (rule.key(id)?, group::encode(group)?);
        let when = decode_when(when)?;
        found.write(env, |store| {
            let put = either!(Store, store, set => {
                set.put(&group, key, score::decode(rule, score, "score")?, when)
            });
            outcome(env, put, |put| put_atom(put).to_term(env))
        })?
    };
    answer(env, handle::with(set, put))
}

fn decode_when(when: Term<'_>) -> Result<When, Refusal> {
    if when.is_empty_list() {
        return Ok(When::ALWAYS);
    }
    let misuse = |message: String| Refusal::Misuse(message.into());
    let conditions = when.decode::<Vec<If>>().map_err(|_| {
        misuse("if must be :new, :exists, :greater or :less, or a list of them".into())
    })?;
    let conditions: Vec<_> = conditions.into_iter().map(Condition::from).collect();
    When::all(&conditions).map_err(|Contradiction(a, b)| {
        let [a, b] = [a, b].map(told);
        misuse(format!(
            "if must be possible: {a} and {b} contradict each other"
        ))
    })
}

/// A condition as a caller states it.
fn told(condition: Condition) -> &'static str {
    match condition {
        Condition::New => ":new",
        Condition::Exists => ":exists",
        Condition::Greater => ":greater",
        Condition::Less => ":less",
    }
}

impl From<If> for Condition {
    fn from(condition: If) -> Self {
        match condition {
            If::New => Self::New,
            If::Exists => Self::Exists,
            If::Greater => Self::Greater,
            If::Less => Self::Less,
        }
    }
}

/// `{:ok, score}`, `{:error, :overflow}` or `{:error, :not_unique}`.
fn increment<'a>(env: Env<'a>, [set, id, delta, group]: [Term<'a>; 4]) -> NifResult<Term<'a>> {
    let increment = |found: Found| {
        let rule = found.rule();
        let (key, group) = (rule.key(id)?, group::encode(group)?);
        found.write(env, |store| {
            either!(Store, store, set => {
                let delta = score::decode_numbers(rule, delta, "delta")?;
                outcome(env, set.increment(&group, key, delta), |sum| score::encode(env, sum))
            })
        })?
    };
    answer(env, handle::with(set, increment))
}

/// `:ok` or `:error`.
fn delete<'a>(env: Env<'a>, [set, id, group]: [Term<'a>; 3]) -> NifResult<Term<'a>> {
    let delete = |found: Found| {
        let (key, group) = (found.rule().key(id)?, group::encode(group)?);
        let deleted = found.write(
            env,
            |store| either!(Store, store, set => set.delete(&group, key).is_some()),
        )?;
        let answer = if deleted { atoms::ok() } else { atoms::error() };
        Ok(answer.to_term(env))
    };
    answer(env, handle::with(set, delete))
}

/// `{:ok, score}` or `:error`.
fn get_score<'a>(env: Env<'a>, [set, id, group]: [Term<'a>; 3]) -> NifResult<Term<'a>> {
    let get = |found: Found| {
        let (key, group) = (found.rule().key(id)?, group::encode(group)?);
        found.read(env, |view| {
            let score = either!(View, &view, view => {
                view.group(&group).score(key).map(|score| score::encode(env, score))
            });
            Ok(found_or_error(env, score))
        })
    };
    answer(env, handle::with(set, get))
}

/// `{:ok, rank}` or `:error`.
fn rank<'a>(env: Env<'a>, [set, id, query]: [Term<'a>; 3]) -> NifResult<Term<'a>> {
    let rank = |found: Found| {
        let key = found.rule().key(id)?;
        let Query { group, ties, order } = Query::decode(query)?;
        found.read(env, |view| {
            let rank = either!(View, &view, view => view.group(&group).rank(key, ties, order));
            Ok(found_or_error(env, rank.map(|rank| rank.encode(env))))
        })
    };
    answer(env, handle::with(set, rank))
}

/// The rank that a score has or would have.
fn rank_for_score<'a>(env: Env<'a>, [set, score, query]: [Term<'a>; 3]) -> NifResult<Term<'a>> {
    let rank = |found: Found| {
        let rule = found.rule();
        let Query { group, ties, order } = Query::decode(query)?;
        found.read(env, |view| {
            let rank = either!(View, &view, view => {
                let score = score::decode(rule, score, "score")?;
                view.group(&group).rank_for_score(score, ties, order)
            });
            Ok(right(rank)?.encode(env))
        })
    };
    answer(env, handle::with(set, rank))
}

/// What a question about scores answers. `score` lets no other scores through than such as are right.
pub(crate) fn right<T>(answer: Result<T, core::Refusal>) -> Result<T, Refusal> {
    answer.map_err(|refused| Refusal::Misuse(refused.to_string().into()))
}

/// `{:ok, {id, score}}` or `:error`.
fn select<'a>(env: Env<'a>, [set, place, query]: [Term<'a>; 3]) -> NifResult<Term<'a>> {
    let select = |found: Found| {
        let namespace = found.rule().namespace;
        let Query { group, order, .. } = Query::decode(query)?;
        // An integer that is no place is beyond all places.
        let place = place.decode().unwrap_or(usize::MAX);
        found.read(env, |view| {
            let member = either!(View, &view, view => {
                view.group(&group).select(place, order).map(|(key, score)| {
                    let id = rows::branded(env, namespace, key);
                    term::pair(env, id, score::encode(env, score))
                })
            });
            Ok(found_or_error(env, member))
        })
    };
    answer(env, handle::with(set, select))
}

/// How many members a group has.
fn count<'a>(env: Env<'a>, [set, group]: [Term<'a>; 2]) -> NifResult<Term<'a>> {
    let count = |found: Found| {
        let group = group::encode(group)?;
        found.read(env, |view| {
            let count = either!(View, &view, view => view.group(&group).len());
            Ok(count.encode(env))
        })
    };
    answer(env, handle::with(set, count))
}

/// How many scores a group has.
fn count_distinct<'a>(env: Env<'a>, [set, group]: [Term<'a>; 2]) -> NifResult<Term<'a>> {
    let count = |found: Found| {
        let group = group::encode(group)?;
        found.read(env, |view| {
            let count = either!(View, &view, view => view.group(&group).distinct());
            Ok(count.encode(env))
        })
    };
    answer(env, handle::with(set, count))
}

/// How many members of a group have a score between two bounds.
fn count_between<'a>(env: Env<'a>, [set, low, high, group]: [Term<'a>; 4]) -> NifResult<Term<'a>> {
    let count = |found: Found| {
        let rule = found.rule();
        let group = group::encode(group)?;
        found.read(env, |view| {
            let count = either!(View, &view, view => {
                let low = score::decode_bound(rule, low, "lo")?;
                let high = score::decode_bound(rule, high, "hi")?;
                view.group(&group).count_between((low, high))
            });
            Ok(right(count)?.encode(env))
        })
    };
    answer(env, handle::with(set, count))
}
