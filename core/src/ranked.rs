//! The ranked set: members of groups, each with a score, and the places that follow from the scores.

use std::collections::BTreeSet;
use std::hash::RandomState;

use crate::publish::{Gauge, Hold, Info, Moment, Outcome, Published};
use crate::ranking::{
    text, Bits, Board, Draft, Move, Multiplicities, Name, Names, Order, Places, Put, Ranking,
    Refusal, Score, Scores, When,
};

type Roots<B> = (Places<B>, Scores<B>, Multiplicities<B>, Names);

/// Members, by id, in groups; in each group a member has one score, and a place among the others.
///
/// Two questions are answered in O(log n): where does a member, or a score, stand, and who stands at a
/// place. How ties stand is chosen by each question, see [`Ties`](crate::Ties). A group is named by any
/// bytes; the empty name is as good as any other. It is there while it has members.
///
/// What the scores are is the type's parameter, see [`Score`]: integers, floats, pairs of them, ascending
/// or descending, or numbers whose kinds are chosen at run time. A member costs about 70 bytes with a
/// score of one field that nobody shares, and about 50 where ten members share each score.
///
/// Every change is one publication of all indexes, so readers find them agreeing at every moment.
///
/// ```
/// use echo_data_core::{Order, Ranked, Ties, When};
///
/// let scores = Ranked::<i64>::new();
/// for (id, score) in [(1, 40), (2, 70), (3, 70), (4, 90)] {
///     scores.put(b"today", id, score, When::ALWAYS).expect("an integer");
/// }
/// let view = scores.view();
/// let today = view.group(b"today");
/// assert_eq!(today.rank(3, Ties::Ordinal, Order::Ascending), Some(2));
/// assert_eq!(today.rank(3, Ties::Competition, Order::Descending), Some(1));
/// assert_eq!(today.select(0, Order::Descending), Some((4, 90)));
/// ```
pub struct Ranked<S: Score> {
    versions: Published<Roots<S::Bits>>,
    rule: S::Rule,
    unique: bool,
    hashing: RandomState,
}

impl<S: Score<Rule = ()>> Ranked<S> {
    /// An empty set of scores whose type tells their order.
    pub fn new() -> Self {
        Self::with_rule(())
    }
}

impl<S: Score> Ranked<S> {
    /// An empty set of scores that go by `rule`.
    ///
    /// ```
    /// use echo_data_core::{Kind, Measure, Number, Order, Ranked, Refusal, When};
    ///
    /// let measure = Measure { kind: Kind::Integer, order: Order::Descending };
    /// let set = Ranked::<[Number; 1]>::with_rule([measure]);
    /// assert!(set.put(b"", 1, [Number::Integer(5)], When::ALWAYS).is_ok());
    /// let float = set.put(b"", 1, [Number::Float(5.0)], When::ALWAYS);
    /// assert_eq!(float, Err(Refusal::WrongKind(0)));
    /// ```
    pub fn with_rule(rule: S::Rule) -> Self {
        Self {
            versions: Published::new(),
            rule,
            unique: false,
            hashing: RandomState::new(),
        }
    }

    /// The set, refusing from now on that two members of a group have the same score; `None`, where scores
    /// have it, is a score like another.
    ///
    /// ```
    /// use echo_data_core::{Ranked, Refusal, When};
    ///
    /// let seats = Ranked::<i64>::new().unique();
    /// assert!(seats.put(b"row 1", 7, 12, When::ALWAYS).is_ok());
    /// assert_eq!(seats.put(b"row 1", 8, 12, When::ALWAYS), Err(Refusal::NotUnique));
    /// assert!(seats.put(b"row 2", 8, 12, When::ALWAYS).is_ok());
    /// ```
    #[must_use]
    pub fn unique(self) -> Self {
        Self {
            unique: true,
            ..self
        }
    }

