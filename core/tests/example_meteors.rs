//! The example tells the same night each time.

#[allow(dead_code)] // its `main`
#[path = "../examples/meteors.rs"]
mod meteors;

#[test]
fn the_example_runs() {
    let mut out = Vec::new();
    meteors::run(&mut out).expect("a vector takes all");
    let text = String::from_utf8(out).expect("text");
    for line in [
        "1321 meteors between dusk and dawn. The newest five:",
        "  MET0FnajORBwMi  04:59:55   4.0 mag  from Perseus",
        "  20h   29 ******",
        "Two minutes from two o'clock, 6 seen:",
        "From midnight on, page 2, after 00:00:46:",
        "  MET0FnFOcQi0Su  00:01:22   2.4 mag  from Perseus",
        "Meanwhile the log grew to 11321; the archive still has 1321.",
    ] {
        assert!(
            text.lines().any(|told| told == line),
            "no {line:?} in\n{text}"
        );
    }
}
