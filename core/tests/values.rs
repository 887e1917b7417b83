//! Values: every kind comes back as it was put, and is dropped exactly once, when nobody can read it
//! any more.

mod common;

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;

use common::numbered::AnyBlob;
use common::{eventually, settle_all, Grenade, Live, Tracked};
use echo_data_core::{drain, Blob, BlobRef, Boxed, OrderedStore, SlimBlob, Value};

/// Puts enough values to need several nodes, and reads each back.
fn round_trip<T: Copy + PartialEq + std::fmt::Debug + Send + Sync + 'static>(
    value: impl Fn(u64) -> T,
) {
    let store = OrderedStore::new();
    for key in 0..200 {
        store.put(key * 7 % 200, value(key * 7 % 200));
    }
    let view = store.view();
    for (key, got) in &view {
        assert_eq!(*got, value(key));
        assert!((std::ptr::from_ref(got) as usize).is_multiple_of(align_of::<T>()));
    }
    assert_eq!(view.len(), 200);
    assert_eq!(store.info().memory.payloads, 0);
}

#[test]
fn plain_values_of_any_size_and_alignment_stay_in_the_leaf() {
    round_trip(|_| ());
    round_trip(|key| key as u8);
    round_trip(|key| key % 2 == 0);
    round_trip(|key| [key as u8; 3]);
    round_trip(|key| (key as u8, key as u16, key as u8));
    round_trip(|key| key as f64 / 3.0);
    round_trip(|key| u128::from(key) << 64);
    round_trip(|key| [key; 100]);
    round_trip(|key| key.is_multiple_of(3).then_some(key));
    round_trip(|key| ["odd", "even"][(key % 2) as usize]);
}

#[test]
fn boxed_values_come_back_whole() {
    #[repr(align(16))]
    struct Aligned(u64);

    let store = OrderedStore::from_iter((0..100).map(|key| (key, Boxed(Aligned(key)))));
    let view = store.view();
    for (key, value) in &view {
        assert_eq!(value.0, key);
        assert!((std::ptr::from_ref(value) as usize).is_multiple_of(16));
    }
    assert_eq!(store.info().memory.payloads, 100);

    let store = OrderedStore::from_iter([(1, Boxed(()))]);
    assert_eq!(store.view().get(1), Some(&()));
    let callback: Box<dyn Fn(u64) -> u64 + Send + Sync> = Box::new(|n| n + 1);
    let store = OrderedStore::from_iter([(1, Boxed(callback))]);
    assert_eq!(store.view().get(1).map(|add_one| add_one(1)), Some(2));
}

fn bytes_come_back_with_their_tag<B: AnyBlob<()>>() {
    let bytes: Vec<u8> = (0..=255).cycle().take(5000).collect();
    let lengths = (0..=40).chain([126, 127, 128, 129, 255, 256, 5000]);
    for tag in [0, 1, 13, 16, 17, 255] {
        let store = OrderedStore::new();
        for length in lengths.clone() {
            store.put(length as u64, B::bytes(tag, &bytes[..length]));
        }
        let view = store.view();
        for (key, value) in &view {
            assert_eq!(value, BlobRef::Bytes(tag, &bytes[..key as usize]));
        }
        assert_eq!(view.len(), lengths.clone().count());
    }
}

#[test]
fn blobs_of_any_length_come_back_with_their_tag() {
    bytes_come_back_with_their_tag::<Blob>();
    bytes_come_back_with_their_tag::<SlimBlob>();
}

fn short_bytes_need_no_allocation<B: AnyBlob<()>>(inline: usize) {
    assert_eq!(B::INLINE, inline);
    for length in 0..=30 {
        let store = OrderedStore::new();
        store.put(1, B::bytes(0, &vec![7; length]));
        assert_eq!(
            store.info().memory.payloads,
            u64::from(length > inline),
            "{length} bytes"
        );
    }
}

#[test]
fn short_bytes_need_no_allocation_in_a_blob() {
    short_bytes_need_no_allocation::<Blob>(14);
    short_bytes_need_no_allocation::<SlimBlob>(6);
}

