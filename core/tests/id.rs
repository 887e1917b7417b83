//! Identity through its public doors: the contract's vectors, the edges, and a slow model of the text forms.

use std::collections::HashSet;
use std::thread;

use echo_data_core::id::snowflake::{self, EPOCH_MS, MAX, MAX_NODE, MAX_SEQUENCE, MAX_TIMESTAMP};
use echo_data_core::id::{base62, gate, hash32};
use echo_data_core::id::{BrandedId, GateError, Generator, InvalidId, MintError, Namespace};
use proptest::prelude::*;

const USR: Namespace = Namespace::new(b"USR").unwrap();
const ORD: Namespace = Namespace::new(b"ORD").unwrap();

/// Milliseconds since 1970 of the given timestamp.
fn at(timestamp: u64) -> i64 {
    (EPOCH_MS + timestamp) as i64
}

/// The text forms by their definition: one digit at a time, in numbers too wide to overflow.
mod naive {
    use super::{Namespace, MAX};

    const DIGITS: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    pub fn encode(mut n: u64, width: usize) -> Option<String> {
        if n > MAX {
            return None;
        }
        let mut reversed = Vec::new();
        while n > 0 || reversed.len() < width {
            reversed.push(DIGITS.as_bytes()[(n % 62) as usize] as char);
            n /= 62;
        }
        (reversed.len() == width).then(|| reversed.iter().rev().collect())
    }

    pub fn decode(text: &[u8]) -> Option<u64> {
        let mut sum = 0u128;
        for &byte in text {
            let digit = DIGITS.bytes().position(|known| known == byte)?;
            sum = sum.saturating_mul(62).saturating_add(digit as u128);
        }
        (!text.is_empty() && sum <= u128::from(MAX)).then_some(sum as u64)
    }

    pub fn parse(text: &[u8]) -> Option<(Namespace, u64)> {
        let capitals = text.iter().take(3).all(u8::is_ascii_uppercase);
        if text.len() != 14 || !capitals {
            return None;
        }
        Some((Namespace::new(&text[..3])?, decode(&text[3..])?))
    }
}

#[test]
fn the_contract_vectors_hold() {
    let user = BrandedId::new(USR, 274_557_032_793_636_864).unwrap();
    assert_eq!(&user.to_bytes(), b"USR0KHTOWnGLuC");
    assert_eq!(BrandedId::parse(b"USR0KHTOWnGLuC"), Ok(user));
    assert_eq!(user.hash32(), 234_878_118);
    assert_eq!(hash32(user.snowflake()), 234_878_118);

    for text in ["ORD0NgWEfAEJfs", "USR0NgWEfAEJfs"] {
        let id: BrandedId = text.parse().unwrap();
        assert_eq!(id.snowflake(), 320_636_799_581_945_856);
        assert_eq!(id.to_string(), text);
    }
    assert_eq!(base62::decode(b"zzzzzzzzzzz"), None);
    assert_eq!(base62::encode(0), Some(*b"00000000000"));
    assert_eq!(base62::encode(MAX), Some(*b"AzL8n0Y58m7"));
}

#[test]
fn base62_edges_round_trip_and_the_next_number_is_refused() {
    let edges = [
        0,
        61,
        62,
        62 * 62,
        62u64.pow(4) - 1,
        62u64.pow(4),
        62u64.pow(8) - 1,
        62u64.pow(8),
    ];
    let powers = [
        62u64.pow(10) - 1,
        62u64.pow(10),
        1 << 32,
        (1 << 53) + 1,
        MAX - 1,
        MAX,
    ];
    for n in edges.into_iter().chain(powers) {
        let text = base62::encode(n).unwrap();
        assert_eq!(naive::encode(n, 11).unwrap().as_bytes(), text);
        assert_eq!(base62::decode(&text), Some(n));
        assert_eq!(base62::decode_any_width(&text), Some(n));
    }
    for n in [MAX + 1, u64::MAX] {
        assert_eq!(base62::encode(n), None);
        assert_eq!(base62::encode_into(n, &mut [0; 20]), None);
        assert_eq!(BrandedId::new(USR, n), None);
    }
    for text in [
        b"AzL8n0Y58m8",
        b"B0000000000",
        b"LygHa16AHYF",
        b"LygHa16AHYG",
        b"zzzzzzzzzzz",
    ] {
        assert_eq!(base62::decode(text), None);
        assert_eq!(base62::decode_any_width(text), None);
    }
}

