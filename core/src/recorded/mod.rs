//! The record store: values under ids, and rankings of them that can never be out of step.

mod places;

use std::fmt;
use std::hash::RandomState;
use std::ops::{Range, RangeBounds};

use crate::index::{Change, Root};
use crate::publish::{Gauge, Hold, Info, Moment, Outcome, Published};
use crate::ranking::{
    Board, Multiplicities, Name, Names, Order, Places, Ranking, Refusal, Score, Scores, Ties,
};
use crate::table::{row, Rows};
use crate::value::{Boxed, Staged, Value};

use places::{draft, Batch, Step};

/// How a record is ranked: in which group, and by which score.
///
/// What is asked of a record must always have the same answer, since the answer for the record that is
/// replaced is how its place is found.
pub trait RankIndex<V: Value>: Send + Sync + 'static {
    /// What records are ranked by. Of all indexes of a store it is one type; those that need fewer fields
    /// leave the last ones [`Nil`](crate::Number::Nil).
    type Score: Score;

    /// What an index is known by.
    type Name: Clone + Eq + fmt::Debug;

    /// Why a record cannot be ranked.
    type Error;

    /// The name of the index: always the same, and of the indexes of a store only one has it.
    fn name(&self) -> Self::Name;

    /// What is to be known of all scores.
    fn rule(&self) -> &<Self::Score as Score>::Rule;

    /// Whether two records of a group must not have the same score.
    fn is_unique(&self) -> bool;

    /// The score of a record; the name of its group is appended to `group`.
    fn rank_by(&self, record: V::Ref<'_>, group: &mut Vec<u8>) -> Result<Self::Score, Self::Error>;
}

/// Why a change of records was refused. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejected<N, E> {
    /// An index cannot rank record `id`.
    Record {
        /// The name of the index.
        index: N,
        /// The record.
        id: u64,
        /// What the index says of it.
        error: E,
    },
    /// An index refuses the score of a record: [`Refusal::NotUnique`] if two records of a group have it.
    Score {
        /// The name of the index.
        index: N,
        /// Why.
        refusal: Refusal,
    },
    /// The store has an index of this name.
    Exists {
        /// The name.
        index: N,
    },
}

/// [`Rejected`] by the indexes of a store.
pub type RejectedBy<V, X> = Rejected<<X as RankIndex<V>>::Name, <X as RankIndex<V>>::Error>;

impl<N: fmt::Debug, E: fmt::Display> fmt::Display for Rejected<N, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record { index, id, error } => {
                write!(f, "index {index:?} cannot rank record {id}: {error}")
            }
            Self::Score { index, refusal } => write!(f, "index {index:?}: {refusal}"),
            Self::Exists { index } => write!(f, "there is an index {index:?}"),
        }
    }
}

impl<N: fmt::Debug, E: fmt::Debug + fmt::Display> std::error::Error for Rejected<N, E> {}

type Indexes<X> = Root<u32, <Boxed<X> as Value>::Slot>;

type Bits<V, X> = <<X as RankIndex<V>>::Score as Score>::Bits;

/// Records; the declarations of the indexes by number, in the order in which they were added; and one ranking
/// for all of them, in which the name of a group begins with the number of its index. The indexes of a version are those that it names, so a
/// change of records and a new index cannot miss each other.
type Roots<V, X> = (
    Root<u64, <V as Value>::Slot>,
    Indexes<X>,
    Places<Bits<V, X>>,
    Scores<Bits<V, X>>,
    Multiplicities<Bits<V, X>>,
    Names,
);

/// Values under `u64` ids, ordered by id, with indexes that rank them.
///
/// A put and a removal are one publication of the records and of all indexes: no reader finds one without
/// the other. Indexes are declared as values of one type, each with a name, and may be any number; one that
/// is added to records that are there already appears with all of them in it.
///
/// ```
/// use echo_data_core::{Order, RankIndex, RecordStore, Ties};
///
/// struct ByLength;
///
/// impl RankIndex<u64> for ByLength {
///     type Score = i64;
///     type Name = &'static str;
///     type Error = std::convert::Infallible;
///
///     fn name(&self) -> &'static str {
///         "length"
///     }
///
///     fn rule(&self) -> &() {
///         &()
///     }
///
///     fn is_unique(&self) -> bool {
///         false
///     }
///
///     fn rank_by(&self, length: &u64, _group: &mut Vec<u8>) -> Result<i64, Self::Error> {
///         Ok(*length as i64)
///     }
/// }
///
/// let rivers = RecordStore::new();
/// rivers.add_index(ByLength, |_done, _all| {})?;
/// rivers.put_all([(1, 6650), (2, 6400), (3, 6300)])?;
/// let view = rivers.view();
/// assert_eq!(view.rank(&"length", 2, Ties::Ordinal, Order::Descending), Some(1));
/// # Ok::<(), echo_data_core::Rejected<&str, std::convert::Infallible>>(())
/// ```
pub struct RecordStore<V: Value, X: RankIndex<V>> {
    versions: Published<Roots<V, X>>,
    hashing: RandomState,
}

