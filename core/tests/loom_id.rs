//! The generator under every interleaving of its minters:
//! `RUSTFLAGS="--cfg loom" cargo test -p echo_data_core --release --test loom_id`.

#![cfg(loom)]

use echo_data_core::id::snowflake::{compose, EPOCH_MS};
use echo_data_core::id::Generator;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::sync::Arc;
use loom::thread;

fn at(timestamp: u64) -> i64 {
    (EPOCH_MS + timestamp) as i64
}

/// Two minters, two ids each, on clocks that disagree and step back: four different ids, increasing for
/// each minter, and none beyond what the clocks and the number of mints allow.
#[test]
fn two_minters_share_one_chain() {
    loom::model(|| {
        let ids = Arc::new(Generator::new());
        let theirs = Arc::clone(&ids);
        let other = thread::spawn(move || [theirs.next_at(0, at(6)), theirs.next_at(0, at(5))]);
        let ours = [ids.next_at(0, at(5)), ids.next_at(0, at(6))];
        let theirs = other.join().unwrap();

        assert!(ours[0] < ours[1] && theirs[0] < theirs[1]);
        let mut all = [ours, theirs].concat();
        all.sort_unstable();
        assert!(all.is_sorted_by(|a, b| a < b), "duplicate in {all:?}");
        assert!(all[0] >= compose(5, 0, 0) && all[3] <= compose(6, 0, 3));
        assert!(ids.next_at(0, at(0)) > all[3]);
    });
}

/// A mint that happens after another is greater, also when only a message orders the two threads.
#[test]
fn a_mint_after_a_message_is_greater() {
    loom::model(|| {
        let ids = Arc::new(Generator::new());
        let message = Arc::new(AtomicU64::new(0));
        let (sender_ids, sender) = (Arc::clone(&ids), Arc::clone(&message));
        let other =
            thread::spawn(move || sender.store(sender_ids.next_at(0, at(9)), Ordering::Release));
        let received = message.load(Ordering::Acquire);
        let minted = ids.next_at(0, at(1));
        assert!(received == 0 || minted > received);
        other.join().unwrap();
    });
}
