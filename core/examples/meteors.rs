//! A night of meteors: an `OrderedStore` as a timeline, keyed by ids that carry their time.
//!
//! `cargo run -p echo_data_core --example meteors`

use std::io::{self, Write};
use std::ops::{Bound, Range};
use std::thread;

use echo_data_core::id::{snowflake, BrandedId, Generator, Namespace};
use echo_data_core::{OrderedStore, View};

const METEOR: Namespace = Namespace::new(b"MET").unwrap();

/// 2025-08-12T20:00:00Z, in milliseconds since 1970: dusk before the night of the Perseids.
const DUSK: i64 = 1_755_028_800_000;
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const NIGHT: i64 = 9 * HOUR;

/// What was seen. It is small and `Copy`, so the store keeps it in the leaf, beside its key.
#[derive(Clone, Copy)]
struct Meteor {
    /// The smaller the brighter; a naked eye sees up to about 6.
    magnitude: f32,
    from: &'static str,
}

/// A sky that is the same every time: some numbers that look random.
struct Sky(u64);

impl Sky {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % end
    }

    fn meteor(&mut self) -> Meteor {
        let faint = self.below(40).max(self.below(60));
        Meteor {
            magnitude: faint as f32 / 10.0 - 1.0,
            from: ["Perseus", "Perseus", "Perseus", "Cygnus"][self.below(4) as usize],
        }
    }

    /// Milliseconds to the next meteor: fewest at dusk and most before dawn, when the Earth's leading
    /// side looks into the stream.
    fn pause(&mut self, since_dusk: i64) -> i64 {
        let hour = since_dusk / HOUR;
        1 + self.below(240_000 / (1 + hour as u64)) as i64
    }
}

/// Watches the whole night. Each meteor gets an id of its own time, so the ids sort as the night went.
fn watch(log: &OrderedStore<Meteor>, ids: &Generator) {
    let mut sky = Sky(2025);
    let mut since_dusk = sky.pause(0);
    while since_dusk < NIGHT {
        let meteor = sky.meteor();
        log.put(ids.next_at(1, DUSK + since_dusk), meteor);
        since_dusk += sky.pause(since_dusk);
    }
}

/// All ids minted between two moments of the night. A time is as good as a key: the smallest id at or
/// after it.
fn between(from: i64, until: i64) -> Range<u64> {
    snowflake::min_for(DUSK + from)..snowflake::min_for(DUSK + until)
}

fn clock(id: u64) -> String {
    let seconds = snowflake::unix_ms(id) / 1000 % 86_400;
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

fn tell<'a>(
    out: &mut impl Write,
    meteors: impl Iterator<Item = (u64, &'a Meteor)>,
) -> io::Result<()> {
    for (id, meteor) in meteors {
        let name = BrandedId::new(METEOR, id).expect("a minted id fits its text");
        let Meteor { magnitude, from } = meteor;
        writeln!(
            out,
            "  {name}  {}  {magnitude:>4.1} mag  from {from}",
            clock(id)
        )?;
    }
    Ok(())
}

fn hours(out: &mut impl Write, night: &View<'_, Meteor>) -> io::Result<()> {
    writeln!(out, "\nBy the hour, each bar one count in O(log n):")?;
    for hour in 0..NIGHT / HOUR {
        let count = night.count(between(hour * HOUR, (hour + 1) * HOUR));
        let bar = "*".repeat(count.div_ceil(5));
        writeln!(out, "  {:02}h {count:>4} {bar}", (20 + hour) % 24)?;
    }
    Ok(())
}

/// Pages of three from a moment on: the last id of a page is the cursor of the next.
fn pages(out: &mut impl Write, log: &OrderedStore<Meteor>) -> io::Result<()> {
    let mut cursor = between(4 * HOUR, NIGHT).start;
    for page in 1..=2 {
        writeln!(
            out,
            "\nFrom midnight on, page {page}, after {}:",
            clock(cursor)
        )?;
        let view = log.view();
        let after = (Bound::Excluded(cursor), Bound::Unbounded);
        let rows: Vec<_> = view.range(after).take(3).collect();
        cursor = rows.last().map_or(cursor, |(id, _)| *id);
        tell(out, rows.into_iter())?;
    }
    Ok(())
}

/// Reads one moment, in peace, while another thread goes on writing.
fn read_while_writing(
    out: &mut impl Write,
    log: &OrderedStore<Meteor>,
    ids: &Generator,
) -> io::Result<()> {
    let archive = log.snapshot();
    let (brightest, seen) = thread::scope(|scope| {
        scope.spawn(|| {
            let mut sky = Sky(2026);
            for _ in 0..10_000 {
                log.put(ids.next_at(1, DUSK + NIGHT), sky.meteor());
            }
        });
        let night = archive.view();
        let brighter = |a: &&Meteor, b: &&Meteor| a.magnitude.total_cmp(&b.magnitude);
        let brightest = night.iter().map(|(_, meteor)| meteor).min_by(brighter);
        (brightest.copied(), night.len())
    });
    if let Some(Meteor { magnitude, from }) = brightest {
        writeln!(
            out,
            "\nBrightest of the archived {seen}: {magnitude} mag, from {from}."
        )?;
    }
    let (archived, now) = (archive.view().len(), log.view().len());
    writeln!(
        out,
        "Meanwhile the log grew to {now}; the archive still has {archived}."
    )
}

/// The whole evening, told to `out`.
pub fn run(out: &mut impl Write) -> io::Result<()> {
    let (log, ids) = (OrderedStore::new(), Generator::new());
    watch(&log, &ids);

    let night = log.view();
    writeln!(
        out,
        "{} meteors between dusk and dawn. The newest five:",
        night.len()
    )?;
    tell(out, night.iter().rev().take(5))?;
    hours(out, &night)?;

    let quarter = between(6 * HOUR, 6 * HOUR + 2 * MINUTE);
    writeln!(
        out,
        "\nTwo minutes from two o'clock, {} seen:",
        night.count(quarter.clone())
    )?;
    tell(out, night.range(quarter))?;
    drop(night);

    pages(out, &log)?;
    read_while_writing(out, &log, &ids)
}

fn main() -> io::Result<()> {
    run(&mut io::stdout().lock())
}