impl<V: Value, X: RankIndex<V>> RecordStore<V, X> {
    /// Records, a progress report is made after so many of them.
    const STEP: usize = 1024;

    /// A store without records and without indexes.
    pub fn new() -> Self {
        Self {
            versions: Published::new(),
            hashing: RandomState::new(),
        }
    }

    /// The current state, for reading now. Wait-free. Keep it for one operation; see
    /// [`OrderedStore::view`](crate::OrderedStore::view).
    #[inline]
    pub fn view(&self) -> RecordView<'_, V, X> {
        RecordView {
            moment: self.versions.now(),
            store: self,
        }
    }

    /// Keeps the current state readable, through [`at`](Self::at), until the answer is dropped. It does
    /// not keep the store alive.
    pub fn hold(&self) -> HeldRecords<V, X> {
        HeldRecords(self.versions.hold())
    }

    /// The state at a held moment, or `None` if it was held from another store.
    pub fn at<'a>(&'a self, held: &'a HeldRecords<V, X>) -> Option<RecordView<'a, V, X>> {
        let moment = self.versions.at(&held.0)?;
        Some(RecordView {
            moment,
            store: self,
        })
    }

    /// Puts `value` under `id`, and in its places; answers whether a value was replaced. O(indexes × log n).
    pub fn put(&self, id: u64, value: V) -> Result<bool, RejectedBy<V, X>> {
        let row = Staged::new(value);
        let replaced = self.change(id, Some(&row))?;
        row.commit();
        Ok(replaced.is_some())
    }

    /// Puts all rows in one publication, or none if one is refused. Of rows with the same id the last
    /// wins. O(indexes × rows × log n).
    pub fn put_all(
        &self,
        rows: impl IntoIterator<Item = (u64, V)>,
    ) -> Result<(), RejectedBy<V, X>> {
        let rows = rows.into_iter();
        let mut rows: Vec<_> = rows.map(|(id, value)| (id, Staged::new(value))).collect();
        rows.reverse();
        rows.sort_by_key(|&(id, _)| id);
        rows.dedup_by_key(|&mut (id, _)| id);
        self.put_rows(&rows)?;
        rows.into_iter().for_each(|(_, row)| row.commit());
        Ok(())
    }

    /// Removes `id` from the records and from all indexes; answers whether it was there.
    /// O(indexes × log n).
    pub fn remove(&self, id: u64) -> bool {
        self.take(id, |_| ()).is_some()
    }

    /// Removes `id` from the records and from all indexes, and answers what `read`, which runs once, makes
    /// of its value. O(indexes × log n).
    pub fn take<T>(&self, id: u64, read: impl FnOnce(V::Ref<'_>) -> T) -> Option<T> {
        // Held over the change, so that the slot's payload outlives its removal.
        let _pin = self.versions.pin();
        // No index refuses a record that goes.
        let slot = self.change(id, None).ok().flatten()?;
        Some(read(V::read(&slot)))
    }

    /// Adds an index over all records, those that are there and those to come. It appears whole, in one
    /// publication, or not at all if it refuses a record or the store has an index of its name. O(n log n).
    /// `progress` is told, now and then, how many of how many records have been looked at; it begins again if
    /// another writer was first.
    pub fn add_index(
        &self,
        index: X,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<(), RejectedBy<V, X>> {
        let declaration = Staged::new(Boxed(index));
        let mut names = Vec::new();
        self.versions.update(|edit, roots| {
            let number = roots.1.last().map_or(0, |(number, _)| number + 1);
            let slot = declaration.enter(edit);
            let index = Boxed::read(&slot);
            if find(&roots.1, &index.name()).is_some() {
                let index = index.name();
                return Outcome::Keep(Err(Rejected::Exists { index }));
            }
            let mut batch = Batch::new(&self.hashing);
            let all = roots.0.len();
            for (done, (&id, record)) in roots.0.entries(0..all).enumerate() {
                if done % Self::STEP == 0 {
                    progress(done, all);
                }
                let record = V::read(record);
                if let Err(rejected) = batch.add((number, index), id, None, record) {
                    return Outcome::Keep(Err(rejected));
                }
            }
            progress(all, all);
            roots.1.insert(edit, number, slot);
            outcome(batch.apply(edit, roots, &mut names), ())
        })?;
        declaration.commit();
        names.into_iter().for_each(Name::settle);
        Ok(())
    }

    /// Removes the index of this name, in one publication; answers whether there was one. O(groups of all
    /// indexes + groups of this one × log n): its records are cut out, not walked.
    pub fn remove_index(&self, name: &X::Name) -> bool {
        self.versions.update(|edit, roots| {
            let Some((number, _)) = find(&roots.1, name) else {
                return Outcome::Keep(false);
            };
            roots.1.remove(edit, &number);
            let prefix = qualified(number);
            draft::<V, X>(roots).drop_groups(edit, |name| name.starts_with(&prefix));
            Outcome::Publish(true)
        })
    }

    /// What the store holds, in records and in memory. O(places for snapshots).
    pub fn info(&self) -> Info {
        self.versions.info(|roots| roots.0.len())
    }

    /// An account of this store's memory that can be read after the store is gone.
    pub fn gauge(&self) -> Gauge {
        self.versions.gauge()
    }

    /// Puts or removes one record; answers the slot that it had before.
    fn change(
        &self,
        id: u64,
        row: Option<&Staged<V>>,
    ) -> Result<Option<V::Slot>, RejectedBy<V, X>> {
        let mut names = Vec::new();
        let changed = self.versions.update(|edit, roots| {
            let old = roots.0.get(&id).copied();
            let new = row.map(|row| row.enter(edit));
            if old.is_none() && new.is_none() {
                return Outcome::Keep(Ok(None));
            }
            let mut step = Step::new(id);
            for (number, declaration) in roots.1.entries(0..usize::MAX) {
                let index = (*number, Boxed::read(declaration));
                let (old, new) = (old.as_ref().map(V::read), new.as_ref().map(V::read));
                if let Err(rejected) = step.add(index, old, new) {
                    return Outcome::Keep(Err(rejected));
                }
            }
            match new {
                Some(new) => roots.0.insert(edit, id, new),
                None => roots.0.remove(edit, &id),
            };
            let ranked = step.apply(edit, roots, &self.hashing, &mut names);
            outcome(ranked, old)
        })?;
        names.into_iter().for_each(Name::settle);
        Ok(changed)
    }

    /// Puts all rows, sorted by id, in one publication.
    fn put_rows(&self, rows: &[(u64, Staged<V>)]) -> Result<(), RejectedBy<V, X>> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut names = Vec::new();
        self.versions.update(|edit, roots| {
            let mut records = Vec::with_capacity(rows.len());
            let mut batch = Batch::new(&self.hashing);
            for (id, row) in rows {
                let (old, new) = (roots.0.get(id), row.enter(edit));
                for (number, declaration) in roots.1.entries(0..usize::MAX) {
                    let index = (*number, Boxed::read(declaration));
                    let (old, new) = (old.map(V::read), V::read(&new));
                    if let Err(rejected) = batch.add(index, *id, old, new) {
                        return Outcome::Keep(Err(rejected));
                    }
                }
                records.push((*id, Change::Put(new)));
            }
            let ranked = batch.apply(edit, roots, &mut names);
            outcome(ranked.map(|()| roots.0.rebuild(edit, &records)), ())
        })?;
        names.into_iter().for_each(Name::settle);
        Ok(())
    }
}

