//! The example tells the same regatta each time.

#[allow(dead_code)] // its `main`
#[path = "../examples/regatta.rs"]
mod regatta;

#[test]
fn the_example_runs() {
    let mut out = Vec::new();
    regatta::run(&mut out).expect("a vector takes all");
    let text = String::from_utf8(out).expect("text");
    for line in [
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
    ] {
        assert!(
            text.lines().any(|told| told == line),
            "no {line:?} in\n{text}"
        );
    }
}
