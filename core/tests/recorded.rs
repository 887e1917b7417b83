//! The record store against a map: records and rankings change together, an index that is added later is
//! whole, and what one index refuses changes nothing.

mod common;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;

use common::{eventually, scale, settle, settle_all, Live, Rng, Tracked};
use echo_data_core::{
    drain, Boxed, HeldRecords, Kind, Measure, Number, Order, RankIndex, RecordStore, RecordView,
    Refusal, Rejected, Ties,
};

/// A player: where, with how many points, and since when.
struct Player {
    room: u8,
    points: Number,
    since: i64,
    number: Tracked,
}

type Record = Boxed<Player>;

/// An index as a value.
#[derive(Clone, Copy, Debug)]
struct By {
    name: u32,
    room: bool,
    points: bool,
    unique: bool,
    rule: [Measure; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NoPoints;

const fn measures(order: Order) -> [Measure; 2] {
    let kind = Kind::Integer;
    [Measure { kind, order }; 2]
}

/// By points in each room, the earliest first among equals.
const IN_ROOM: By = By {
    name: 0,
    room: true,
    points: true,
    unique: false,
    rule: measures(Order::Ascending),
};
/// By points, of all rooms.
const BEST: By = By {
    name: 1,
    room: false,
    rule: measures(Order::Descending),
    ..IN_ROOM
};
/// In each room, no two may have come at the same time.
const SINCE: By = By {
    name: 2,
    points: false,
    unique: true,
    ..IN_ROOM
};

impl RankIndex<Record> for By {
    type Score = [Number; 2];
    type Name = u32;
    type Error = NoPoints;

    fn name(&self) -> u32 {
        self.name
    }

    fn rule(&self) -> &[Measure; 2] {
        &self.rule
    }

    fn is_unique(&self) -> bool {
        self.unique
    }

    fn rank_by(&self, player: &Player, group: &mut Vec<u8>) -> Result<[Number; 2], NoPoints> {
        if self.room {
            group.extend_from_slice(&vec![player.room; usize::from(player.room) * 3]);
        }
        match (self.points, player.points) {
            (false, _) => Ok([Number::Integer(player.since), Number::Nil]),
            (true, Number::Float(_)) => Err(NoPoints),
            (true, points) => Ok([points, Number::Integer(player.since)]),
        }
    }
}

type Store = RecordStore<Record, By>;
type View<'a> = RecordView<'a, Record, By>;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    room: u8,
    points: Number,
    since: i64,
}

type Model = BTreeMap<u64, Row>;

fn record(row: Row, live: &Live) -> Record {
    let Row {
        room,
        points,
        since,
    } = row;
    Boxed(Player {
        room,
        points,
        since,
        number: live.value(since as u64),
    })
}

fn row(player: &Player) -> Row {
    assert_eq!(player.number.number(), player.since as u64);
    Row {
        room: player.room,
        points: player.points,
        since: player.since,
    }
}

fn at(room: u8, points: i64, since: i64) -> Row {
    Row {
        room,
        points: Number::Integer(points),
        since,
    }
}

/// The ids that an index ranks in a group, in order, from the model alone.
fn ranked(model: &Model, by: &By, room: u8) -> Vec<u64> {
    let value = |number: Number| match number {
        Number::Integer(value) => Some(value),
        _ => None,
    };
    let mut ids: Vec<u64> = model
        .iter()
        .filter(|(_, row)| !by.room || row.room == room)
        .map(|(id, _)| *id)
        .collect();
    ids.sort_by(|a, b| {
        let key = |id: &u64| match by.points {
            true => (value(model[id].points), model[id].since),
            false => (Some(model[id].since), 0),
        };
        let scores = match by.rule[0].order {
            Order::Ascending => key(a).cmp(&key(b)),
            Order::Descending => key(b).cmp(&key(a)),
        };
        scores.then(a.cmp(b))
    });
    ids
}

const ROOMS: u8 = 4;

fn group(by: &By, room: u8) -> Vec<u8> {
    match by.room {
        true => vec![room; usize::from(room) * 3],
        false => Vec::new(),
    }
}

/// Records and all indexes of a view are those of the model.
fn agree(view: &View<'_>, model: &Model) {
    let rows = view.slice(0..usize::MAX);
    assert!(rows.map(|(id, player)| (id, row(player))).eq(model.clone()));
    let below = model.range(20..70);
    assert!(view
        .range(20..70)
        .rev()
        .map(|(id, player)| (id, row(player)))
        .eq(below.rev().map(|(id, row)| (*id, *row))));
    let third = view.select(2).map(|(id, player)| (id, row(player)));
    assert_eq!(third, model.iter().nth(2).map(|(id, row)| (*id, *row)));
    let mut groups = 0;
    for by in view.indexes() {
        for room in 0..if by.room { ROOMS } else { 1 } {
            let wanted = ranked(model, by, room);
            groups += usize::from(!wanted.is_empty());
            let board = view.group(&by.name, &group(by, room)).expect("an index");
            let found = board.standings(Ties::Ordinal, Order::Ascending);
            assert!(found.map(|row| row.id).eq(wanted.iter().copied()), "{by:?}");
            for (at, id) in wanted.iter().enumerate() {
                let rank = view.rank(&by.name, *id, Ties::Ordinal, Order::Ascending);
                assert_eq!(rank, Some(at));
            }
        }
    }
    assert_eq!(view.group_count(), groups);
}

struct Subject {
    store: Store,
    model: Model,
    indexes: Vec<By>,
    /// How many indexes there were.
    named: u32,
    held: Vec<(HeldRecords<Record, By>, Model, Vec<u32>)>,
    live: Live,
    rng: Rng,
}

impl Subject {
    fn draw(&mut self) -> Row {
        let rng = &mut self.rng;
        let points = match rng.below(12) {
            0 => Number::Nil,
            1 => Number::Float(0.5),
            _ => Number::Integer(rng.below(10) as i64),
        };
        Row {
            room: rng.below(u64::from(ROOMS)) as u8,
            points,
            since: rng.below(3000) as i64,
        }
    }

