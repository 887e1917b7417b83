//! A day at a harbour office: an `EdgeStore` of which ship calls at which port, and `Buckets` of what the
//! ships report, of which only the last hours matter.
//!
//! `cargo run -p echo_data_core --example harbour`

use std::io::{self, Write};
use std::ops::Bound;

use echo_data_core::id::{snowflake, Generator};
use echo_data_core::{BlobRef, Buckets, BucketsView, EdgeStore, EdgeView, SlimBlob};

/// 2025-03-01T06:00:00Z, in milliseconds since 1970.
const MORNING: i64 = 1_740_808_800_000;
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// Ids are minted in this order, so this is the order in which neighbours come.
const PORTS: [&str; 6] = ["Bergen", "Hull", "Calais", "Gdansk", "Riga", "Turku"];
const SHIPS: [&str; 4] = ["Anna", "Brage", "Clio", "Doris"];

/// The ids of all names, and the names of all ids.
struct Register(Vec<(u64, &'static str)>);

impl Register {
    fn new(ids: &Generator) -> Self {
        let names = PORTS.iter().chain(&SHIPS);
        Self(names.map(|name| (ids.next_at(1, MORNING), *name)).collect())
    }

    fn id(&self, wanted: &str) -> u64 {
        let found = self.0.iter().find(|(_, name)| *name == wanted);
        found.expect("a name of the register").0
    }

    fn names(&self, ids: impl Iterator<Item = u64>) -> String {
        let name = |id| self.0.iter().find(|(known, _)| *known == id);
        let names: Vec<&str> = ids.filter_map(name).map(|(_, name)| *name).collect();
        names.join(", ")
    }
}

/// Cargo in tons. Most calls have none: it takes no more than the slot that it would have anyway.
fn cargo(tons: u16) -> SlimBlob {
    match tons {
        0 => SlimBlob::bytes(0, &[]),
        tons => SlimBlob::bytes(1, &tons.to_be_bytes()),
    }
}

fn tons(cargo: BlobRef<'_, ()>) -> u16 {
    match cargo {
        BlobRef::Bytes(1, &[high, low]) => u16::from_be_bytes([high, low]),
        _ => 0,
    }
}

fn calls(register: &Register) -> EdgeStore<SlimBlob> {
    let calls = EdgeStore::new();
    let of = |ship, ports: &'static [(&str, u16)]| {
        let ship = register.id(ship);
        ports
            .iter()
            .map(move |(port, tons)| (ship, register.id(port), cargo(*tons)))
    };
    let anna = of("Anna", &[("Bergen", 40), ("Hull", 0), ("Calais", 900)]);
    let brage = of("Brage", &[("Hull", 0), ("Bergen", 0), ("Riga", 7)]);
    let clio = of(
        "Clio",
        &[
            ("Riga", 120),
            ("Turku", 0),
            ("Gdansk", 3),
            ("Bergen", 0),
            ("Hull", 60),
        ],
    );
    calls.link_all(anna.chain(brage).chain(clio));
    calls
}

/// Both directions, each in the order of ids, and each count in O(log n).
fn tell_calls(
    out: &mut impl Write,
    view: &EdgeView<'_, SlimBlob>,
    register: &Register,
) -> io::Result<()> {
    let (anna, clio) = (
        view.from(register.id("Anna")),
        view.from(register.id("Clio")),
    );
    let names = |ids: &mut dyn Iterator<Item = u64>| register.names(ids);
    let hull = view.to(register.id("Hull"));
    let ships = names(&mut hull.iter().map(|(ship, _)| ship));
    writeln!(out, "Hull awaits {} ships: {ships}", hull.len())?;
    let page = names(&mut clio.iter().take(2).map(|(port, _)| port));
    let cursor = clio.select(1).map_or(0, |(port, _)| port);
    let after = (Bound::Excluded(cursor), Bound::Unbounded);
    let next = names(&mut clio.range(after).take(2).map(|(port, _)| port));
    writeln!(
        out,
        "Clio calls at {} ports: {page}; then {next}; ...",
        clio.len()
    )?;
    let most = anna.iter().max_by_key(|(_, cargo)| tons(*cargo));
    if let Some((port, cargo)) = most {
        let port = register.names([port].into_iter());
        writeln!(out, "Anna has most cargo for {port}: {} tons", tons(cargo))?;
    }
    writeln!(
        out,
        "Anna and Clio both call at {}",
        names(&mut anna.common(clio))
    )
}

/// A change of many edges is one publication: nobody sees half a timetable.
fn change_calls(
    out: &mut impl Write,
    calls: &EdgeStore<SlimBlob>,
    register: &Register,
) -> io::Result<()> {
    let before = calls.hold();
    let closed = calls.drop_object(register.id("Riga"));
    let ports = ["Turku", "Hull"].map(|port| (register.id(port), cargo(0)));
    let done = calls.replace(register.id("Clio"), ports);
    writeln!(
        out,
        "Riga closes, {closed} calls are off. Clio's new plan: {} new, {} kept, {} dropped",
        done.added, done.kept, done.removed
    )?;
    let then = calls.at(&before).map_or(0, |view| view.len());
    writeln!(out, "{then} calls were planned, {} are", calls.view().len())
}

fn clock(unix_ms: u64) -> String {
    let minutes = unix_ms / MINUTE as u64 % 1440;
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

fn bars(out: &mut impl Write, view: &BucketsView<'_, u64>) -> io::Result<()> {
    for (bucket, reports) in view.buckets() {
        let start = clock(view.width().start_ms(bucket));
        writeln!(
            out,
            "  from {start} {reports:>3} {}",
            "*".repeat(reports.div_ceil(4))
        )?;
    }
    Ok(())
}

/// One ship after the other begins to report. What is older than two hours goes, in whole buckets: the one
/// in which the two hours begin stays.
fn reports(out: &mut impl Write, register: &Register, ids: &Generator) -> io::Result<()> {
    // 2^21 ms: about 35 minutes.
    let log = Buckets::new(21).expect("at most 40 bits");
    for minute in 0..6 * 60 {
        for (place, ship) in SHIPS.iter().enumerate() {
            if minute % (1 + place as i64 * 4) == 0 && minute > 45 * place as i64 {
                log.put(ids.next_at(1, MORNING + minute * MINUTE), register.id(ship));
            }
        }
    }
    let all = log.snapshot();
    let noon = MORNING + 6 * HOUR;
    let expired = log.expire_older_than(noon - 2 * HOUR);
    let view = log.view();
    writeln!(out, "{expired} reports are too old; the last two hours:")?;
    bars(out, &view)?;
    let all = all.view();
    writeln!(
        out,
        "The archive still has all {} of {} buckets, the first from {}",
        all.len(),
        all.bucket_count(),
        clock(all.first().map_or(0, |(id, _)| snowflake::unix_ms(id)))
    )
}

/// The whole day, told to `out`.
pub fn run(out: &mut impl Write) -> io::Result<()> {
    let ids = Generator::new();
    let register = Register::new(&ids);
    let calls = calls(&register);
    tell_calls(out, &calls.view(), &register)?;
    change_calls(out, &calls, &register)?;
    writeln!(out)?;
    reports(out, &register, &ids)
}

fn main() -> io::Result<()> {
    run(&mut io::stdout().lock())
}