    /// The current state, for reading now. Wait-free. Keep it for one operation; see
    /// [`OrderedStore::view`](crate::OrderedStore::view).
    #[inline]
    pub fn view(&self) -> RankedView<'_, S> {
        RankedView {
            moment: self.versions.now(),
            set: self,
        }
    }

    /// Keeps the current state readable, through [`at`](Self::at), until the answer is dropped. It does
    /// not keep the set alive.
    pub fn hold(&self) -> HeldRanks<S> {
        HeldRanks(self.versions.hold())
    }

    /// The state at a held moment, or `None` if it was held from another set.
    pub fn at<'a>(&'a self, held: &'a HeldRanks<S>) -> Option<RankedView<'a, S>> {
        let moment = self.versions.at(&held.0)?;
        Some(RankedView { moment, set: self })
    }

    /// Gives `id` a score in `group`, in which it may have another one, if the conditions are met.
    /// O(log n).
    ///
    /// ```
    /// use echo_data_core::{Condition, Put, Ranked, When};
    ///
    /// let best = Ranked::<i64>::new();
    /// let put = |score| best.put(b"", 1, score, When::from(Condition::Greater));
    /// assert_eq!(put(50), Ok(Put::Added));
    /// assert_eq!(put(40), Ok(Put::Unchanged));
    /// assert_eq!(put(60), Ok(Put::Updated));
    /// ```
    pub fn put(&self, group: &[u8], id: u64, score: S, when: When) -> Result<Put, Refusal> {
        let score = score.encode(&self.rule)?;
        self.change(group, id, Some(score), |old| {
            Ok(when.admits(old, score).then_some(score))
        })
    }

    /// Gives all members their scores in `group` in one publication, or none if one is refused; answers
    /// how many are new to the group. Of scores for the same id the last counts. O(rows × log n):
    /// the score that a member has now is looked up, and each touched node is rebuilt once.
    pub fn put_all(
        &self,
        group: &[u8],
        rows: impl IntoIterator<Item = (u64, S)>,
    ) -> Result<usize, Refusal> {
        let rows = rows.into_iter();
        let encoded = rows.map(|(id, score)| Ok((id, score.encode(&self.rule)?)));
        let mut rows = encoded.collect::<Result<Vec<_>, Refusal>>()?;
        rows.reverse();
        rows.sort_by_key(|&(id, _)| id);
        rows.dedup_by_key(|&mut (id, _)| id);
        let mut names = [self.name(group)];
        let mut moves = Vec::with_capacity(rows.len());
        let added = self.versions.update(|edit, roots| {
            names.iter_mut().for_each(Name::begin);
            let mut draft = draft(roots);
            let [name] = &names;
            moves.clear();
            let olds = draft.read().scores_of(name, rows.iter().map(|&(id, _)| id));
            moves.extend(rows.iter().zip(olds).map(|(&(id, score), old)| Move {
                name: 0,
                id,
                old,
                new: Some(score),
            }));
            if moves.iter().all(|change| change.old == change.new) {
                return Outcome::Keep(Ok(0));
            }
            let added = moves.iter().filter(|change| change.old.is_none()).count();
            match draft.apply(edit, &mut names, &moves, |_| self.unique) {
                Ok(()) => Outcome::Publish(Ok(added)),
                Err(_) => Outcome::Keep(Err(Refusal::NotUnique)),
            }
        })?;
        names.into_iter().for_each(Name::settle);
        Ok(added)
    }

    /// Adds `delta` to the score of `id` in `group`, field by field; answers the new score, as it
    /// is kept. A member that is not there, and a field that is no number, count as zero. O(log n).
    ///
    /// ```
    /// use echo_data_core::{Ranked, Refusal};
    ///
    /// let set = Ranked::<i64>::new();
    /// assert_eq!(set.increment(b"", 1, i64::MAX), Ok(i64::MAX));
    /// assert_eq!(set.increment(b"", 1, 1), Err(Refusal::Overflow));
    /// assert_eq!(set.view().group(b"").score(1), Some(i64::MAX));
    /// ```
    pub fn increment(&self, group: &[u8], id: u64, delta: S) -> Result<S, Refusal> {
        delta.encode(&self.rule)?;
        let mut sum = delta;
        self.change(group, id, None, |old| {
            let total = match old {
                None => delta,
                Some(old) => {
                    let old = S::decode(old, &self.rule);
                    old.plus(delta).ok_or(Refusal::Overflow)?
                }
            };
            let bits = total.encode(&self.rule)?;
            sum = S::decode(bits, &self.rule);
            Ok(Some(bits))
        })?;
        Ok(sum)
    }

    /// Gives `id` in each of `groups` the score that `decide` makes of the one that it has there, or leaves
    /// it where that is `None`: all in one publication, or none if one is refused. Answers what was done in
    /// each group. O(groups × log n). `decide` may run more than once, when other writers are first.
    ///
    /// # Panics
    /// If a group is named twice.
    ///
    /// ```
    /// use echo_data_core::{Put, Ranked};
    ///
    /// let best = Ranked::<i64>::new();
    /// let enter = |groups: &[&[u8]], score: i64| {
    ///     best.update_each(groups, 1, |old| Ok(Some(score).filter(|_| old < Some(score))))
    /// };
    /// assert_eq!(enter(&[b"ever", b"today"], 50), Ok(vec![Put::Added, Put::Added]));
    /// assert_eq!(enter(&[b"ever", b"tomorrow"], 40), Ok(vec![Put::Unchanged, Put::Added]));
    /// ```
    pub fn update_each(
        &self,
        groups: &[&[u8]],
        id: u64,
        mut decide: impl FnMut(Option<S>) -> Result<Option<S>, Refusal>,
    ) -> Result<Vec<Put>, Refusal> {
        let distinct: BTreeSet<_> = groups.iter().collect();
        assert_eq!(distinct.len(), groups.len(), "a group is named twice");
        let mut names: Vec<_> = groups.iter().map(|group| self.name(group)).collect();
        let done = self.versions.update(|edit, roots| {
            names.iter_mut().for_each(Name::begin);
            let mut draft = draft(roots);
            let moves = match self.moves(&draft, &names, id, &mut decide) {
                Ok(moves) => moves,
                Err(refusal) => return Outcome::Keep(Err(refusal)),
            };
            let done: Vec<_> = moves.iter().map(Move::kind).collect();
            if done.iter().all(|&put| put == Put::Unchanged) {
                return Outcome::Keep(Ok(done));
            }
            match draft.apply(edit, &mut names, &moves, |_| self.unique) {
                Ok(()) => Outcome::Publish(Ok(done)),
                Err(_) => Outcome::Keep(Err(Refusal::NotUnique)),
            }
        })?;
        names.into_iter().for_each(Name::settle);
        Ok(done)
    }

    /// Takes `id` out of `group`; answers the score that it had. O(log n).
    pub fn delete(&self, group: &[u8], id: u64) -> Option<S> {
        let name = self.name(group);
        let old =
            self.versions
                .update(|edit, roots| match draft(roots).remove(edit, &name, id) {
                    None => Outcome::Keep(None),
                    old => Outcome::Publish(old),
                })?;
        Some(S::decode(old, &self.rule))
    }

    /// Takes the `count` members with the smallest scores out of `group`, the smallest first; all of them
    /// if there are not so many. O(members taken × log n).
    pub fn pop_min(&self, group: &[u8], count: usize) -> Vec<(u64, S)> {
        self.pop(group, count, Order::Ascending)
    }

    /// As [`pop_min`](Self::pop_min), from the other end: the largest first, and among equals the largest
    /// id.
    pub fn pop_max(&self, group: &[u8], count: usize) -> Vec<(u64, S)> {
        self.pop(group, count, Order::Descending)
    }

    /// Takes all members out of `group`; answers how many there were. O(log n), whatever their number.
    pub fn drop_group(&self, group: &[u8]) -> usize {
        let name = self.name(group);
        self.versions
            .update(|edit, roots| match draft(roots).drop_group(edit, &name) {
                0 => Outcome::Keep(0),
                dropped => Outcome::Publish(dropped),
            })
    }

    /// What the set holds, in members of all groups and in memory. O(places for snapshots).
    pub fn info(&self) -> Info {
        self.versions.info(|roots| roots.0.len())
    }

    /// An account of this set's memory that can be read after the set is gone.
    pub fn gauge(&self) -> Gauge {
        self.versions.gauge()
    }

    fn name<'n>(&self, group: &'n [u8]) -> Name<'n> {
        Name::new(group, &self.hashing)
    }

    /// What `decide` makes of the scores of `id` in the groups of these names.
    fn moves(
        &self,
        draft: &Draft<'_, S::Bits>,
        names: &[Name<'_>],
        id: u64,
        mut decide: impl FnMut(Option<S>) -> Result<Option<S>, Refusal>,
    ) -> Result<Vec<Move<S::Bits>>, Refusal> {
        let moves = names.iter().enumerate().map(|(name, group)| {
            let old = draft.read().scores_of(group, std::iter::once(id))[0];
            let new = decide(old.map(|old| S::decode(old, &self.rule)))?;
            let new = new.map(|new| new.encode(&self.rule)).transpose()?.or(old);
            Ok(Move { name, id, old, new })
        });
        moves.collect()
    }

    fn change(
        &self,
        group: &[u8],
        id: u64,
        likely: Option<S::Bits>,
        mut decide: impl FnMut(Option<S::Bits>) -> Result<Option<S::Bits>, Refusal>,
    ) -> Result<Put, Refusal> {
        let mut name = self.name(group);
        let put = self.versions.update(|edit, roots| {
            name.begin();
            let member = (&mut name, id);
            match draft(roots).put(edit, member, likely, self.unique, &mut decide) {
                Ok(Put::Unchanged) => Outcome::Keep(Ok(Put::Unchanged)),
                Ok(put) => Outcome::Publish(Ok(put)),
                Err(refusal) => Outcome::Keep(Err(refusal)),
            }
        })?;
        name.settle();
        Ok(put)
    }

    fn pop(&self, group: &[u8], count: usize, order: Order) -> Vec<(u64, S)> {
        let mut name = self.name(group);
        let taken = self.versions.update(|edit, roots| {
            let taken = draft(roots).pop(edit, &mut name, count, order);
            if taken.is_empty() {
                return Outcome::Keep(taken);
            }
            Outcome::Publish(taken)
        });
        let taken = taken.into_iter();
        taken
            .map(|(id, score)| (id, S::decode(score, &self.rule)))
            .collect()
    }
}