    /// What is wrong with `model`, as the indexes should find it.
    fn refused(&self, model: &Model) -> bool {
        self.indexes.iter().any(|by| {
            let bad = |row: &Row| by.points && matches!(row.points, Number::Float(_));
            let mut seen = std::collections::BTreeSet::new();
            let twice = |row: &Row| by.unique && !seen.insert((row.room, row.since));
            model.values().any(bad) || model.values().any(twice)
        })
    }

    fn put_all(&mut self, rows: Vec<(u64, Row)>) {
        let mut after = self.model.clone();
        after.extend(rows.iter().copied());
        let refused = self.refused(&after);
        let records = rows.iter().map(|(id, row)| (*id, record(*row, &self.live)));
        let answer = match &rows[..] {
            [(id, row)] => {
                let there = self.model.contains_key(id);
                let put = self.store.put(*id, record(*row, &self.live));
                assert!(put.is_err() || put == Ok(there));
                put.map(|_| ())
            }
            _ => self.store.put_all(records),
        };
        assert_eq!(answer.is_err(), refused, "{answer:?}");
        if !refused {
            self.model = after;
        }
    }

    fn add_index(&mut self) {
        let by = [IN_ROOM, BEST, SINCE][self.rng.below(3) as usize];
        let by = By {
            name: self.named,
            ..by
        };
        self.named += 1;
        self.indexes.push(by);
        let (refused, mut last) = (self.refused(&self.model), 0);
        let all = self.model.len();
        let answer = self.store.add_index(by, |done, of| {
            assert!(of == all && last <= done && done <= of);
            last = done;
        });
        if refused {
            assert!(answer.is_err());
            self.indexes.pop();
        } else {
            assert_eq!((answer, last), (Ok(()), all));
        }
    }

    fn remove_index(&mut self) {
        let name = self.rng.below(u64::from(self.named) + 1) as u32;
        let before = self.indexes.len();
        self.indexes.retain(|by| by.name != name);
        let removed = self.indexes.len() < before;
        assert_eq!(self.store.remove_index(&name), removed);
        let view = self.store.view();
        assert!(view.index(&name).is_none() && view.group(&name, b"").is_none());
        assert!(view
            .rank(&name, 0, Ties::Ordinal, Order::Ascending)
            .is_none());
    }

    fn names(&self) -> Vec<u32> {
        self.indexes.iter().map(|by| by.name).collect()
    }

