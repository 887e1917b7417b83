//! The record store against a map: records and rankings change together, an index that is added later is
//! whole, and what one index refuses changes nothing.

mod common;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;

use common::{eventually, scale, settle_all, Live, Rng, Tracked};
use echo_data_core::{
    Boxed, HeldRecords, Kind, Measure, Number, Order, RankIndex, RecordStore, RecordView, Refusal,
    Rejected, Ties,
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
    room: true,
    points: true,
    unique: false,
    rule: measures(Order::Ascending),
};
/// By points, of all rooms.
const BEST: By = By {
    room: false,
    rule: measures(Order::Descending),
    ..IN_ROOM
};
/// In each room, no two may have come at the same time.
const SINCE: By = By {
    points: false,
    unique: true,
    ..IN_ROOM
};

impl RankIndex<Record> for By {
    type Score = [Number; 2];
    type Error = NoPoints;

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
    for (number, by) in view.indexes() {
        for room in 0..if by.room { ROOMS } else { 1 } {
            let wanted = ranked(model, by, room);
            groups += usize::from(!wanted.is_empty());
            let board = view.group(number, &group(by, room)).expect("an index");
            let found = board.standings(Ties::Ordinal, Order::Ascending);
            assert!(found.map(|row| row.id).eq(wanted.iter().copied()), "{by:?}");
            for (at, id) in wanted.iter().enumerate() {
                let rank = view.rank(number, *id, Ties::Ordinal, Order::Ascending);
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
    held: Vec<(HeldRecords<Record, By>, Model, usize)>,
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
            assert_eq!((answer, last), (Ok(self.indexes.len() as u32 - 1), all));
        }
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
            37 => {
                let held = (self.store.hold(), self.model.clone(), self.indexes.len());
                self.held.push(held);
            }
            38 if !self.held.is_empty() => {
                let at = self.rng.below(self.held.len() as u64) as usize;
                let (hold, model, indexes) = self.held.swap_remove(at);
                let view = self.store.at(&hold).expect("a hold of this store");
                assert_eq!(view.indexes().len(), indexes);
                assert!(view.index(indexes as u32).is_none());
                assert!(view.group(indexes as u32, b"").is_none());
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
    let points = store.add_index(IN_ROOM, |_, _| {}).expect("no records yet");
    let since = store.add_index(SINCE, |_, _| {}).expect("no records yet");
    let put = |id, row| store.put(id, record(row, &live));
    assert_eq!(put(1, at(1, 40, 100)), Ok(false));
    assert_eq!(put(2, at(1, 40, 200)), Ok(false));
    let refused = Err(Rejected::Score {
        index: since,
        refusal: Refusal::NotUnique,
    });
    assert_eq!(put(2, at(1, 90, 100)), refused);
    let float = Row {
        points: Number::Float(1.0),
        ..at(3, 0, 1)
    };
    let refused = Err(Rejected::Record {
        index: points,
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
    let points = store.add_index(IN_ROOM, |_, _| {}).expect("no records yet");
    for (id, row) in [(1, at(1, 40, 100)), (2, at(1, 40, 200))] {
        assert_eq!(store.put(id, record(row, &live)), Ok(false));
    }
    let view = store.view();
    let stranger = record(at(1, 50, 0), &live);
    let candidate = view.candidate(points, &stranger.0).expect("an index");
    let candidate = candidate.expect("integers");
    let rank = candidate
        .group
        .rank_for_score(candidate.score, Ties::Dense, Order::Ascending);
    assert_eq!(rank, Ok(2));
    let float = Row {
        points: Number::Float(1.0),
        ..at(3, 0, 1)
    };
    let candidate = view.candidate(points, &record(float, &live).0);
    assert!(candidate.is_some_and(|candidate| candidate.is_err()));
}

/// A name that a store has once.
struct Named(&'static str);

impl RankIndex<u64> for Named {
    type Score = i64;
    type Error = std::convert::Infallible;

    fn rule(&self) -> &() {
        &()
    }

    fn is_unique(&self) -> bool {
        false
    }

    fn rank_by(&self, record: &u64, _group: &mut Vec<u8>) -> Result<i64, Self::Error> {
        Ok(*record as i64)
    }

    fn excludes(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

#[test]
fn an_index_that_another_excludes_is_not_added() {
    let store = RecordStore::new();
    assert_eq!(store.put(1, 7), Ok(false));
    assert_eq!(store.add_index(Named("length"), |_, _| {}), Ok(0));
    assert_eq!(store.add_index(Named("width"), |_, _| {}), Ok(1));
    let refused = Err(Rejected::Excluded { index: 1 });
    assert_eq!(store.add_index(Named("width"), |_, _| {}), refused);
    assert_eq!(store.view().indexes().len(), 2);
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
                let added = view.indexes().len() as u32;
                drop(view);
                assert_eq!(store.add_index(BEST, |_, _| {}), Ok(added));
                assert!(store.view().index(added).is_some());
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