/// The text of a blob is copied, so its owner may go.
#[test]
fn a_short_blob_is_the_blob_of_its_first_bytes() {
    let bytes = *b"shortest";
    for length in 0..=bytes.len() {
        let blobs = [
            Blob::short(9, bytes, length),
            Blob::bytes(9, &bytes[..length]),
        ];
        let store: OrderedStore<Blob> = OrderedStore::from_iter((0..).zip(blobs));
        let view = store.view();
        assert_eq!(view.get(0), Some(BlobRef::Bytes(9, &bytes[..length])));
        assert_eq!(view.get(0), view.get(1));
    }
    let longer = catch_unwind(|| Blob::<()>::short(9, bytes, 9));
    assert!(longer.is_err());
}

fn bytes_are_owned<B: AnyBlob<()>>() {
    let store = OrderedStore::new();
    for length in [3, 300] {
        let text = "é".repeat(length);
        store.put(length as u64, B::bytes(1, text.as_bytes()));
    }
    let wanted = "é".repeat(300);
    assert_eq!(
        store.view().get(300),
        Some(BlobRef::Bytes(1, wanted.as_bytes()))
    );
    assert_eq!(
        store.view().get(3),
        Some(BlobRef::Bytes(1, "ééé".as_bytes()))
    );
}

#[test]
fn a_blob_owns_its_bytes() {
    bytes_are_owned::<Blob>();
    bytes_are_owned::<SlimBlob>();
}

fn bytes_and_objects_live_side_by_side<B: AnyBlob<Tracked>>() {
    let live = Live::default();
    let store = OrderedStore::new();
    let gauge = store.gauge();
    for key in 0..300 {
        match key % 3 {
            0 => store.put(key, B::bytes(key as u8, &key.to_be_bytes()[2..])),
            1 => store.put(key, B::bytes(key as u8, &[key as u8; 20])),
            _ => store.put(key, B::object(key as u8, live.value(key))),
        };
    }
    for (key, value) in &store.view() {
        match (key % 3, value) {
            (0, BlobRef::Bytes(tag, bytes)) => {
                assert_eq!((tag, bytes), (key as u8, &key.to_be_bytes()[2..]));
            }
            (1, BlobRef::Bytes(tag, bytes)) => {
                assert_eq!((tag, bytes), (key as u8, &[key as u8; 20][..]));
            }
            (2, BlobRef::Object(tag, object)) => {
                assert_eq!((tag, object.number()), (key as u8, key));
            }
            _ => panic!("key {key} has the value of another kind"),
        }
    }
    assert_eq!(live.count(), 100);
    drop(store);
    settle_all(&gauge, &live);
}

#[test]
fn blobs_of_bytes_and_objects_live_side_by_side() {
    bytes_and_objects_live_side_by_side::<Blob<Tracked>>();
    bytes_and_objects_live_side_by_side::<SlimBlob<Tracked>>();
}

/// Objects keep their alignment behind the tag, and may be nothing at all.
fn objects_of_any_shape_come_back<B: AnyBlob<u128>, N: AnyBlob<()>>() {
    let store =
        OrderedStore::from_iter((0..50).map(|key| (key, B::object(3, 7 << 100 | key as u128))));
    for (key, value) in &store.view() {
        let BlobRef::Object(3, object) = value else {
            panic!("{value:?}");
        };
        assert_eq!(*object, 7 << 100 | key as u128);
        assert!((std::ptr::from_ref(object) as usize).is_multiple_of(align_of::<u128>()));
    }
    let store = OrderedStore::from_iter([(1, N::object(9, ()))]);
    assert_eq!(store.view().get(1), Some(BlobRef::Object(9, &())));
}

#[test]
fn objects_of_any_shape_come_back_from_blobs() {
    objects_of_any_shape_come_back::<Blob<u128>, Blob>();
    objects_of_any_shape_come_back::<SlimBlob<u128>, SlimBlob>();
}

/// In a leaf a row of one takes a word less than of the other. Blocks are rounded up, shrunken ones too far.
#[test]
#[cfg(not(tiny_nodes))]
fn a_slim_blob_takes_half_the_room_of_a_blob() {
    fn bytes_a_row<B: AnyBlob<()>>() -> u64 {
        let store = OrderedStore::from_iter((0..64_000).map(|key| (key, B::bytes(1, &[]))));
        store.info().memory.bytes / 64_000
    }
    let (blob, slim) = (bytes_a_row::<Blob>(), bytes_a_row::<SlimBlob>());
    assert_eq!(blob - slim, 8, "{blob} and {slim} bytes a row");
}

