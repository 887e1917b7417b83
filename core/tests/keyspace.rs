//! The keyspace through its public doors: the contract's figures, the edges of hash tags, a bitwise model of the
//! checksum, and that keys are read back as they were built.

use echo_data_core::id::{snowflake, BrandedId, Namespace};
use echo_data_core::keyspace::{even_partition, hashtag, slot, Layout, SLOTS, VERSION};
use echo_data_core::keyspace::{
    CrossSlot, InvalidLayout, InvalidQueue, Key, QueueName, SlotSet, UngatedJob,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Slots by their definition: polynomial `0x1021`, one bit at a time.
mod naive {
    pub fn slot(key: &[u8]) -> u16 {
        let mut crc = 0u32;
        for byte in hashtag(key) {
            crc ^= u32::from(*byte) << 8;
            for _ in 0..8 {
                crc <<= 1;
                if crc & 0x1_0000 != 0 {
                    crc ^= 0x1_1021;
                }
            }
        }
        (crc % 16384) as u16
    }

    pub fn hashtag(key: &[u8]) -> &[u8] {
        let mut parts = key.splitn(2, |byte| *byte == b'{');
        let (_, Some(behind)) = (parts.next(), parts.next()) else {
            return key;
        };
        let mut parts = behind.splitn(2, |byte| *byte == b'}');
        match (parts.next(), parts.next()) {
            (Some(tag), Some(_)) if !tag.is_empty() => tag,
            _ => key,
        }
    }
}

fn queue(name: &[u8]) -> QueueName<'_> {
    QueueName::new(name).unwrap()
}

#[test]
fn the_contract_figures_hold() {
    for (key, wanted) in [
        (b"{orders}".as_slice(), 105),
        (b"{fills}", 4165),
        (b"{payments}", 8507),
        (b"123456789", 12739),
    ] {
        assert_eq!(slot(key), wanted);
    }
    let orders = queue(b"orders");
    let id = BrandedId::parse(b"ORD0NgWEfAEJfs").unwrap();
    let pending = Key::queue(orders, b"pending").unwrap();
    let job = Key::job(orders, id);
    assert_eq!(pending.to_vec(), b"emq:{orders}:pending");
    assert_eq!(job.to_vec(), b"emq:{orders}:job:ORD0NgWEfAEJfs");
    assert_eq!(Key::queue(orders, b"job:").unwrap().size(), 17);
    assert_eq!(Key::reserve(b"locks").to_vec(), b"{emq}:locks");
    assert_eq!(VERSION.to_vec(), b"{emq}:version");
    assert_eq!(orders.slot(), 105);
    assert_eq!([slot(&pending.to_vec()), slot(&job.to_vec())], [105, 105]);
}

#[test]
fn a_tag_is_what_the_first_braces_hold() {
    let table: [(&[u8], &[u8]); 16] = [
        (b"", b""),
        (b"plain", b"plain"),
        (b"{tag}", b"tag"),
        (b"before{tag}after", b"tag"),
        (b"{a}{b}", b"a"),
        (b"{{a}}", b"{a"),
        (b"{{{", b"{{{"),
        (b"{}", b"{}"),
        (b"{}{a}", b"{}{a}"),
        (b"{", b"{"),
        (b"}", b"}"),
        (b"}{", b"}{"),
        (b"}a{b}", b"b"),
        (b"open{a", b"open{a"),
        (b"{\0}", b"\0"),
        (b"\xff{\r\n}\xfe", b"\r\n"),
    ];
    for (key, tag) in table {
        assert_eq!(hashtag(key), tag, "{key:?}");
        assert_eq!(slot(key), naive::slot(key), "{key:?}");
    }
}

#[test]
fn queues_that_would_break_the_law_have_no_name() {
    assert_eq!(QueueName::new(b""), Err(InvalidQueue::Empty));
    assert_eq!(QueueName::new(b"emq"), Err(InvalidQueue::Reserved));
    for (name, byte) in [
        (b"{orders}".as_slice(), b'{'),
        (b"a}", b'}'),
        (b"emq:a", b':'),
    ] {
        assert_eq!(QueueName::new(name), Err(InvalidQueue::Byte(byte)));
    }
    let reasons: Vec<_> = [
        InvalidQueue::Empty,
        InvalidQueue::Byte(b':'),
        InvalidQueue::Reserved,
    ]
    .iter()
    .map(ToString::to_string)
    .collect();
    assert_eq!(
        reasons,
        [
            "a queue name must not be empty",
            "a queue name must not contain ':'",
            "the queue name emq is reserved",
        ]
    );
    for name in [b"emq2".as_slice(), b"EMQ", b"\0\xff", b"with space"] {
        assert_eq!(queue(name).as_bytes(), name);
    }
}

#[test]
fn only_an_id_stands_where_a_job_does() {
    let orders = queue(b"orders");
    assert_eq!(
        Key::queue(orders, b"job:ORD0NgWEfAEJfs"),
        Err(UngatedJob),
        "even an id goes through the gate"
    );
    for key in [
        b"emq:{orders}:job:32063679958194".as_slice(),
        b"emq:{orders}:job:my-first-order",
        b"emq:{orders}:job:ORD0NgWEfAEJfs:lock",
        b"emq:{orders}job:ORD0NgWEfAEJfs",
        b"emq:{orders}",
        b"emq:{}:pending",
        b"emq:{emq}:pending",
        b"emq:{a:b}:pending",
        b"emq:{{a}:pending",
        b"emq:{orders",
        b"emq:orders:pending",
        b"emq{orders}:pending",
        b"{emq}locks",
        b"{orders}:pending",
        b"",
    ] {
        assert_eq!(Key::parse(key), None, "{key:?}");
    }
}

