//! The examples tell the same each time.

use std::io;

#[allow(dead_code)] // its `main`
#[path = "../examples/harbour.rs"]
mod harbour;
#[allow(dead_code)] // its `main`
#[path = "../examples/meteors.rs"]
mod meteors;
#[allow(dead_code)] // its `main`
#[path = "../examples/regatta.rs"]
mod regatta;

fn tells(run: fn(&mut Vec<u8>) -> io::Result<()>, lines: &[&str]) {
    let mut out = Vec::new();
    run(&mut out).expect("a vector takes all");
    let text = String::from_utf8(out).expect("text");
    for line in lines {
        assert!(
            text.lines().any(|told| told == *line),
            "no {line:?} in\n{text}"
        );
    }
}

#[test]
fn the_night_of_meteors_runs() {
    let lines = [
        "1321 meteors between dusk and dawn. The newest five:",
        "  MET0FnajORBwMi  04:59:55   4.0 mag  from Perseus",
        "  20h   29 ******",
        "Two minutes from two o'clock, 6 seen:",
        "From midnight on, page 2, after 00:00:46:",
        "  MET0FnFOcQi0Su  00:01:22   2.4 mag  from Perseus",
        "Meanwhile the log grew to 11321; the archive still has 1321.",
    ];
    tells(meteors::run, &lines);
}

#[test]
fn the_day_at_the_harbour_runs() {
    let lines = [
        "Hull awaits 3 ships: Anna, Brage, Clio",
        "Clio calls at 5 ports: Bergen, Hull; then Gdansk, Riga; ...",
        "Anna and Clio both call at Bergen, Hull",
        "Riga closes, 2 calls are off. Clio's new plan: 0 new, 2 kept, 2 dropped",
        "272 reports are too old; the last two hours:",
        "  from 11:57   2 *",
        "The archive still has all 467 of 12 buckets, the first from 06:01",
    ];
    tells(harbour::run, &lines);
}

#[test]
fn the_regatta_runs() {
    let lines = [
        "Finn after 3 races:",
        "   1. Cirrus   6 points   2:33:42",
        "   2. Aura     6 points   2:34:00",
        "   6. Juno    18 points   2:41:15",
        "  Competition: Elva 1, Ibis 2, Kite 2, Halo 4",
        "  Dense:       Elva 1, Ibis 2, Kite 2, Halo 3",
        "  Max:         Elva 1, Ibis 3, Kite 3, Halo 4",
        "   5. Gale    12 points   2:37:42",
        "1 of 7 Lasers have fewer than ten points.",
        "Seven points more after a protest: Elva has 13, and stands at 6 instead of 1.",
        "4 Finns leave the harbour; 7 boats stay.",
    ];
    tells(regatta::run, &lines);
}
