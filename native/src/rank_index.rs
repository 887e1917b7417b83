//! `EchoData.RankIndex`: the records of a property store, ranked by their fields.
//!
//! Every function takes the store as a reference, or as the name or pid of its process, and answers
//! `:closed` when there is no such store. An index is said by its name.

use std::ops::{Bound, Range};

use echo_data_core::id::Namespace;
use echo_data_core::{BlobRef, Board, Number, RankIndex, RecordView};
use rustler::{Atom, Encoder, Env, LocalPid, NifResult, Term};

use crate::handle;
use crate::hot::hot_nif;
use crate::index::Index;
use crate::ranked_set::{right, Query};
use crate::recorded::{answered, Recorded};
use crate::refusal::{answer, Refusal};
use crate::standings::{self, limit_of, Listed, Listing};
use crate::store::found_or_not;
use crate::term::{self, Value};
use crate::{atoms, group, rows, score};

type Found<'a> = handle::Found<'a, Recorded>;
type View<'a> = RecordView<'a, Value, Index>;

hot_nif!("rank_index_rank_for_score", 4, rank_for_score);
hot_nif!("rank_index_score_for_rank", 4, score_for_rank);
hot_nif!("rank_index_count", 3, count);
hot_nif!("rank_index_count_distinct", 3, count_distinct);
hot_nif!("rank_index_rank", 4, rank);

/// The index of a name, which is the name of one.
fn named<'v>(view: &'v View<'_>, name: Term<'_>) -> Result<(Atom, &'v Index), Refusal> {
    let known = name.decode().ok();
    let known = known.and_then(|name| Some((name, view.index(&name)?)));
    known.ok_or_else(|| {
        let names: Vec<_> = view.indexes().map(RankIndex::name).collect();
        Refusal::Misuse(format!("index must be one of {names:?}, and is {name:?}").into())
    })
}

/// An index, and the ranking of one of its groups.
fn board<'v>(
    view: &'v View<'_>,
    name: Term<'_>,
    group: &[u8],
) -> Result<(&'v Index, Board<'v, [Number; 2]>), Refusal> {
    let (name, index) = named(view, name)?;
    let board = view.group(&name, group);
    Ok((index, board.expect("there is an index of this name")))
}

/// The rank that a score has or would have.
fn rank_for_score<'a>(
    env: Env<'a>,
    [store, index, score, query]: [Term<'a>; 4],
) -> NifResult<Term<'a>> {
    let rank = |found: Found| {
        let Query { group, ties, order } = Query::decode(query)?;
        found.read(env, |view| {
            let (index, board) = board(&view, index, &group)?;
            let score = score::decode(index, score, "score")?;
            let rank = right(board.rank_for_score(score, ties, order))?;
            Ok(rank.encode(env))
        })
    };
    answer(env, handle::with(store, rank))
}

/// `{:ok, score}` or `:error`.
fn score_for_rank<'a>(
    env: Env<'a>,
    [store, index, rank, query]: [Term<'a>; 4],
) -> NifResult<Term<'a>> {
    // An integer that is no place is beyond all places.
    let place = rank.decode().unwrap_or(usize::MAX);
    let select = |found: Found| {
        let Query { group, order, .. } = Query::decode(query)?;
        found.read(env, |view| {
            let (index, board) = board(&view, index, &group)?;
            Ok(match board.select(place, order) {
                Some((_, score)) => {
                    let score = told(env, index, score);
                    term::pair(env, atoms::ok().to_term(env), score)
                }
                None => atoms::error().to_term(env),
            })
        })
    };
    answer(env, handle::with(store, select))
}

/// A score of an index as a term.
fn told<'a>(env: Env<'a>, index: &Index, score: [Number; 2]) -> Term<'a> {
    score::encode_fields(env, &score[..index.as_ref().len()])
}