#[test]
fn every_foreign_byte_is_refused_at_every_place() {
    let id = *b"USR0KHTOWnGLuC";
    for place in 0..id.len() {
        for byte in 0..=u8::MAX {
            let mut text = id;
            text[place] = byte;
            let parsed = BrandedId::parse(&text).map(|id| (id.namespace(), id.snowflake()));
            assert_eq!(parsed.ok(), naive::parse(&text), "{byte:#x} at {place}");
        }
    }
}

#[test]
fn branded_ids_of_another_length_or_case_are_refused() {
    let texts: [&[u8]; 9] = [
        b"",
        b"USR",
        b"USR0KHTOWnGLu",
        b"USR0KHTOWnGLuC0",
        b"usr0KHTOWnGLuC",
        b"UsR0KHTOWnGLuC",
        b"12345678901234",
        b"my-slug-is-14b",
        b"USRzzzzzzzzzzz",
    ];
    for text in texts {
        assert_eq!(BrandedId::parse(text), Err(InvalidId));
        assert_eq!(gate(text, USR), Err(GateError::Invalid));
    }
    for text in [&b""[..], b"US", b"USRX", b"usr", b"US1", b"US@", b"US["] {
        assert_eq!(Namespace::new(text), None);
        assert!(Namespace::try_from(text).is_err());
    }
    assert_eq!("ORD".parse(), Ok(ORD));
}

#[test]
fn the_gate_names_both_namespaces() {
    assert_eq!(gate(b"ORD0NgWEfAEJfs", ORD), Ok(320_636_799_581_945_856));
    let refusal = gate(b"USR0NgWEfAEJfs", ORD).unwrap_err();
    assert_eq!(
        refusal,
        GateError::Namespace {
            expected: ORD,
            got: USR
        }
    );
    assert_eq!(refusal.to_string(), "expected namespace ORD, got USR");
    assert_eq!(GateError::Invalid.to_string(), "invalid branded id");
}

#[test]
fn synthetic_cursors_bound_their_millisecond() {
    assert_eq!(snowflake::min_for(i64::MIN), 0);
    assert_eq!(snowflake::min_for(-1), 0);
    assert_eq!(snowflake::min_for(at(0)), 0);
    assert_eq!(snowflake::min_for(at(1)), 1 << 22);
    assert_eq!(snowflake::min_for(at(MAX_TIMESTAMP)), MAX_TIMESTAMP << 22);
    assert_eq!(snowflake::min_for(at(MAX_TIMESTAMP + 1)), MAX);
    assert_eq!(snowflake::min_for(i64::MAX), MAX);

    assert_eq!(snowflake::begin_of(i64::MIN), 0);
    assert_eq!(snowflake::begin_of(at(1)), 1 << 22);
    assert_eq!(snowflake::begin_of(at(MAX_TIMESTAMP)), MAX_TIMESTAMP << 22);
    assert_eq!(snowflake::begin_of(at(MAX_TIMESTAMP + 1)), MAX + 1);
    assert_eq!(snowflake::begin_of(i64::MAX), MAX + 1);
    assert_eq!(
        snowflake::compose(MAX_TIMESTAMP, MAX_NODE, MAX_SEQUENCE),
        MAX
    );
}

#[test]
fn a_clock_that_steps_back_keeps_minting_upwards() {
    let ids = Generator::new();
    let minted: Vec<u64> = [5, 4, 5, 0]
        .into_iter()
        .map(|t| ids.next_at(3, at(t)))
        .collect();
    let expected: Vec<u64> = (0..4)
        .map(|sequence| snowflake::compose(5, 3, sequence))
        .collect();
    assert_eq!(minted, expected);
    assert_eq!(ids.next_at(3, at(6)), snowflake::compose(6, 3, 0));
    assert_eq!(ids.next_at(3, i64::MIN), snowflake::compose(6, 3, 1));
}

