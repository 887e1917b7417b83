//! Many members, or groups, of a ranked set at once.

use std::ffi::CStr;

use echo_data_core::id::GateError;
use echo_data_core::{Number, Ranked, RankedView, Score};
use rustler::{Encoder, Env, NifResult, Term};

use crate::batch::{self, Batch, Row, SMALL};
use crate::handle::{self, Handle};
use crate::hot::hot_nif;
use crate::lookup::{self, Wanted};
use crate::ranked_set::{outcome, Found, Query, RankedSet};
use crate::ranked_store::{either, Fields, Rule, Store, View};
use crate::refusal::{answer, Refusal};
use crate::resource::{self, Type};
use crate::rows::{self, Order};
use crate::timeslice::Timeslice;
use crate::{atoms, group, score, term};

hot_nif!("ranked_drop_group", 2, drop_group);

/// A member with its score; of one field, the second is `Nil`.
struct Member(u64, [Number; 2]);

impl Row for Member {
    type Kind = RankedSet;
    const NAME: &'static CStr = c"echo_data_ranked_members";
    const LIST: &'static str = "rows must be a list of {id, score}";

    fn kept() -> &'static Type<Batch<Self>> {
        static TYPE: Type<Batch<Member>> = Type::new();
        &TYPE
    }

    fn read(handle: &Handle<RankedSet>, row: Term<'_>) -> Option<Result<Self, Refusal>> {
        let [id, score] = term::elements(row)?;
        let rule = handle.rule();
        let read = || {
            let key = rule.key(id)?;
            let score = match rule.fields {
                Fields::One(_) => {
                    let [score] = score::decode(rule, score, "score")?;
                    [score, Number::Nil]
                }
                Fields::Two(_) => score::decode(rule, score, "score")?,
            };
            Ok(Self(key, score))
        };
        Some(read())
    }
}

/// Opens the types of ranked sets and their batches; answers whether the VM did so.
pub(crate) fn open_types(env: Env<'_>) -> bool {
    resource::open::<Handle<RankedSet>>(env) && resource::open::<Batch<Member>>(env)
}

/// `{:ok, added}`, `{:error, :not_unique}`, or `{:more, continuation}` for `ranked_put_more`, or
/// `{:staged, batch}` for `ranked_put_staged`.
#[rustler::nif(name = "ranked_put_many")]
fn put_many<'a>(
    env: Env<'a>,
    set: Term<'a>,
    rows: Term<'a>,
    group: Term<'a>,
) -> NifResult<Term<'a>> {
    let begin = |found: Found| {
        let group = group::encode(group)?;
        batch::begin(env, &found, rows, 0, put_all(env, &group))
    };
    answer(env, handle::with(set, begin))
}

/// As `ranked_put_many`.
#[rustler::nif(name = "ranked_put_more")]
fn put_more<'a>(env: Env<'a>, set: Term<'a>, continuation: Term<'a>) -> NifResult<Term<'a>> {
    let proceed = |found: Found| batch::proceed::<Member>(env, &found, continuation);
    answer(env, handle::with(set, proceed))
}

/// `{:ok, added}` or `{:error, :not_unique}`.
#[rustler::nif(name = "ranked_put_staged", schedule = "DirtyCpu")]
fn put_staged<'a>(
    env: Env<'a>,
    set: Term<'a>,
    batch: Term<'a>,
    group: Term<'a>,
) -> NifResult<Term<'a>> {
    let publish = |found: Found| {
        let group = group::encode(group)?;
        batch::publish(env, &found, batch, put_all(env, &group))
    };
    answer(env, handle::with(set, publish))
}

fn put_all<'a, 'g>(
    env: Env<'a>,
    group: &'g [u8],
) -> impl FnOnce(&Store, Vec<Member>) -> Term<'a> + 'g
where
    'a: 'g,
{
    move |store, members| {
        let members = members.into_iter();
        let added = match store {
            Store::One(set) => set.put_all(group, members.map(|Member(key, [s, _])| (key, [s]))),
            Store::Two(set) => set.put_all(group, members.map(|Member(key, score)| (key, score))),
        };
        let told = outcome(env, added, |added| added.encode(env));
        told.unwrap_or_else(|_| unreachable!("rows are read with scores of the set's kind"))
    }
}

/// Ranks, or `nil`, of members.
struct Ranks<'a> {
    query: Query,
    asked: Term<'a>,
}

impl<'a> Wanted<'a> for Ranks<'a> {
    type Kind = RankedSet;

    fn key(handle: &Handle<RankedSet>, id: Term<'_>) -> Result<u64, GateError> {
        handle.rule().key(id)
    }

    fn add(
        &self,
        env: Env<'a>,
        view: &View<'_>,
        _ids: &[Term<'a>],
        keys: &[u64],
        list: Term<'a>,
    ) -> Term<'a> {
        let Query { group, ties, order } = &self.query;
        let ranks = either!(View, view, view => view.group(group).ranks(keys, *ties, *order));
        let prepend = |list, rank: Option<usize>| term::cell(env, rank.encode(env), list);
        ranks.into_iter().fold(list, prepend)
    }

    fn term(&self, _env: Env<'a>) -> Term<'a> {
        self.asked
    }

    fn from_term(asked: Term<'a>) -> Result<Self, Refusal> {
        Ok(Self {
            query: Query::decode(asked)?,
            asked,
        })
    }
}