    fn step(&mut self) {
        let id = |rng: &mut Rng| rng.below(150);
        match self.rng.below(40) {
            0..20 => {
                let row = (id(&mut self.rng), self.draw());
                self.put_all(vec![row]);
            }
            20..24 => {
                let many = self.rng.below(12);
                let rows = (0..many)
                    .map(|_| (id(&mut self.rng), self.draw()))
                    .collect();
                self.put_all(rows);
            }
            24..36 => {
                let id = id(&mut self.rng);
                let removed = self.model.remove(&id);
                if self.rng.chance(2) {
                    assert_eq!(self.store.take(id, row), removed);
                } else {
                    assert_eq!(self.store.remove(id), removed.is_some());
                }
            }
            36 if self.indexes.len() < 5 => self.add_index(),
            37 if self.rng.chance(3) => self.remove_index(),
            38 => {
                let held = (self.store.hold(), self.model.clone(), self.names());
                self.held.push(held);
            }
            39 if !self.held.is_empty() => {
                let at = self.rng.below(self.held.len() as u64) as usize;
                let (hold, model, indexes) = self.held.swap_remove(at);
                let view = self.store.at(&hold).expect("a hold of this store");
                assert!(view.indexes().map(|by| by.name).eq(indexes));
                assert!(view.index(&self.named).is_none());
                agree(&view, &model);
            }
            _ => {}
        }
    }
}

#[test]
fn records_and_indexes_agree_with_a_map() {
    let mut rng = Rng::new();
    for _ in 0..scale(8, 400) {
        let mut subject = Subject {
            store: Store::new(),
            model: Model::new(),
            indexes: Vec::new(),
            named: 0,
            held: Vec::new(),
            live: Live::default(),
            rng: rng.fork(),
        };
        let gauge = subject.store.gauge();
        for step in 0..1000 {
            subject.step();
            if step % 50 == 0 {
                agree(&subject.store.view(), &subject.model);
            }
        }
        let live = subject.live.clone();
        drop(subject);
        settle_all(&gauge, &live);
    }
}

#[test]
fn what_an_index_refuses_changes_nothing() {
    let live = Live::default();
    let store = Store::new();
    let gauge = store.gauge();
    store.add_index(IN_ROOM, |_, _| {}).expect("no records yet");
    store.add_index(SINCE, |_, _| {}).expect("no records yet");
    let put = |id, row| store.put(id, record(row, &live));
    assert_eq!(put(1, at(1, 40, 100)), Ok(false));
    assert_eq!(put(2, at(1, 40, 200)), Ok(false));
    let refused = Err(Rejected::Score {
        index: SINCE.name,
        refusal: Refusal::NotUnique,
    });
    assert_eq!(put(2, at(1, 90, 100)), refused);
    let float = Row {
        points: Number::Float(1.0),
        ..at(3, 0, 1)
    };
    let refused = Err(Rejected::Record {
        index: IN_ROOM.name,
        id: 3,
        error: NoPoints,
    });
    assert_eq!(put(3, float), refused);
    let rows = [(4, at(2, 1, 1)), (3, float)];
    let rows = rows.map(|(id, row)| (id, record(row, &live)));
    assert_eq!(store.put_all(rows), refused.map(|_: bool| ()));
    agree(
        &store.view(),
        &[(1, at(1, 40, 100)), (2, at(1, 40, 200))].into(),
    );
    drop(store);
    settle_all(&gauge, &live);
}

#[test]
fn a_record_that_is_not_there_has_a_place_where_it_would_be() {
    let live = Live::default();
    let store = Store::new();
    store.add_index(IN_ROOM, |_, _| {}).expect("no records yet");
    for (id, row) in [(1, at(1, 40, 100)), (2, at(1, 40, 200))] {
        assert_eq!(store.put(id, record(row, &live)), Ok(false));
    }
    let view = store.view();
    let stranger = record(at(1, 50, 0), &live);
    let candidate = view
        .candidate(&IN_ROOM.name, &stranger.0)
        .expect("an index");
    let candidate = candidate.expect("integers");
    let rank = candidate
        .group
        .rank_for_score(candidate.score, Ties::Dense, Order::Ascending);
    assert_eq!(rank, Ok(2));
    let float = Row {
        points: Number::Float(1.0),
        ..at(3, 0, 1)
    };
    let candidate = view.candidate(&IN_ROOM.name, &record(float, &live).0);
    assert!(candidate.is_some_and(|candidate| candidate.is_err()));
}

#[test]
fn a_name_is_that_of_one_index() {
    let live = Live::default();
    let store = Store::new();
    assert_eq!(store.put(1, record(at(1, 40, 100), &live)), Ok(false));
    assert_eq!(store.add_index(IN_ROOM, |_, _| {}), Ok(()));
    assert_eq!(store.add_index(BEST, |_, _| {}), Ok(()));
    let other = By {
        name: BEST.name,
        ..SINCE
    };
    let refused = Err(Rejected::Exists { index: BEST.name });
    assert_eq!(store.add_index(other, |_, _| {}), refused);
    assert_eq!(store.view().indexes().len(), 2);
    assert!(store.remove_index(&BEST.name));
    assert_eq!(store.add_index(other, |_, _| {}), Ok(()));
    assert!(store.view().index(&BEST.name).is_some_and(|by| by.unique));
    agree(&store.view(), &[(1, at(1, 40, 100))].into());
}

/// An index with a group for each record.
#[derive(Clone, Copy)]
struct Alone(u32);

impl RankIndex<u64> for Alone {
    type Score = i64;
    type Name = u32;
    type Error = std::convert::Infallible;