#[test]
fn the_4097th_id_of_a_millisecond_borrows_from_the_next() {
    let ids = Generator::new();
    for sequence in 0..=MAX_SEQUENCE {
        assert_eq!(ids.next_at(0, at(9)), snowflake::compose(9, 0, sequence));
    }
    assert_eq!(ids.next_at(0, at(9)), snowflake::compose(10, 0, 0));
    assert_eq!(ids.next_at(0, at(10)), snowflake::compose(10, 0, 1));
}

#[test]
fn ids_stay_unique_when_nodes_share_a_generator() {
    let ids = Generator::new();
    let minted: HashSet<u64> = (0..10_000).map(|n| ids.next_at(n % 1024, at(1))).collect();
    assert_eq!(minted.len(), 10_000);
}

#[test]
fn the_range_runs_out_without_wrapping_and_a_wild_clock_spends_nothing() {
    let ids = Generator::new();
    assert_eq!(
        ids.try_next_at(0, at(MAX_TIMESTAMP + 1)),
        Err(MintError::Exhausted)
    );
    assert_eq!(ids.try_next_at(0, i64::MAX), Err(MintError::Exhausted));
    assert_eq!(ids.try_next_at(1024, at(7)), Err(MintError::Node(1024)));
    assert_eq!(ids.next_at(0, at(7)), snowflake::compose(7, 0, 0));

    for sequence in 0..=MAX_SEQUENCE {
        let id = ids.next_at(MAX_NODE, at(MAX_TIMESTAMP));
        assert_eq!(id, snowflake::compose(MAX_TIMESTAMP, MAX_NODE, sequence));
    }
    for timestamp in [MAX_TIMESTAMP, 7] {
        assert_eq!(ids.try_next_at(0, at(timestamp)), Err(MintError::Exhausted));
    }
}

#[test]
#[should_panic(expected = "node 1024 is out of range")]
fn next_panics_on_a_node_out_of_range() {
    Generator::new().next(MAX_NODE + 1);
}

#[test]
fn the_system_clock_is_the_clock_of_next() {
    let ids = Generator::new();
    let (before, after) = (snowflake::unix_ms(Generator::new().next(1)), ids.next(1));
    assert!(snowflake::unix_ms(after) >= before);
    assert_eq!(snowflake::node(after), 1);
}

#[test]
fn threads_share_a_generator_without_duplicates_and_each_sees_increase() {
    const THREADS: u16 = 4;
    const EACH: usize = 20_000;
    let ids = Generator::new();
    let mint = |thread: u16| -> Vec<u64> {
        // Clocks that disagree by a millisecond and jitter backwards.
        let clock =
            |n: usize| at(1_000 + (n as u64 / 512) + u64::from(thread % 2) - (n as u64 % 3));
        (0..EACH).map(|n| ids.next_at(0, clock(n))).collect()
    };
    let lists: Vec<Vec<u64>> = thread::scope(|scope| {
        let minters: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || mint(thread)))
            .collect();
        minters
            .into_iter()
            .map(|minter| minter.join().unwrap())
            .collect()
    });

    assert!(lists.iter().all(|list| list.is_sorted_by(|a, b| a < b)));
    let distinct: HashSet<u64> = lists.into_iter().flatten().collect();
    assert_eq!(distinct.len(), EACH * usize::from(THREADS));
}

/// Numbers of every magnitude, so that short and long texts are equally likely, refused ones included.
fn numbers() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64u32).prop_map(|(n, shift)| n >> shift)
}

fn ids() -> impl Strategy<Value = u64> {
    numbers().prop_map(|n| n & MAX)
}

