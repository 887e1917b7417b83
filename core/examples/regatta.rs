//! A regatta: boats of two classes, ranked by points and, among equals, by their time on the water.
//!
//! In sailing the fewest points win: a race gives its winner one, the second two. So the smallest score
//! comes first, and one `Ranked` set keeps a board for each class.
//!
//! `cargo run -p echo_data_core --example regatta`

use std::io::{self, Write};

use echo_data_core::{Board, Condition, Order, Put, Ranked, Refusal, Standing, Ties, When};

/// Points over all races, then seconds sailed.
type Sailed = (i64, i64);

const CLASSES: [(&str, &[&str]); 2] = [
    ("Finn", &["Aura", "Brisa", "Cirrus", "Dune"]),
    ("Laser", &["Elva", "Fjord", "Gale", "Halo", "Ibis", "Juno"]),
];
const RACES: i64 = 3;
/// A guest, who sails with the Lasers.
const KITE: u64 = 10;

fn name(boat: u64) -> &'static str {
    let mut boats = CLASSES.iter().flat_map(|(_, boats)| boats.iter());
    boats.nth(boat as usize).copied().unwrap_or("Kite")
}

/// Each race is one change of the board: nobody sees half of its results.
fn sail(regatta: &Ranked<Sailed>) -> Result<(), Refusal> {
    let mut first = 0;
    for (class, boats) in CLASSES {
        let count = boats.len() as i64;
        for race in 0..RACES {
            let view = regatta.view();
            let board = view.group(class.as_bytes());
            let results: Vec<(u64, Sailed)> = (0..count)
                .map(|boat| {
                    let place = 1 + (boat * (race + 1) + race) % count;
                    let id = first + boat as u64;
                    let (points, seconds) = board.score(id).unwrap_or_default();
                    (id, (points + place, seconds + 3000 + 40 * place - 3 * boat))
                })
                .collect();
            regatta.put_all(class.as_bytes(), results)?;
        }
        first += boats.len() as u64;
    }
    Ok(())
}

fn tell(out: &mut impl Write, rows: impl Iterator<Item = Standing<Sailed>>) -> io::Result<()> {
    for Standing { rank, id, score } in rows {
        let (points, seconds) = score;
        writeln!(
            out,
            "  {:>2}. {:<6} {points:>3} points  {:>2}:{:02}:{:02}",
            rank + 1,
            name(id),
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        )?;
    }
    Ok(())
}

/// The same board, counted in four ways.
fn four_ways(out: &mut impl Write, board: &Board<'_, Sailed>, boats: &[u64]) -> io::Result<()> {
    for ties in [Ties::Ordinal, Ties::Competition, Ties::Dense, Ties::Max] {
        let ranks = board.ranks(boats, ties, Order::Ascending);
        let ranks: Vec<String> = boats
            .iter()
            .zip(ranks)
            .map(|(&boat, rank)| format!("{} {}", name(boat), rank.map_or(0, |rank| rank + 1)))
            .collect();
        writeln!(out, "  {:<12} {}", format!("{ties:?}:"), ranks.join(", "))?;
    }
    Ok(())
}

/// A protest is upheld, and a jury that is late changes nothing.
fn protests(out: &mut impl Write, regatta: &Ranked<Sailed>) -> Result<io::Result<()>, Refusal> {
    let (elva, laser) = (4, b"Laser");
    let before = regatta.hold();
    let (points, _) = regatta.increment(laser, elva, (7, 0))?;
    let late = regatta.put(laser, elva, (0, 0), When::from(Condition::Greater))?;
    assert_eq!(late, Put::Unchanged);
    let rank = |board: Board<'_, Sailed>| board.rank(elva, Ties::Competition, Order::Ascending);
    let now = rank(regatta.view().group(laser));
    let then = regatta.at(&before).and_then(|view| rank(view.group(laser)));
    Ok(writeln!(
        out,
        "\nSeven points more after a protest: Elva has {points}, and stands at {} instead of {}.",
        now.map_or(0, |rank| rank + 1),
        then.map_or(0, |rank| rank + 1),
    ))
}

/// The whole regatta, told to `out`.
pub fn run(out: &mut impl Write) -> io::Result<()> {
    let regatta = Ranked::<Sailed>::new();
    let refused = |refusal: Refusal| io::Error::other(refusal);
    sail(&regatta).map_err(refused)?;

    for (class, _) in CLASSES {
        writeln!(out, "{class} after {RACES} races:")?;
        let view = regatta.view();
        let board = view.group(class.as_bytes());
        tell(out, board.standings(Ties::Competition, Order::Ascending))?;
    }

    // A guest comes in with the very result of another.
    let view = regatta.view();
    let second = view.group(b"Laser").select(1, Order::Ascending);
    drop(view);
    if let Some((_, result)) = second {
        let guest = regatta.put(b"Laser", KITE, result, When::from(Condition::New));
        guest.map_err(refused)?;
    }
    writeln!(out, "\nWith a dead heat, four ways to count:")?;
    let view = regatta.view();
    let board = view.group(b"Laser");
    let podium = board.by_rank(..4, Ties::Ordinal, Order::Ascending);
    let boats: Vec<u64> = podium.map(|row| row.id).collect();
    four_ways(out, &board, &boats)?;

    writeln!(out, "\nAround Gale:")?;
    let around = board.around(6, 1, Ties::Competition, Order::Ascending);
    tell(out, around.into_iter().flatten())?;
    let few = board.count_between(..(10, 0)).map_err(refused)?;
    writeln!(
        out,
        "\n{few} of {} Lasers have fewer than ten points.",
        board.len()
    )?;
    drop(view);

    protests(out, &regatta).map_err(refused)??;
    let gone = regatta.drop_group(b"Finn");
    writeln!(
        out,
        "{gone} Finns leave the harbour; {} boats stay.",
        regatta.view().len()
    )
}

fn main() -> io::Result<()> {
    run(&mut io::stdout().lock())
}