#[test]
fn a_script_is_legal_within_one_slot() {
    let none = SlotSet::of::<&[u8]>([]);
    assert_eq!(none.verdict(), Ok(None));
    let queues: Vec<Vec<u8>> = (0..6).map(|n| format!("{{queue{n}}}").into()).collect();
    let set = SlotSet::of(queues.iter().chain(&queues));
    let mut wanted: Vec<u16> = queues.iter().map(|key| slot(key)).collect();
    wanted.sort_unstable();
    assert_eq!(set.as_slice(), wanted);
    assert_eq!(set.verdict(), Err(CrossSlot { slots: &wanted }));
}

#[test]
fn even_parts_follow_each_other_and_differ_by_one_slot() {
    for parts in [1, 2, 3, 5, 6, 7, 100, 1000, 16383, SLOTS] {
        let owners: Vec<u16> = (0..SLOTS)
            .map(|slot| even_partition(slot, parts).unwrap())
            .collect();
        assert!(owners.is_sorted());
        let mut sizes = vec![0u16; parts.into()];
        for owner in owners {
            sizes[usize::from(owner)] += 1;
        }
        let [least, most] = [sizes.iter().min(), sizes.iter().max()].map(Option::unwrap);
        assert!(most - least <= 1, "{parts} parts have {least} to {most}");
    }
    assert_eq!(even_partition(0, 0), None);
    assert_eq!(even_partition(0, SLOTS + 1), None);
    assert_eq!(even_partition(SLOTS, 3), None);
}

#[test]
fn a_layout_says_who_owns_a_slot() {
    let layout = Layout::new([
        (10923..=16383, 'c'),
        (0..=99, 'a'),
        (200..=5460, 'a'),
        (100..=199, 'b'),
    ]);
    let layout = layout.unwrap();
    for (slot, owner) in [
        (0, Some('a')),
        (99, Some('a')),
        (100, Some('b')),
        (199, Some('b')),
        (200, Some('a')),
        (5460, Some('a')),
        (5461, None),
        (10922, None),
        (16383, Some('c')),
        (SLOTS, None),
    ] {
        assert_eq!(layout.owner(slot).copied(), owner, "{slot}");
    }
    let nobody = Layout::<()>::new([]).unwrap();
    assert_eq!(nobody.owner(0), None);
}

#[test]
fn ranges_that_are_no_layout_are_refused() {
    assert_eq!(
        Layout::new([(0..=10, 1), (10..=20, 2)]),
        Err(InvalidLayout::Overlap(10))
    );
    assert_eq!(
        Layout::new([(5..=6, 1), (0..=10, 2)]),
        Err(InvalidLayout::Overlap(5))
    );
    let (first, last) = (5, 4);
    for range in [first..=last, 0..=SLOTS] {
        let refused = Err(InvalidLayout::Range(range.clone()));
        assert_eq!(Layout::new([(range, ())]), refused);
    }
}

/// Bytes among which braces are common.
fn bracy(length: usize) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        select(b"{}".as_slice()),
        select(b"{}:ab\0\r\n".as_slice()),
        any::<u8>(),
    ];
    vec(byte, 0..length)
}

/// Names of queues.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let lawful = |name: &Vec<u8>| QueueName::new(name).is_ok();
    vec(any::<u8>(), 1..20).prop_filter("a lawful name", lawful)
}

proptest! {
    #[test]
    fn any_bytes_have_the_slot_of_the_definition(key in bracy(100)) {
        prop_assert!(slot(&key) < SLOTS);
        prop_assert_eq!(hashtag(&key), naive::hashtag(&key));
        prop_assert_eq!(slot(&key), naive::slot(&key));
    }

    #[test]
    fn a_braced_name_gives_all_keys_of_a_queue_one_slot(
        name in name(),
        kinds in vec(bracy(20), 1..10),
        payload in 0..=snowflake::MAX,
    ) {
        let name = queue(&name);
        let id = BrandedId::new(Namespace::new(b"JOB").unwrap(), payload).unwrap();
        let mut keys: Vec<_> = kinds.iter().filter_map(|kind| Key::queue(name, kind).ok()).collect();
        keys.push(Key::job(name, id));
        let set = SlotSet::of(keys.iter().map(Key::to_vec));
        prop_assert_eq!(set.verdict(), Ok(Some(name.slot())));
    }

    #[test]
    fn keys_are_read_back_as_they_were_built(
        name in name(),
        kind in bracy(20),
        payload in 0..=snowflake::MAX,
    ) {
        let name = queue(&name);
        let id = BrandedId::new(Namespace::new(b"JOB").unwrap(), payload).unwrap();
        let mut keys = vec![Key::job(name, id), Key::reserve(&kind)];
        keys.extend(Key::queue(name, &kind));
        for key in keys {
            let built = key.to_vec();
            prop_assert_eq!(built.len(), key.size());
            prop_assert_eq!(Key::parse(&built), Some(key));
        }
    }

    #[test]
    fn what_is_read_is_built_again(rest in bracy(40), start in select(vec!["emq:{q", "{emq}", ""])) {
        let key = [start.as_bytes(), &rest].concat();
        if let Some(parsed) = Key::parse(&key) {
            prop_assert_eq!(parsed.to_vec(), key);
        }
    }
}
