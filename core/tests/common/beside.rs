//! Threads that work while the test looks on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Barrier;
use std::thread;

/// Raised when it goes, also by a panic, so that the threads that wait for it end.
struct Flag<'a>(&'a AtomicBool);

impl Drop for Flag<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What a thread does again and again, when others do something else.
pub type Work<'a> = Box<dyn FnMut() + Send + 'a>;

/// Each of `works` again and again in a thread of its own until `main` returns. All begin together.
pub fn beside<W: FnMut() + Send, const N: usize>(works: [W; N], main: impl FnOnce()) {
    let (over, start) = (AtomicBool::new(false), Barrier::new(N + 1));
    thread::scope(|scope| {
        for mut work in works {
            let (over, start) = (&over, &start);
            scope.spawn(move || {
                start.wait();
                while !over.load(Ordering::Relaxed) {
                    work();
                }
            });
        }
        start.wait();
        let _over = Flag(&over);
        main();
    });
}
