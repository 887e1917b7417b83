//! What an id costs at the boundary: decode, encode, gate, mint. Inputs are ids spread over the whole range,
//! a thousand at a time, so that no branch predictor learns one id by heart.

use std::hint::black_box;

use criterion::{criterion_group, criterion_main, BatchSize, Criterion, Throughput};
use echo_data_core::id::{base62, gate, hash32, snowflake, BrandedId, Generator, Namespace};

const COUNT: u64 = 1024;
const USR: Namespace = Namespace::new(b"USR").unwrap();

fn numbers() -> Vec<u64> {
    (1..=COUNT)
        .map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) & snowflake::MAX)
        .collect()
}

fn text_forms(c: &mut Criterion) {
    let numbers = numbers();
    let ids: Vec<BrandedId> = numbers
        .iter()
        .filter_map(|&n| BrandedId::new(USR, n))
        .collect();
    let texts: Vec<[u8; 14]> = ids.iter().map(|id| id.to_bytes()).collect();
    let mut group = c.benchmark_group("id");
    group.throughput(Throughput::Elements(COUNT));

    group.bench_function("branded/parse", |b| {
        b.iter(|| each(&texts, |text| BrandedId::parse(text)))
    });
    group.bench_function("branded/gate", |b| {
        b.iter(|| each(&texts, |text| gate(text, USR)))
    });
    group.bench_function("branded/to_bytes", |b| {
        b.iter(|| each(&ids, |id| id.to_bytes()))
    });
    group.bench_function("base62/decode", |b| {
        b.iter(|| each(&texts, |text| base62::decode(&text[3..])))
    });
    group.bench_function("base62/encode", |b| {
        b.iter(|| each(&numbers, |&n| base62::encode(n)))
    });
    group.bench_function("hash32", |b| b.iter(|| each(&numbers, |&n| hash32(n))));
    group.finish();
}

/// The groups above show throughput: neighbouring calls overlap. Here each call waits for the one before.
fn latency(c: &mut Criterion) {
    c.bench_function("id/branded/parse_then_to_bytes", |b| {
        let mut text = *b"USR0KHTOWnGLuC";
        b.iter(|| {
            if let Ok(id) = BrandedId::parse(black_box(&text)) {
                text = id.to_bytes();
            }
        })
    });
}

/// The input is hidden from the optimiser and every result is kept: no call is hoisted or vectorised away.
fn each<T, R>(items: &[T], call: impl Fn(&T) -> R) {
    for item in items {
        black_box(call(black_box(item)));
    }
}

fn minting(c: &mut Criterion) {
    let mut group = c.benchmark_group("id/mint");
    group.bench_function("given_clock", |b| {
        let ids = Generator::new();
        b.iter(|| ids.next_at(black_box(1), black_box(1_769_526_512_000)))
    });
    group.bench_function("system_clock", |b| {
        b.iter_batched_ref(
            Generator::new,
            |ids| ids.next(black_box(1)),
            BatchSize::NumIterations(1024),
        )
    });
    group.finish();
}

criterion_group!(benches, text_forms, latency, minting);
criterion_main!(benches);