#[test]
fn references_to_blobs_are_copies_that_compare() {
    let object = 5_u64;
    let (bytes, text) = (BlobRef::Bytes(1, b"ab"), BlobRef::<u64>::Bytes(1, b"ab"));
    assert_eq!(bytes, text);
    let copy = bytes;
    assert_eq!(copy, bytes);
    assert_ne!(bytes, BlobRef::Bytes(2, b"ab"));
    assert_ne!(bytes, BlobRef::Object(1, &object));
    assert_eq!(format!("{bytes:?}"), "Bytes(1, [97, 98])");
}

/// What an object holds elsewhere counts while it lives, and its replacement does not wait for company.
fn what_is_held_elsewhere_counts<B: AnyBlob<Tracked>>() {
    const MEGABYTE: u64 = 1 << 20;
    let live = Live::default();
    let large = |number| B::owning(0, live.value(number), MEGABYTE as usize);
    let store = OrderedStore::from_iter((0..10).map(|key| (key, large(key))));
    let gauge = store.gauge();
    assert!(store.info().memory.bytes / MEGABYTE == 10);
    for number in 0..500 {
        store.put(number % 10, large(number));
    }
    eventually("the replaced objects are gone", || {
        store.info().memory.bytes / MEGABYTE == 10 && live.count() == 10
    });
    drop(store);
    settle_all(&gauge, &live);
}

#[test]
fn an_object_counts_with_what_it_holds_elsewhere() {
    what_is_held_elsewhere_counts::<Blob<Tracked>>();
    what_is_held_elsewhere_counts::<SlimBlob<Tracked>>();
}

#[test]
fn a_blob_that_is_never_put_is_dropped() {
    let live = Live::default();
    drop(Blob::object(0, live.value(1)));
    drop(Blob::<()>::bytes(0, &[0; 100]));
    drop(SlimBlob::object(0, live.value(1)));
    drop(SlimBlob::<()>::bytes(0, &[0; 100]));
    drop(SlimBlob::<()>::bytes(0, &[0; 6]));
    assert_eq!(live.count(), 0);
}

/// What each operation does to the values it meets, for every owner of values.
fn drops_exactly_once<V: Value>(make: fn(Tracked) -> V) {
    let live = Live::default();
    let value = |number| make(live.value(number));
    let store = OrderedStore::new();
    let gauge = store.gauge();

    assert!(!store.put_if(1, value(1), |_| false));
    assert_eq!(live.count(), 0, "a refused value is dropped at once");
    let refused = catch_unwind(AssertUnwindSafe(|| {
        store.put_if(1, value(1), |_| panic!("refused by panic"))
    }));
    assert!(refused.is_err());
    assert_eq!(live.count(), 0, "so is one whose condition panics");

    store.put_all([(1, value(1)), (2, value(2)), (1, value(3)), (1, value(4))]);
    assert_eq!(
        live.count(),
        2,
        "of one key the earlier values are dropped at once"
    );
    let broken = catch_unwind(AssertUnwindSafe(|| {
        let rows = (0..9_u64).inspect(|row| assert!(*row < 5, "no more rows"));
        store.put_all(rows.map(|row| (row, value(row))));
    }));
    assert!(broken.is_err());
    assert_eq!(live.count(), 2, "a batch that breaks off drops what it had");

    store.put(1, value(5));
    store.remove(2);
    store.put_all((10..500).map(|key| (key, value(key))));
    store.put_all((10..500).map(|key| (key, value(key))));
    assert_eq!(store.remove_range(100..400), 300);
    store.take(10, |_| assert!(live.count() > 0));
    assert!(store.remove_if(11, |_| true));
    assert_eq!(store.view().len(), 1 + 490 - 300 - 2);
    store.clear();
    eventually("replaced and removed values are dropped", || {
        live.count() == 0
    });

    store.put_all((0..1000).map(|key| (key, value(key))));
    drop(store);
    settle_all(&gauge, &live);
}

#[test]
fn boxed_values_are_dropped_exactly_once() {
    drops_exactly_once(Boxed);
}

#[test]
fn objects_in_blobs_are_dropped_exactly_once() {
    drops_exactly_once(|object| Blob::object(9, object));
    drops_exactly_once(|object| SlimBlob::object(9, object));
}

