//! Where records are in the ranking of all indexes, and how they move: one record by a path in each index of
//! the ranking, many by a batch.

use std::collections::hash_map::{Entry, HashMap};
use std::hash::RandomState;

use crate::publish::Edit;
use crate::ranking::{Draft, Move, Name, Refusal, Score};
use crate::value::Value;

use super::{qualified, Bits, RankIndex, Rejected, RejectedBy, Roots};

/// Where an index has a record.
#[derive(PartialEq)]
struct Place<B> {
    /// The name of the group.
    group: Vec<u8>,
    score: B,
}

/// Where an index has record `id`, or will have it.
fn place<V: Value, X: RankIndex<V>>(
    (number, index): (u32, &X),
    id: u64,
    record: V::Ref<'_>,
) -> Result<Place<Bits<V, X>>, RejectedBy<V, X>> {
    let mut group = qualified(number);
    let score = index.rank_by(record, &mut group);
    let score = score.map_err(|error| Rejected::Record {
        index: index.name(),
        id,
        error,
    })?;
    let score = score.encode(index.rule());
    let score = score.map_err(|refusal| Rejected::Score {
        index: index.name(),
        refusal,
    })?;
    Ok(Place { group, score })
}

/// The ranking in a version that is being prepared.
pub(super) fn draft<V: Value, X: RankIndex<V>>(roots: &mut Roots<V, X>) -> Draft<'_, Bits<V, X>> {
    let (_, _, places, scores, ties, names) = roots;
    Draft {
        places,
        scores,
        ties,
        names,
    }
}

/// How one record moves.
pub(super) struct Step<V: Value, X: RankIndex<V>> {
    id: u64,
    moves: Vec<Moved<X::Name, Bits<V, X>>>,
}

/// How a record moves in one index.
struct Moved<N, B> {
    index: N,
    unique: bool,
    old: Option<Place<B>>,
    new: Option<Place<B>>,
}

impl<V: Value, X: RankIndex<V>> Step<V, X> {
    pub(super) fn new(id: u64) -> Self {
        let moves = Vec::new();
        Self { id, moves }
    }

    /// Notes how the record moves in an index.
    pub(super) fn add(
        &mut self,
        index: (u32, &X),
        old: Option<V::Ref<'_>>,
        new: Option<V::Ref<'_>>,
    ) -> Result<(), RejectedBy<V, X>> {
        let new = new
            .map(|record| place(index, self.id, record))
            .transpose()?;
        let old = old.and_then(|record| place(index, self.id, record).ok());
        if old != new {
            self.moves.push(Moved {
                index: index.1.name(),
                unique: index.1.is_unique(),
                old,
                new,
            });
        }
        Ok(())
    }

    /// Changes the ranking; `names` are to be settled once it is published.
    pub(super) fn apply(
        self,
        edit: &mut Edit,
        roots: &mut Roots<V, X>,
        hashing: &RandomState,
        names: &mut Vec<Name<'static>>,
    ) -> Result<(), RejectedBy<V, X>> {
        let mut draft = draft::<V, X>(roots);
        names.clear();
        for moved in self.moves {
            let group = moved.new.as_ref().map(|new| &new.group);
            let left = moved.old.filter(|old| Some(&old.group) != group);
            if let Some(old) = left {
                draft.remove(edit, &Name::new(old.group, hashing), self.id);
            }
            if let Some(Place { group, score }) = moved.new {
                let mut name = Name::new(group, hashing);
                let member = (&mut name, self.id);
                let put = draft.put(edit, member, Some(score), moved.unique, |_| Ok(Some(score)));
                put.map_err(|refusal| Rejected::Score {
                    index: moved.index,
                    refusal,
                })?;
                names.push(name);
            }
        }
        Ok(())
    }
}

/// How many records move.
pub(super) struct Batch<'h, V: Value, X: RankIndex<V>> {
    hashing: &'h RandomState,
    /// Which of `groups` has a name.
    known: HashMap<Vec<u8>, usize>,
    /// Of each group that is touched, its name, its index, and whether that is unique.
    groups: Vec<(Name<'static>, X::Name, bool)>,
    moves: Vec<Move<Bits<V, X>>>,
}

impl<'h, V: Value, X: RankIndex<V>> Batch<'h, V, X> {
    pub(super) fn new(hashing: &'h RandomState) -> Self {
        Self {
            hashing,
            known: HashMap::new(),
            groups: Vec::new(),
            moves: Vec::new(),
        }
    }

    /// Notes how record `id` moves in an index.
    pub(super) fn add(
        &mut self,
        index: (u32, &X),
        id: u64,
        old: Option<V::Ref<'_>>,
        new: V::Ref<'_>,
    ) -> Result<(), RejectedBy<V, X>> {
        let new = place(index, id, new)?;
        let old = old.and_then(|record| place(index, id, record).ok());
        let (stays, left) = match old {
            Some(old) if old.group == new.group => (Some(old.score), None),
            left => (None, left),
        };
        if let Some(Place { group, score }) = left {
            self.note(index, group, id, [Some(score), None]);
        }
        self.note(index, new.group, id, [stays, Some(new.score)]);
        Ok(())
    }

    fn note(
        &mut self,
        (_, index): (u32, &X),
        group: Vec<u8>,
        id: u64,
        [old, new]: [Option<Bits<V, X>>; 2],
    ) {
        let name = self.group(group, index);
        self.moves.push(Move { name, id, old, new });
    }

    fn group(&mut self, name: Vec<u8>, index: &X) -> usize {
        match self.known.entry(name) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let name = Name::new(new.key().clone(), self.hashing);
                self.groups.push((name, index.name(), index.is_unique()));
                *new.insert(self.groups.len() - 1)
            }
        }
    }

    /// Changes the ranking; `names` are to be settled once it is published.
    pub(super) fn apply(
        self,
        edit: &mut Edit,
        roots: &mut Roots<V, X>,
        names: &mut Vec<Name<'static>>,
    ) -> Result<(), RejectedBy<V, X>> {
        let mut draft = draft::<V, X>(roots);
        names.clear();
        let mut owners = Vec::with_capacity(self.groups.len());
        for (name, index, unique) in self.groups {
            names.push(name);
            owners.push((index, unique));
        }
        let unique = |name: usize| owners[name].1;
        draft
            .apply(edit, names, &self.moves, unique)
            .map_err(|name| Rejected::Score {
                index: owners[name].0.clone(),
                refusal: Refusal::NotUnique,
            })
    }
}