fn outcome<T, E>(ranked: Result<(), E>, answer: T) -> Outcome<Result<T, E>> {
    match ranked {
        Ok(()) => Outcome::Publish(Ok(answer)),
        Err(rejected) => Outcome::Keep(Err(rejected)),
    }
}

impl<V: Value, X: RankIndex<V>> Default for RecordStore<V, X> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: Value, X: RankIndex<V>> fmt::Debug for RecordStore<V, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.info().fmt("RecordStore", f)
    }
}

/// The number and the declaration of the index of this name. O(indexes).
fn find<'v, V: Value, X: RankIndex<V>>(
    indexes: &'v Indexes<X>,
    name: &X::Name,
) -> Option<(u32, &'v X)> {
    let mut indexes = indexes.entries(0..usize::MAX);
    indexes.find_map(|(number, slot)| {
        let index = Boxed::read(slot);
        (index.name() == *name).then_some((*number, index))
    })
}

/// What the name of a group of an index begins with, in the ranking of all indexes.
fn qualified(index: u32) -> Vec<u8> {
    index.to_be_bytes().to_vec()
}

/// The group of an index that a record belongs to, and the score that it has there.
pub struct Candidate<'v, S: Score> {
    /// The group, whether the record is stored or not.
    pub group: Board<'v, S>,
    /// What the record is ranked by.
    pub score: S,
}