    fn name(&self) -> u32 {
        self.0
    }

    fn rule(&self) -> &() {
        &()
    }

    fn is_unique(&self) -> bool {
        true
    }

    fn rank_by(&self, record: &u64, group: &mut Vec<u8>) -> Result<i64, Self::Error> {
        group.extend_from_slice(&record.to_be_bytes());
        Ok(0)
    }
}

/// Thousands of groups of two indexes: first all of one beside each other, then of both by turns.
#[test]
fn a_removed_index_leaves_no_memory_behind() {
    let store = RecordStore::<u64, Alone>::new();
    let gauge = store.gauge();
    for id in 0..2000 {
        assert_eq!(store.put(id, id), Ok(false));
    }
    drain();
    let bare = store.info().memory.bytes;
    for name in [0, 1] {
        assert_eq!(store.add_index(Alone(name), |_, _| {}), Ok(()));
    }
    for id in 2000..4000 {
        assert_eq!(store.put(id, id), Ok(false));
    }
    assert_eq!(store.view().group_count(), 8000);
    let held = store.hold();
    assert!(store.remove_index(&0));
    assert_eq!(store.view().group_count(), 4000);
    for id in [0, 1, 3999_u64] {
        let group = |view: &RecordView<'_, u64, Alone>, index| {
            let group = view.group(&index, &id.to_be_bytes());
            group.map(|group| group.len())
        };
        assert_eq!(group(&store.view(), 1), Some(1));
        assert_eq!(group(&store.view(), 0), None);
        assert_eq!(group(&store.at(&held).expect("of this store"), 0), Some(1));
    }
    drop(held);
    assert!(store.remove_index(&1));
    for id in 2000..4000 {
        assert!(store.remove(id));
    }
    eventually("only the records are left", || {
        store.info().memory.bytes <= bare + bare / 2
    });
    drop(store);
    settle(&gauge);
}

/// Two writers move players between rooms and out of the store, an index is added meanwhile, and a reader
/// never sees a record that is not in its place, nor a place without its record.
#[test]
fn no_reader_finds_records_and_indexes_apart() {
    let mut rng = Rng::new();
    let live = Live::default();
    let store = Store::new();
    let gauge = store.gauge();
    store.add_index(IN_ROOM, |_, _| {}).expect("no records yet");
    let done = AtomicBool::new(false);
    let write = |first: u64, mut rng: Rng| {
        for since in 0..scale(4000, 400_000) as i64 {
            let id = 2 * rng.below(100) + first;
            if rng.chance(4) {
                store.remove(id);
            } else {
                let room = rng.below(u64::from(ROOMS)) as u8;
                let row = at(room, rng.below(20) as i64, since);
                store.put(id, record(row, &live)).expect("integers");
            }
        }
        done.store(true, Release);
    };
    let looks = thread::scope(|scope| {
        for first in [0, 1] {
            let (rng, write) = (rng.fork(), &write);
            scope.spawn(move || write(first, rng));
        }
        let mut looks = 0;
        while !done.load(Acquire) {
            let view = store.view();
            let rows = view.slice(0..usize::MAX);
            agree(&view, &rows.map(|(id, player)| (id, row(player))).collect());
            looks += 1;
            if looks % 50 == 0 && view.indexes().len() < 5 {
                let name = view.indexes().len() as u32;
                drop(view);
                let by = By { name, ..BEST };
                assert_eq!(store.add_index(by, |_, _| {}), Ok(()));
                assert!(store.view().index(&name).is_some());
            } else if looks % 333 == 0 {
                let last = view.indexes().last().map(|by| by.name);
                drop(view);
                assert!(last.is_none_or(|last| store.remove_index(&last)));
            }
        }
        looks
    });
    println!("{looks} moments looked at");
    for id in 0..200 {
        store.remove(id);
    }
    assert_eq!((store.info().rows, store.view().group_count()), (0, 0));
    drop(store);
    eventually("all players are dropped", || live.count() == 0);
    settle_all(&gauge, &live);
}