/// `{:ok, [rank | nil]}`, in the order of the ids, or `{:more, continuation}` for `ranked_ranks_more`.
#[rustler::nif(name = "ranked_ranks")]
fn ranks<'a>(env: Env<'a>, set: Term<'a>, ids: Term<'a>, query: Term<'a>) -> NifResult<Term<'a>> {
    let find = |found: Found| lookup::find(env, found, ids, Ranks::from_term(query)?);
    answer(env, handle::with(set, find))
}

/// As `ranked_ranks`.
#[rustler::nif(name = "ranked_ranks_more")]
fn ranks_more<'a>(env: Env<'a>, continuation: Term<'a>) -> NifResult<Term<'a>> {
    answer(env, lookup::proceed::<Ranks<'a>>(env, continuation))
}

/// `{:ok, [{id, score}]}` of up to `count` members, which are taken from the end where `order` begins, or
/// `:large` for `ranked_pop_large`.
#[rustler::nif(name = "ranked_pop")]
fn pop_few<'a>(
    env: Env<'a>,
    set: Term<'a>,
    count: Term<'a>,
    order: Order,
    group: Term<'a>,
) -> NifResult<Term<'a>> {
    pop(env, set, (count, order, group), SMALL)
}

/// As `ranked_pop`, however many members there are.
#[rustler::nif(name = "ranked_pop_large", schedule = "DirtyCpu")]
fn pop_many<'a>(
    env: Env<'a>,
    set: Term<'a>,
    count: Term<'a>,
    order: Order,
    group: Term<'a>,
) -> NifResult<Term<'a>> {
    pop(env, set, (count, order, group), usize::MAX)
}

fn pop<'a>(
    env: Env<'a>,
    set: Term<'a>,
    (count, order, group): (Term<'a>, Order, Term<'a>),
    most: usize,
) -> NifResult<Term<'a>> {
    let count: usize = count.decode().unwrap_or(usize::MAX);
    let pop = |found: Found| {
        let (rule, group) = (found.rule(), group::encode(group)?);
        found.write(env, |store| {
            let timeslice = Timeslice::begin();
            let taken = either!(Store, store, set => {
                match count.min(set.view().group(&group).len()) {
                    large if large > most => None,
                    // Between the look and the pop there may come a few more.
                    _ => Some(take(env, rule, set, &group, count, order)),
                }
            });
            timeslice.end(env);
            Ok(match taken {
                Some(taken) => term::pair(env, atoms::ok().to_term(env), taken),
                None => atoms::large().to_term(env),
            })
        })?
    };
    answer(env, handle::with(set, pop))
}

fn take<'a, const N: usize>(
    env: Env<'a>,
    rule: &Rule,
    set: &Ranked<[Number; N]>,
    group: &[u8],
    count: usize,
    order: Order,
) -> Term<'a>
where
    [Number; N]: Score,
{
    let taken = match order {
        Order::Asc => set.pop_min(group, count),
        Order::Desc => set.pop_max(group, count),
    };
    taken
        .into_iter()
        .rev()
        .fold(rows::nil(env), |list, (key, score)| {
            let id = rows::branded(env, rule.namespace, key);
            term::cell(env, term::pair(env, id, score::encode(env, score)), list)
        })
}

/// `{:ok, dropped}`.
fn drop_group<'a>(env: Env<'a>, [set, group]: [Term<'a>; 2]) -> NifResult<Term<'a>> {
    let drop = |found: Found| {
        let group = group::encode(group)?;
        let dropped = found.write(
            env,
            |store| either!(Store, store, set => set.drop_group(&group)),
        )?;
        Ok((atoms::ok(), dropped).encode(env))
    };
    answer(env, handle::with(set, drop))
}

/// `{:ok, groups}`, or `:large` for `ranked_groups_large`.
#[rustler::nif(name = "ranked_groups")]
fn groups_few<'a>(env: Env<'a>, set: Term<'a>) -> NifResult<Term<'a>> {
    groups(env, set, SMALL)
}

/// As `ranked_groups`, however many there are.
#[rustler::nif(name = "ranked_groups_large", schedule = "DirtyCpu")]
fn groups_many<'a>(env: Env<'a>, set: Term<'a>) -> NifResult<Term<'a>> {
    groups(env, set, usize::MAX)
}

fn groups<'a>(env: Env<'a>, set: Term<'a>, most: usize) -> NifResult<Term<'a>> {
    let groups = |found: Found| {
        found.read(env, |view| {
            let timeslice = Timeslice::begin();
            let listed = either!(View, &view, view => listed(env, view, most));
            timeslice.end(env);
            Ok(match listed {
                Some(groups) => term::pair(env, atoms::ok().to_term(env), groups),
                None => atoms::large().to_term(env),
            })
        })
    };
    answer(env, handle::with(set, groups))
}

/// `None` when there are more than `most`.
fn listed<'a, S: Score>(env: Env<'a>, view: &RankedView<'_, S>, most: usize) -> Option<Term<'a>> {
    let groups = view.groups();
    let prepend = |list, name: &[u8]| term::cell(env, group::decode(env, name), list);
    (groups.len() <= most).then(|| groups.fold(rows::nil(env), prepend))
}
