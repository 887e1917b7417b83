//! Callbacks and destructors that use the very store that calls them, that panic, or that run when their
//! thread ends.

mod common;

use std::cell::RefCell;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::{Arc, Weak};
use std::thread;

use common::{eventually, scale, settle_all, Live, Rng, Tracked};
use echo_data_core::{Boxed, OrderedStore};

type Store = OrderedStore<Boxed<Echo>>;

/// A value whose destructor puts another one, so often, and reads through a hold.
struct Echo {
    own: Tracked,
    again: u64,
    live: Live,
    store: Weak<Store>,
}

impl Echo {
    fn new(store: &Arc<Store>, live: &Live, number: u64, again: u64) -> Boxed<Self> {
        Boxed(Self {
            own: live.value(number),
            again,
            live: live.clone(),
            store: Arc::downgrade(store),
        })
    }

    fn number(&self) -> u64 {
        self.own.number()
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let number = self.number();
        let Some(store) = self.store.upgrade() else {
            return;
        };
        if let Some(again) = self.again.checked_sub(1) {
            store.put(
                number % 64,
                Self::new(&store, &self.live, number + 1, again),
            );
        }
        if number.is_multiple_of(5) {
            let held = store.hold();
            let view = store.at(&held).expect("a hold of this store");
            let numbers: Vec<_> = view.iter().map(|(_, echo)| echo.number()).collect();
            assert_eq!(numbers.len(), view.len());
        }
    }
}

/// Ends `change` by a panic that no hook reports.
fn broken_off<T>(change: impl FnOnce() -> T) {
    assert!(catch_unwind(AssertUnwindSafe(change)).is_err());
}

fn stop() -> ! {
    resume_unwind(Box::new("meant"))
}

#[test]
fn callbacks_and_destructors_may_use_the_store_and_panic() {
    let live = Live::default();
    let store = Arc::new(Store::new());
    let gauge = store.gauge();
    let work = |mut rng: Rng| {
        for number in 0..scale(3000, 300_000) {
            let key = rng.below(80);
            let value = |again| Echo::new(&store, &live, number, again);
            let row = value(rng.below(3));
            match rng.below(8) {
                0 => drop(store.put_if(key, row, |old| {
                    store.take(key, Echo::number);
                    old.is_none_or(|old| old.number() % 2 == 0)
                })),
                1 => broken_off(|| {
                    store.put_if(key, row, |_| {
                        store.put(key, value(0));
                        stop()
                    })
                }),
                2 => {
                    store.put(key, row);
                    let taken = catch_unwind(AssertUnwindSafe(|| {
                        store.take(key, |old| {
                            old.number();
                            stop()
                        })
                    }));
                    assert!(!matches!(taken, Ok(Some(()))));
                }
                3 => store.put_all((key..key + 9).map(|key| (key, value(1)))),
                4 => broken_off(|| {
                    let rows =
                        (key..key + 9).map(|at| (at, if at < key + 5 { value(1) } else { stop() }));
                    store.put_all(rows)
                }),
                5 => drop(store.remove_range(key..key + 20)),
                _ => drop(store.put(key, row)),
            }
        }
    };
    let mut rng = Rng::new();
    thread::scope(|scope| {
        for rng in [rng.fork(), rng.fork(), rng.fork()] {
            scope.spawn(|| work(rng));
        }
    });
    eventually("every destructor has run", || {
        store.clear();
        live.count() == 0
    });
    drop(store);
    settle_all(&gauge, &live);
}

/// Thread-local values end when those of this library may have ended already.
#[test]
fn an_ending_thread_may_use_a_store() {
    struct AtEnd {
        shared: Arc<OrderedStore<Boxed<Tracked>>>,
        own: OrderedStore<Boxed<Tracked>>,
        live: Live,
    }

    impl Drop for AtEnd {
        fn drop(&mut self) {
            for number in 0..2000 {
                self.shared.put(number % 50, Boxed(self.live.value(number)));
                self.own.put(number % 50, Boxed(self.live.value(number)));
                self.shared.take(number % 13, Tracked::number);
                let held = self.shared.hold();
                assert!(self.shared.at(&held).expect("a hold of this store").len() <= 50);
            }
        }
    }

    thread_local! {
        static END: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
    }

    let live = Live::default();
    let shared = Arc::new(OrderedStore::new());
    let gauge = shared.gauge();
    // Destructors run in the order in which their values were first used: the library's before and after.
    let ending = [true, false, true, false].map(|before| {
        let (shared, live) = (Arc::clone(&shared), live.clone());
        thread::spawn(move || {
            let write = || {
                for number in 0..1000 {
                    shared.put(number % 20, Boxed(live.value(number)));
                }
            };
            if before {
                write();
            }
            END.set(Some(AtEnd {
                shared: Arc::clone(&shared),
                own: OrderedStore::new(),
                live: live.clone(),
            }));
            if !before {
                write();
            }
        })
    });
    for thread in ending {
        thread.join().expect("no panic");
    }
    drop(shared);
    settle_all(&gauge, &live);
}