/// A moment of a record store, kept readable until this is dropped or the store is.
pub struct HeldRecords<V: Value, X: RankIndex<V>>(Hold<Roots<V, X>>);

/// One state of a record store: records and indexes of the same moment.
pub struct RecordView<'a, V: Value, X: RankIndex<V>> {
    moment: Moment<'a, Roots<V, X>>,
    store: &'a RecordStore<V, X>,
}

impl<V: Value, X: RankIndex<V>> RecordView<'_, V, X> {
    /// How many records there are. O(1).
    pub fn len(&self) -> usize {
        self.moment.0.len()
    }

    /// Whether there are no records. O(1).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The record under `id`. O(log n).
    #[inline]
    pub fn get(&self, id: u64) -> Option<V::Ref<'_>> {
        self.moment.0.get(&id).map(V::read)
    }

    /// Looks up many records with their memory accesses overlapped; `found` gets each id's place in `ids`
    /// and its record, in order. O(ids × log n).
    pub fn get_many<'v>(&'v self, ids: &[u64], mut found: impl FnMut(usize, Option<V::Ref<'v>>)) {
        let records = &self.moment.0;
        records.get_many(ids, |at, slot| found(at, slot.map(V::read)));
    }

    /// Where the ids in `range` are in the order of ids; empty for an inverted range. O(log n).
    pub fn positions(&self, range: impl RangeBounds<u64>) -> Range<usize> {
        self.moment.0.positions(range)
    }

    /// The records at `positions`, which are cut to what there is, from either end. O(log n) to begin, then
    /// amortised O(1) a row.
    pub fn slice(&self, positions: Range<usize>) -> Rows<'_, V> {
        Rows::of(&self.moment.0, positions)
    }

    /// The records whose ids are in `range`, from either end. O(log n) to begin, then amortised O(1) a row.
    pub fn range(&self, range: impl RangeBounds<u64>) -> Rows<'_, V> {
        self.slice(self.positions(range))
    }

    /// The record at `position`, counted from 0 in the order of ids. O(log n).
    pub fn select(&self, position: usize) -> Option<(u64, V::Ref<'_>)> {
        self.moment.0.select(position).map(row::<V>)
    }

    /// The declaration of each index, in the order in which they were added.
    pub fn indexes(&self) -> impl ExactSizeIterator<Item = &X> {
        let indexes = self.moment.1.entries(0..usize::MAX);
        indexes.map(|(_, slot)| Boxed::read(slot))
    }

    /// The declaration of the index of this name, if there was one at this moment. O(indexes).
    pub fn index(&self, name: &X::Name) -> Option<&X> {
        find(&self.moment.1, name).map(|(_, index)| index)
    }

    /// How many groups all indexes have together. O(1).
    pub fn group_count(&self) -> usize {
        self.moment.5.len()
    }

    /// A group of an index; `None` if there was no index of this name at this moment.
    /// O(indexes + log groups).
    pub fn group(&self, index: &X::Name, group: &[u8]) -> Option<Board<'_, X::Score>> {
        let (number, index) = find(&self.moment.1, index)?;
        let mut name = qualified(number);
        name.extend_from_slice(group);
        Some(self.board(index, name))
    }

    /// What an index makes of a record, stored or not; `None` if there was no index of this name at this
    /// moment. O(indexes + log groups).
    pub fn candidate(
        &self,
        index: &X::Name,
        record: V::Ref<'_>,
    ) -> Option<Result<Candidate<'_, X::Score>, X::Error>> {
        let (number, index) = find(&self.moment.1, index)?;
        let mut name = qualified(number);
        let score = index.rank_by(record, &mut name);
        Some(score.map(|score| Candidate {
            group: self.board(index, name),
            score,
        }))
    }

    /// Where record `id` stands in its group of an index. O(indexes + log n).
    pub fn rank(&self, index: &X::Name, id: u64, ties: Ties, order: Order) -> Option<usize> {
        let candidate = self.candidate(index, self.get(id)?)?.ok()?;
        candidate.group.rank(id, ties, order)
    }

    fn board<'v>(&'v self, index: &'v X, name: Vec<u8>) -> Board<'v, X::Score> {
        let (_, _, places, scores, ties, names) = &*self.moment;
        let ranking = Ranking {
            places,
            scores,
            ties,
            names,
        };
        let name = Name::new(name, &self.store.hashing);
        Board::new(ranking, &name, index.rule())
    }
}
