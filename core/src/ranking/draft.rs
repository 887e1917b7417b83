//! Changing a ranking: its three indexes and its names, always together.

use crate::index::{Change, Path};
use crate::publish::Edit;
use crate::value::Inline;

use super::bits::Bits;
use super::board::{in_order, Ranking};
use super::key::{GroupId, Member, Multiplicities, Names, Place, Places, Scores, Tie};
use super::name::{text, Fresh, Name};
use super::score::{Order, Refusal};

/// What a put did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// The member is new to its group.
    Added,
    /// The member has another score now.
    Updated,
    /// The member has the score already, or the condition was not met.
    Unchanged,
}

/// The roots of a ranking in a version that is being prepared.
pub(crate) struct Draft<'d, B: Bits> {
    pub(crate) places: &'d mut Places<B>,
    pub(crate) scores: &'d mut Scores<B>,
    pub(crate) ties: &'d mut Multiplicities<B>,
    pub(crate) names: &'d mut Names,
}

/// A member that gets another score, comes to a group, or leaves it.
#[derive(Clone, Copy)]
pub(crate) struct Move<B> {
    /// Which of the names that come with it is its group's.
    pub(crate) name: usize,
    pub(crate) id: u64,
    pub(crate) old: Option<B>,
    pub(crate) new: Option<B>,
}

impl<B: Bits> Move<B> {
    /// What it is to its group, if nobody leaves.
    pub(crate) fn kind(&self) -> Put {
        match self.old {
            None if self.new.is_some() => Put::Added,
            old if old != self.new => Put::Updated,
            _ => Put::Unchanged,
        }
    }
}

/// By how many the members with a score change.
struct Swing<B: Bits> {
    tie: Tie<B>,
    by: i64,
    name: usize,
}

/// Where a score of a member is told, or is to be.
struct Spot<B: Bits> {
    place: Path<Place<B>>,
    tie: Path<Tie<B>>,
}