/// How many records a group has.
fn count<'a>(env: Env<'a>, [store, index, group]: [Term<'a>; 3]) -> NifResult<Term<'a>> {
    ask(env, store, index, group, |board| board.len())
}

/// How many different scores a group has.
fn count_distinct<'a>(env: Env<'a>, [store, index, group]: [Term<'a>; 3]) -> NifResult<Term<'a>> {
    ask(env, store, index, group, |board| board.distinct())
}

fn ask<'a>(
    env: Env<'a>,
    store: Term<'a>,
    index: Term<'a>,
    group: Term<'a>,
    number: impl Fn(Board<'_, [Number; 2]>) -> usize,
) -> NifResult<Term<'a>> {
    let ask = |found: Found| {
        let group = group::encode(group)?;
        found.read(env, |view| {
            let (_, board) = board(&view, index, &group)?;
            Ok(number(board).encode(env))
        })
    };
    answer(env, handle::with(store, ask))
}

/// `{:ok, rank}` of the record under an id, or `{:error, :not_found}`; of a record, which need not be there,
/// the rank that its score has or would have, or `{:error, {:bad_field, index, path}}`.
fn rank<'a>(env: Env<'a>, [store, index, subject, query]: [Term<'a>; 4]) -> NifResult<Term<'a>> {
    let rank = |found: Found| {
        let query = Query::decode(query)?;
        if subject.is_map() {
            let record = term::encode_bytes(subject)?;
            return found.read(env, |view| {
                rank_of_record(env, &view, index, &record, &query)
            });
        }
        let key = found.key(subject)?;
        found.read(env, |view| {
            let (index, _) = named(&view, index)?;
            let rank = view.rank(&index, key, query.ties, query.order);
            Ok(found_or_not(env, rank.map(|rank| rank.encode(env))))
        })
    };
    answer(env, handle::with(store, rank))
}

fn rank_of_record<'a>(
    env: Env<'a>,
    view: &View<'_>,
    name: Term<'a>,
    record: &[u8],
    query: &Query,
) -> Result<Term<'a>, Refusal> {
    let (name, _) = named(view, name)?;
    let (&first, rest) = record.split_first().expect("an encoded value");
    let candidate = view.candidate(&name, BlobRef::Bytes(first, rest));
    Ok(match candidate.expect("there is an index of this name") {
        Ok(candidate) => {
            let rank = candidate
                .group
                .rank_for_score(candidate.score, query.ties, query.order);
            (atoms::ok(), right(rank)?).encode(env)
        }
        Err(bad) => {
            let reason = (atoms::bad_field(), name, bad.encode(env));
            (atoms::error(), reason).encode(env)
        }
    })
}

/// The records of a group of an index.
struct Entries<'a> {
    index: Term<'a>,
    query: Query,
    /// Whether the records come with their rows.
    values: bool,
}

impl<'a> Listing<'a> for Entries<'a> {
    type Kind = Recorded;

    /// Of `{index, query, values}`.
    fn decode(listing: Term<'a>) -> Result<Self, Refusal> {
        let (index, query, values) = listing.decode::<(Term, Term, bool)>()?;
        Ok(Self {
            index,
            query: Query::decode(query)?,
            values,
        })
    }

    fn rows(
        &self,
        env: Env<'a>,
        namespace: &Namespace,
        view: &View<'_>,
        places: Range<usize>,
    ) -> Result<Listed<'a>, Refusal> {
        let (index, board) = board(view, self.index, &self.query.group)?;
        let standings = standings::at(board, &self.query, places);
        if !self.values {
            let row = standings.map(|row| {
                let id = rows::branded(env, *namespace, row.id);
                term::triple(env, row.rank.encode(env), id, told(env, index, row.score))
            });
            return Ok(row.collect());
        }
        let standings: Vec<_> = standings.collect();
        let ids: Vec<_> = standings.iter().map(|row| row.id).collect();
        let mut listed = Listed::new();
        view.get_many(&ids, |at, record| {
            let (row, id) = (&standings[at], rows::branded(env, *namespace, ids[at]));
            let record = term::decode(
                env,
                record.expect("records are indexed while they are there"),
            );
            listed.push((row.rank, id, told(env, index, row.score), record).encode(env));
        });
        Ok(listed)
    }
}