#[test]
fn a_value_taken_is_readable_until_it_is_dropped() {
    let live = Live::default();
    let store = OrderedStore::from_iter((0..100).map(|key| (key, Boxed(live.value(key)))));
    let read = catch_unwind(AssertUnwindSafe(|| {
        store.take(50, |value| {
            assert_eq!(value.number(), 50);
            panic!("while reading")
        })
    }));
    assert!(read.is_err());
    assert!(!store.view().contains(50), "it is gone all the same");
    for key in (0..100).filter(|key| *key != 50) {
        assert_eq!(store.take(key, Tracked::number), Some(key));
    }
    store.put_all((0..10).map(|key| (key, Boxed(live.value(key)))));
    store.clear();
    eventually("taken values are dropped", || live.count() == 0);
}

#[test]
fn a_snapshot_keeps_its_values_and_no_others() {
    let live = Live::default();
    let value = |number| Boxed(live.value(number));
    let store = OrderedStore::from_iter((0..50).map(|key| (key, value(key))));
    let gauge = store.gauge();
    let hold = store.hold();
    for round in 1..20 {
        store.put_all((0..50).map(|key| (key, value(round * 100 + key))));
    }
    store.clear();
    eventually("only the held values live", || live.count() == 50);
    let view = store.at(&hold).expect("a hold of this store");
    assert!(view.iter().all(|(key, value)| value.number() == key));
    drop(hold);
    eventually("they are dropped with the hold", || live.count() == 0);
    drop(store);
    settle_all(&gauge, &live);
}

#[test]
fn a_snapshot_keeps_nothing_that_was_appended_after_it() {
    let live = Live::default();
    let append = |store: &OrderedStore<_>, keys: std::ops::Range<u64>| {
        for key in keys {
            store.put(key, Boxed(live.value(key)));
        }
    };
    let store = OrderedStore::new();
    append(&store, 0..2);
    let hold = store.hold();
    append(&store, 2..4);
    store.clear();
    eventually("only the held values live", || live.count() == 2);
    assert_eq!(store.at(&hold).expect("a hold of this store").len(), 2);
    drop(hold);
    eventually("they are dropped with the hold", || live.count() == 0);
}

#[test]
fn a_view_keeps_its_values() {
    let live = Live::default();
    let store = OrderedStore::from_iter((0..50).map(|key| (key, Boxed(live.value(key)))));
    let view = store.view();
    store.clear();
    std::thread::scope(|scope| {
        scope.spawn(|| store.put(1, Boxed(live.value(1))));
    });
    assert!(view.iter().all(|(key, value)| value.number() == key));
    assert_eq!(live.count(), 51);
    drop(view);
    eventually("they are dropped after the view", || live.count() == 1);
}

/// A destructor may come back to the store that the value was in, and to others.
#[test]
fn a_destructor_may_use_the_store() {
    struct Echo(Arc<OrderedStore<u64>>, u64);

    impl Drop for Echo {
        fn drop(&mut self) {
            self.0.put(self.1, self.1);
            assert!(self.0.view().contains(self.1));
        }
    }

    let log = Arc::new(OrderedStore::new());
    let store = OrderedStore::new();
    for number in 0..3000 {
        store.put(number % 10, Boxed(Echo(Arc::clone(&log), number)));
    }
    drop(store);
    eventually("every destructor has run", || log.view().len() == 3000);
}

/// A panic in a destructor is nobody else's: not of the thread that happens to free, not of the values
/// freed with it, not of reclamation as a whole.
#[test]
fn a_destructor_that_panics_stops_nothing() {
    let live = Live::default();
    let value = |number| Boxed(Grenade::new(number, &live));
    let store = OrderedStore::new();
    let gauge = store.gauge();
    for number in 0..3000 {
        store.put(number % 50, value(number));
    }
    store.put_all((0..1000).map(|number| (number, value(number))));
    assert_eq!(store.clear(), 1000);
    drain();
    store.put_all((0..2000).map(|number| (number, value(number))));
    assert!(!store.put_if(1, value(100), |_| false));
    drop(store);
    settle_all(&gauge, &live);
}

/// What is closed with a store may be a store.
#[test]
fn stores_can_be_values() {
    let live = Live::default();
    let outer = OrderedStore::new();
    let gauge = outer.gauge();
    for number in 0..100 {
        let inner = OrderedStore::from_iter((0..20).map(|key| (key, Boxed(live.value(key)))));
        outer.put(number, Boxed(inner));
    }
    let sum: usize = outer
        .view()
        .iter()
        .map(|(_, inner)| inner.view().len())
        .sum();
    assert_eq!(sum, 2000);
    drop(outer);
    settle_all(&gauge, &live);
}