impl<S: Score<Rule = ()>> Default for Ranked<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Score> std::fmt::Debug for Ranked<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.info().fmt("Ranked", f)
    }
}

fn draft<B: Bits>(roots: &mut Roots<B>) -> Draft<'_, B> {
    let (places, scores, ties, names) = roots;
    Draft {
        places,
        scores,
        ties,
        names,
    }
}

/// A moment of a ranked set, kept readable until this is dropped or the set is.
pub struct HeldRanks<S: Score>(Hold<Roots<S::Bits>>);

/// One state of a ranked set: all groups, of the same moment.
pub struct RankedView<'a, S: Score> {
    moment: Moment<'a, Roots<S::Bits>>,
    set: &'a Ranked<S>,
}

impl<S: Score> RankedView<'_, S> {
    /// How many members there are in all groups; one that is in two counts twice. O(1).
    pub fn len(&self) -> usize {
        self.moment.0.len()
    }

    /// Whether there are no members. O(1).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A group, for what can be asked of it. O(log groups).
    #[inline]
    pub fn group(&self, name: &[u8]) -> Board<'_, S> {
        Board::new(self.ranking(), &self.set.name(name), &self.set.rule)
    }

    /// How many groups there are. O(1).
    pub fn group_count(&self) -> usize {
        self.moment.3.len()
    }

    /// The names of all groups, in no order that means anything. O(1), then amortised O(1) each.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let names = &self.moment.3;
        names.entries(0..names.len()).map(|(_, slot)| text(slot))
    }

    fn ranking(&self) -> Ranking<'_, S::Bits> {
        let (places, scores, ties, names) = &*self.moment;
        Ranking {
            places,
            scores,
            ties,
            names,
        }
    }
}