/// `{:ok, rows}` or `{:more, continuation}` for `rank_index_more`: those whose ranks are from `low` to `high`,
/// where `nil` is open; up to `limit` or `:all`, from the end if `last` is asked for.
#[rustler::nif(name = "rank_index_by_rank")]
fn by_rank<'a>(
    env: Env<'a>,
    store: Term<'a>,
    listing: Term<'a>,
    (low, high): (Option<i64>, Option<i64>),
    limit: Term<'a>,
    last: bool,
) -> NifResult<Term<'a>> {
    let bound = |rank: Option<i64>| rank.map_or(Bound::Unbounded, Bound::Included);
    let range = (bound(low), bound(high));
    let limit = limit_of(limit);
    let scan = |found: Found| {
        standings::list(
            env,
            found,
            listing,
            usize::MAX,
            |entries: &Entries, view| {
                let Query { group, ties, order } = &entries.query;
                let (_, board) = board(view, entries.index, group)?;
                let places = board.by_rank(range, *ties, *order).places();
                Ok(Some(cut(places, limit, last)))
            },
        )
    };
    answer(env, handle::with(store, scan))
}

/// As `rank_index_by_rank`: those whose scores are between two bounds.
#[rustler::nif(name = "rank_index_by_value")]
fn by_value<'a>(
    env: Env<'a>,
    store: Term<'a>,
    listing: Term<'a>,
    (low, high): (Term<'a>, Term<'a>),
    limit: Term<'a>,
    last: bool,
) -> NifResult<Term<'a>> {
    let limit = limit_of(limit);
    let scan = |found: Found| {
        standings::list(
            env,
            found,
            listing,
            usize::MAX,
            |entries: &Entries, view| {
                let Query { group, ties, order } = &entries.query;
                let (index, board) = board(view, entries.index, group)?;
                let bound = |score| score::decode_bound(index, score, "range");
                let range = (bound(low)?, bound(high)?);
                let places = right(board.by_score(range, *ties, *order))?.places();
                Ok(Some(cut(places, limit, last)))
            },
        )
    };
    answer(env, handle::with(store, scan))
}

/// Up to `limit` places, the first or the last.
fn cut(places: Range<usize>, limit: usize, last: bool) -> Range<usize> {
    let Range { start, end } = places;
    match last {
        false => start..end.min(start.saturating_add(limit)),
        true => start.max(end.saturating_sub(limit))..end,
    }
}

/// As the function that answered `{:more, continuation}` of rows.
#[rustler::nif(name = "rank_index_more")]
fn more<'a>(env: Env<'a>, continuation: Term<'a>) -> NifResult<Term<'a>> {
    answer(env, standings::proceed::<Entries>(env, continuation))
}

/// `{:ok, names}` of the indexes, in the order in which they were added.
#[rustler::nif(name = "rank_index_names")]
fn names<'a>(env: Env<'a>, store: Term<'a>) -> NifResult<Term<'a>> {
    let names = |found: Found| {
        found.read(env, |view| {
            let names: Vec<_> = view.indexes().map(RankIndex::name).collect();
            Ok((atoms::ok(), names).encode(env))
        })
    };
    answer(env, handle::with(store, names))
}

/// `:ok`, `{:error, :exists}`, or why a record that is there is refused. `listener` is `nil`, or `{pid, tag}`
/// of a process that gets `{tag, done, all}` now and then: how many of how many records have been looked at.
#[rustler::nif(name = "rank_index_add", schedule = "DirtyCpu")]
fn add<'a>(
    env: Env<'a>,
    store: Term<'a>,
    declaration: Term<'a>,
    listener: Option<(LocalPid, Term<'a>)>,
) -> NifResult<Term<'a>> {
    let tell = |done: usize, all: usize| {
        if let Some((pid, tag)) = &listener {
            // Whoever does not live any more need not know.
            let _gone = env.send(pid, (*tag, done, all));
        }
    };
    let add = |found: Found| {
        let index = Index::decode(declaration)?;
        found.write(env, |store| answered(env, store.add_index(index, tell)))
    };
    answer(env, handle::with(store, add))
}

/// `:ok`, or `{:error, :not_found}` if there is no index of this name.
#[rustler::nif(name = "rank_index_remove", schedule = "DirtyCpu")]
fn remove<'a>(env: Env<'a>, store: Term<'a>, name: Atom) -> NifResult<Term<'a>> {
    let remove = |found: Found| {
        found.write(env, |store| match store.remove_index(&name) {
            true => atoms::ok().to_term(env),
            false => (atoms::error(), atoms::not_found()).encode(env),
        })
    };
    answer(env, handle::with(store, remove))
}