/// Arbitrary bytes, and near misses: an alphabet of mostly digits, widths around the right ones.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..24),
        "[0-9A-Za-z]{11}".prop_map(String::into_bytes),
        "[0-9AB][0-9A-Za-z]{10}".prop_map(String::into_bytes),
        "0{0,12}[0-9A-Za-z]{0,12}".prop_map(String::into_bytes),
        "[A-Z]{3}[0-9A][0-9A-Za-z]{10}".prop_map(String::into_bytes),
        "[A-Za-z]{3}[0-9A-Ba-b][0-9A-Za-z@\\[`{/:]{9,11}".prop_map(String::into_bytes),
    ]
}

fn namespaces() -> impl Strategy<Value = Namespace> {
    "[A-Z]{3}".prop_map(|text| text.parse().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn decoding_agrees_with_the_model(text in texts()) {
        let fixed = naive::decode(&text).filter(|_| text.len() == 11);
        prop_assert_eq!(base62::decode(&text), fixed);
        prop_assert_eq!(base62::decode_any_width(&text), naive::decode(&text));
        let parsed = BrandedId::parse(&text).map(|id| (id.namespace(), id.snowflake()));
        prop_assert_eq!(parsed.ok(), naive::parse(&text));
    }

    #[test]
    fn encoding_agrees_with_the_model(n in numbers(), width in 0..24usize) {
        let fixed = base62::encode(n).map(|text| text.to_vec());
        prop_assert_eq!(fixed, naive::encode(n, 11).map(String::into_bytes));

        let mut out = vec![b'#'; width];
        let filled = base62::encode_into(n, &mut out);
        match naive::encode(n, width).filter(|_| width > 0) {
            Some(text) => {
                prop_assert_eq!(filled, Some(()));
                prop_assert_eq!(&out, text.as_bytes());
                prop_assert_eq!(base62::decode_any_width(&out), Some(n));
                prop_assert!(base62::digits(n) <= width);
            }
            None => {
                prop_assert_eq!(filled, None);
                prop_assert!(out.iter().all(|&byte| byte == b'#'));
            }
        }
    }

    #[test]
    fn branded_ids_round_trip(namespace in namespaces(), n in ids()) {
        let id = BrandedId::new(namespace, n).unwrap();
        prop_assert_eq!(BrandedId::parse(&id.to_bytes()), Ok(id));
        prop_assert_eq!(id.to_string().parse::<BrandedId>(), Ok(id));
        prop_assert_eq!(gate(&id.to_bytes(), namespace), Ok(n));
    }

    #[test]
    fn byte_order_is_numeric_order(a in ids(), b in ids(), left in namespaces(), right in namespaces()) {
        prop_assert_eq!(base62::encode(a).cmp(&base62::encode(b)), a.cmp(&b));
        let (a, b) = (BrandedId::new(left, a).unwrap(), BrandedId::new(right, b).unwrap());
        prop_assert_eq!(a.to_bytes().cmp(&b.to_bytes()), a.cmp(&b));
    }

    #[test]
    fn fields_and_numbers_are_two_views_of_one_id(n in ids()) {
        let (timestamp, node, sequence) =
            (snowflake::timestamp(n), snowflake::node(n), snowflake::sequence(n));
        prop_assert_eq!(snowflake::compose(timestamp, node, sequence), n);
        prop_assert_eq!(snowflake::unix_ms(n), timestamp + EPOCH_MS);
        prop_assert!(snowflake::min_for(at(timestamp)) <= n);
        prop_assert!(timestamp == MAX_TIMESTAMP || n < snowflake::min_for(at(timestamp + 1)));
    }

    #[test]
    fn a_mint_is_the_greater_of_the_clock_and_the_last_plus_one(
        clocks in prop::collection::vec(0..4u64, 1..200),
    ) {
        let ids = Generator::new();
        let mut last = 0;
        for clock in clocks {
            last = (clock << 12).max(last + 1);
            let expected = snowflake::compose(last >> 12, 1, last as u16 & MAX_SEQUENCE);
            prop_assert_eq!(ids.next_at(1, at(clock)), expected);
        }
    }
}
