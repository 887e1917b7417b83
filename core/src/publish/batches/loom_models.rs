//! Work must be done once, after the reader that it waits for. That the models see what they should was
//! tried by weakening the list, one place at a time.
//!
//! | weakened | seen by |
//! |---|---|
//! | the Release of `push`; the Acquire that takes the list | both |
//! | the Release or the Acquire of `ripe` | both |
//! | a list taken by a load and a store; a batch added by a store | both |
//! | what is not ripe dropped from the list | both |

use loom::thread;

use super::*;

/// Keeps work in `batches` that asserts that the reader is done. Answers the reader's part, and how
/// often the work was done.
fn kept(batches: &'static Batches) -> (impl FnOnce() + Send, Arc<AtomicU64>) {
    let (left, done) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU64::new(0)),
    );
    let (seen, count) = (Arc::clone(&left), Arc::clone(&done));
    let ripen = batches.keep(move || {
        // Relaxed: what is modelled is that it need not be more.
        assert!(seen.load(Ordering::Relaxed), "done before the reader left");
        count.fetch_add(1, Ordering::Relaxed);
    });
    let leave = move || {
        left.store(true, Ordering::Relaxed);
        ripen();
    };
    (leave, done)
}

fn batches() -> &'static Batches {
    Box::leak(Box::new(Batches::new()))
}

#[test]
fn two_sweep_while_a_reader_leaves() {
    loom::model(|| {
        let batches = batches();
        let (leave, done) = kept(batches);
        let reader = thread::spawn(leave);
        let scavenger = thread::spawn(|| batches.sweep());
        batches.sweep_if_worth_it();
        reader.join().unwrap();
        scavenger.join().unwrap();
        batches.sweep();
        assert_eq!(done.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn two_keep_while_one_sweeps() {
    loom::model(|| {
        let batches = batches();
        let keeper = thread::spawn(|| {
            let (leave, done) = kept(batches);
            leave();
            done
        });
        let (leave, second) = kept(batches);
        let scavenger = thread::spawn(|| batches.sweep());
        leave();
        let first = keeper.join().unwrap();
        scavenger.join().unwrap();
        batches.sweep();
        for done in [first, second] {
            assert_eq!(done.load(Ordering::Relaxed), 1);
        }
    });
}