impl<B: Bits> Draft<'_, B> {
    pub(crate) fn read(&self) -> Ranking<'_, B> {
        Ranking {
            places: self.places,
            scores: self.scores,
            ties: self.ties,
            names: self.names,
        }
    }

    /// Gives `id` the score that `decide` makes of its present one; `None` leaves it. O(log n). When the
    /// `likely` score is known before, the nodes of all indexes are waited for together: without it an
    /// insertion among a million members takes a quarter longer.
    pub(crate) fn put(
        &mut self,
        edit: &mut Edit,
        (name, id): (&mut Name<'_>, u64),
        likely: Option<B>,
        unique: bool,
        decide: impl FnOnce(Option<B>) -> Result<Option<B>, Refusal>,
    ) -> Result<Put, Refusal> {
        let group = name.find(self.names);
        let mut known = group.map(|group| self.scores.begin(Member { group, id }));
        let mut spot = group
            .zip(likely)
            .map(|(group, score)| self.spot(group, id, score));
        if let (Some(member), Some(spot)) = (&mut known, &mut spot) {
            while self.scores.step(member) | self.step(spot) {}
        }
        let old = known.as_mut().and_then(|member| self.scores.found(member));
        let old = old.map(|slot| slot.0);
        let Some(score) = decide(old)?.filter(|score| old != Some(*score)) else {
            return Ok(Put::Unchanged);
        };
        let group = group.unwrap_or_else(|| self.add_group(edit, name));
        let mut spot = spot
            .filter(|_| likely == Some(score))
            .unwrap_or_else(|| self.spot(group, id, score));
        if unique && self.members(&mut spot.tie) > 0 {
            return Err(Refusal::NotUnique);
        }
        if let Some(old) = old {
            let mut left = self.spot(group, id, old);
            while self.step(&mut left) | self.step(&mut spot) {}
            self.shift(edit, &mut left, &mut spot);
        } else {
            self.enter(edit, &mut spot);
        }
        let mut member = known.unwrap_or_else(|| self.scores.begin(Member { group, id }));
        self.scores.insert_at(edit, &mut member, Inline(score));
        Ok(if old.is_some() {
            Put::Updated
        } else {
            Put::Added
        })
    }

    /// The way to where `score` of `id` is told.
    fn spot(&self, group: GroupId, id: u64, score: B) -> Spot<B> {
        Spot {
            place: self.places.begin(Place::new(group, score, id)),
            tie: self.ties.begin(Tie::new(group, score)),
        }
    }

    /// Goes one level down; answers whether there was one.
    #[inline]
    fn step(&self, spot: &mut Spot<B>) -> bool {
        self.places.step(&mut spot.place) | self.ties.step(&mut spot.tie)
    }

    fn enter(&mut self, edit: &mut Edit, spot: &mut Spot<B>) {
        self.places.insert_at(edit, &mut spot.place, Inline(()));
        self.join(edit, &mut spot.tie);
    }

    fn leave(&mut self, edit: &mut Edit, spot: &mut Spot<B>) {
        self.places.remove_at(edit, &mut spot.place);
        self.part(edit, &mut spot.tie);
    }

    /// Leaves `from` and enters `to`, which are different.
    fn shift(&mut self, edit: &mut Edit, from: &mut Spot<B>, to: &mut Spot<B>) {
        let places = [&mut from.place, &mut to.place];
        self.places.move_at(edit, places, Inline(()));
        let (from, to) = (&mut from.tie, &mut to.tie);
        if self.ties.meet(from, to) && self.members(from) == 1 && self.members(to) == 0 {
            self.ties.move_at(edit, [from, to], Inline(1));
        } else {
            self.part(edit, from);
            self.join(edit, to);
        }
    }

    /// How many members have a score.
    fn members(&self, tie: &mut Path<Tie<B>>) -> u64 {
        self.ties.found(tie).map_or(0, |slot| slot.0)
    }

    fn join(&mut self, edit: &mut Edit, tie: &mut Path<Tie<B>>) {
        let others = self.members(tie);
        self.ties.insert_at(edit, tie, Inline(others + 1));
    }

    fn part(&mut self, edit: &mut Edit, tie: &mut Path<Tie<B>>) {
        match self.members(tie) {
            0 | 1 => self.ties.remove_at(edit, tie),
            members => self.ties.insert_at(edit, tie, Inline(members - 1)),
        };
    }

    /// Takes `id` out of its group, and the group out of the ranking when it was the last. O(log n).
    pub(crate) fn remove(&mut self, edit: &mut Edit, name: &Name<'_>, id: u64) -> Option<B> {
        let group = name.find(self.names)?;
        let score = self.scores.remove(edit, &Member { group, id })?.0;
        let mut spot = self.spot(group, id, score);
        while self.step(&mut spot) {}
        self.leave(edit, &mut spot);
        if self.scores.positions(Member::of_group(group)).is_empty() {
            self.names.remove(edit, &name.key(group));
        }
        Some(score)
    }

    /// Cuts a group out of all indexes; answers how many members it had. O(log n).
    pub(crate) fn drop_group(&mut self, edit: &mut Edit, name: &Name<'_>) -> usize {
        let Some(group) = name.find(self.names) else {
            return 0;
        };
        self.names.remove(edit, &name.key(group));
        self.cut(edit, group, group)
    }

    /// Cuts the groups that `go`, by their names, out of all indexes. O(groups there are + groups cut × log n);
    /// groups that were made one after the other are cut together.
    pub(crate) fn drop_groups(&mut self, edit: &mut Edit, go: impl Fn(&[u8]) -> bool) {
        let rows = self.names.entries(0..usize::MAX);
        let rows = rows.filter(|(_, slot)| go(text(slot)));
        let rows: Vec<_> = rows.map(|(key, _)| (*key, Change::Remove)).collect();
        self.names.rebuild(edit, &rows);
        let mut groups: Vec<_> = rows.iter().map(|(key, _)| key.group).collect();
        groups.sort_unstable();
        for run in groups.chunk_by(|one, next| one + 1 == *next) {
            self.cut(edit, run[0], run[run.len() - 1]);
        }
    }

    /// Cuts the groups with these ids and all between them out of the indexes; answers how many members they
    /// had.
    fn cut(&mut self, edit: &mut Edit, first: GroupId, last: GroupId) -> usize {
        let members = self.scores.positions(Member::of_groups(first, last));
        let dropped = self.scores.cut(edit, members);
        let places = self.places.positions(Place::of_groups(first, last));
        self.places.cut(edit, places);
        let ties = self.ties.positions(Tie::of_groups(first, last));
        self.ties.cut(edit, ties);
        dropped
    }

    /// Takes the first `count` members of a group in `order`, first come first. O(members taken × log n).
    pub(crate) fn pop(
        &mut self,
        edit: &mut Edit,
        name: &mut Name<'_>,
        count: usize,
        order: Order,
    ) -> Vec<(u64, B)> {
        let Some(group) = name.find(self.names) else {
            return Vec::new();
        };
        let all = self.places.positions(Place::of_group(group));
        let positions = in_order(&all, 0..count.min(all.len()), order);
        let places = self.places.entries(positions.clone());
        let mut taken: Vec<_> = places.map(|(place, _)| (place.id, place.score())).collect();
        if order == Order::Descending {
            taken.reverse();
        }
        if positions == all {
            self.drop_group(edit, name);
        } else if let [(id, _)] = taken[..] {
            self.remove(edit, name, id);
        } else {
            self.places.cut(edit, positions);
            let mut members: Vec<_> = taken
                .iter()
                .map(|&(id, _)| (Member { group, id }, Change::Remove))
                .collect();
            members.sort_unstable_by_key(|&(member, _)| member);
            self.scores.rebuild(edit, &members);
            let swings = taken.iter().map(|&(_, score)| Swing {
                tie: Tie::new(group, score),
                by: -1,
                name: 0,
            });
            let swung = self.swing(edit, swings.collect(), |_| false);
            debug_assert!(swung.is_ok());
        }
        taken
    }

    /// Makes all moves, in groups of these names, each member of a group at most once. O(moves × log n). If a
    /// group whose name is `unique` would have a score twice, nothing is to be published, and the answer is
    /// which name it was.
    pub(crate) fn apply(
        &mut self,
        edit: &mut Edit,
        names: &mut [Name<'_>],
        moves: &[Move<B>],
        unique: impl Fn(usize) -> bool,
    ) -> Result<(), usize> {
        let groups = self.groups_of(edit, names, moves);
        let moves = || moves.iter().filter(|change| change.old != change.new);
        let mut places = Vec::new();
        let mut swings = Vec::new();
        for &Move { name, id, old, new } in moves() {
            let group = groups[name];
            let changes = [(old, Change::Remove, -1), (new, Change::Put(Inline(())), 1)];
            for (score, change, by) in changes {
                if let Some(score) = score {
                    places.push((Place::new(group, score, id), change));
                    let tie = Tie::new(group, score);
                    swings.push(Swing { tie, by, name });
                }
            }
        }
        self.swing(edit, swings, unique)?;
        places.sort_unstable_by_key(|&(place, _)| place);
        self.places.rebuild(edit, &places);
        let member = |change: &Move<B>| Member {
            group: groups[change.name],
            id: change.id,
        };
        let score = |new: Option<B>| new.map_or(Change::Remove, |new| Change::Put(Inline(new)));
        let mut scores: Vec<_> = moves()
            .map(|change| (member(change), score(change.new)))
            .collect();
        scores.sort_unstable_by_key(|&(member, _)| member);
        self.scores.rebuild(edit, &scores);
        Ok(())
    }

    fn add_group(&mut self, edit: &mut Edit, name: &mut Name<'_>) -> GroupId {
        let mut fresh = Fresh::beside(self.largest_group());
        let group = fresh.next(name.key(0).hash, |id| self.has_group(id));
        let row = name.enter(edit);
        self.names.insert(edit, name.key(group), row);
        group
    }

    fn largest_group(&self) -> Option<GroupId> {
        self.scores.last().map(|(member, _)| member.group)
    }

    fn has_group(&self, group: GroupId) -> bool {
        let first = self.scores.first_from(&Member { group, id: 0 });
        first.is_some_and(|(member, _)| member.group == group)
    }

    /// The groups of `names`, once the moves are made: those that are new get an id, those that lose
    /// their last member lose their name.
    fn groups_of(
        &mut self,
        edit: &mut Edit,
        names: &mut [Name<'_>],
        moves: &[Move<B>],
    ) -> Vec<GroupId> {
        let mut growth = vec![0_i64; names.len()];
        for change in moves {
            growth[change.name] +=
                i64::from(change.new.is_some()) - i64::from(change.old.is_some());
        }
        let mut fresh = Fresh::beside(self.largest_group());
        let mut rows = Vec::new();
        let mut groups = Vec::with_capacity(names.len());
        for (name, growth) in names.iter_mut().zip(growth) {
            let group = name.find(self.names);
            let id = group
                .unwrap_or_else(|| fresh.next(name.key(0).hash, |group| self.has_group(group)));
            let left = || self.scores.positions(Member::of_group(id)).len() as i64 + growth;
            if group.is_none() && growth > 0 {
                rows.push((name.key(id), Change::Put(name.enter(edit))));
            } else if group.is_some() && growth < 0 && left() == 0 {
                rows.push((name.key(id), Change::Remove));
            }
            groups.push(id);
        }
        rows.sort_unstable_by_key(|&(key, _)| key);
        self.names.rebuild(edit, &rows);
        groups
    }

    fn swing(
        &mut self,
        edit: &mut Edit,
        mut swings: Vec<Swing<B>>,
        unique: impl Fn(usize) -> bool,
    ) -> Result<(), usize> {
        swings.sort_unstable_by_key(|swing| swing.tie);
        let mut changes = Vec::new();
        for same in swings.chunk_by(|a, b| a.tie == b.tie) {
            let Swing { tie, name, .. } = same[0];
            let by: i64 = same.iter().map(|swing| swing.by).sum();
            let before = self.ties.get(&tie).map_or(0, |slot| slot.0);
            let after = before.saturating_add_signed(by);
            if after > 1 && unique(name) {
                return Err(name);
            }
            match after {
                _ if by == 0 => {}
                0 => changes.push((tie, Change::Remove)),
                _ => changes.push((tie, Change::Put(Inline(after)))),
            }
        }
        self.ties.rebuild(edit, &changes);
        Ok(())
    }
}
