//! `EchoData.Buckets`: entries that expire with their stretch of time, behind a reference or under a name.

use echo_data_core::id::snowflake;
use echo_data_core::{BucketWidth, Buckets, BucketsView, Held};
use rustler::{Atom, Encoder, Env, Error, NifResult, Term};

use crate::batch::SMALL;
use crate::bounds::{any_key, END};
use crate::handle::{self, Access, Handle};
use crate::hot::hot_nif;
use crate::keyed::{done, keyed, keyed_nifs, All};
use crate::kind::kind;
use crate::moment::Moment;
use crate::refusal::{answer, Refusal};
use crate::rows::{self, Listing, Order};
use crate::store::store_nifs;
use crate::term::{self, Value};
use crate::timeslice::Timeslice;
use crate::{atoms, error};

/// Buckets between two looks at the clock: each is two descents.
const STRIDE: usize = 32;

/// The kind of stores of values under ids of any namespace, in buckets of time.
#[derive(Clone, Copy)]
pub(crate) struct Bucketed;

type Found<'a> = handle::Found<'a, Bucketed>;

kind!(
    Bucketed, "a bucket store", c"echo_data_buckets",
    rule: BucketWidth, store: Buckets<Value>, held: Held<Value>, view: BucketsView<Value>,
    new: |width| Buckets::of_width(*width)
);

keyed!(
    Bucketed, c"echo_data_bucketed_pairs",
    key: |_: &BucketWidth, id| any_key(id),
    id: |env, _: &BucketWidth, key: u64| key.encode(env),
    small: SMALL, reports: false, told: done
);

store_nifs!("buckets", Bucketed);
keyed_nifs!("buckets", Bucketed);
hot_nif!("buckets_expire", 2, expire);
hot_nif!("buckets_ends", 1, ends);

/// A new store of the calling process.
#[rustler::nif(name = "buckets_new")]
fn new(env: Env<'_>, bits: u32, access: Access) -> NifResult<Term<'_>> {
    let handle = Handle::<Bucketed>::open(env, width(bits)?, access);
    answer(env, handle.map(|handle| handle.encode(env)))
}

/// A new store of the calling process, known by its pid and, unless it is `nil`, by `name`.
#[rustler::nif(name = "buckets_new_named")]
fn new_named(env: Env<'_>, bits: u32, name: Atom) -> NifResult<Term<'_>> {
    let handle = Handle::<Bucketed>::open_named(env, width(bits)?, name);
    answer(env, handle.map(|handle| handle.encode(env)))
}

fn width(bits: u32) -> NifResult<BucketWidth> {
    BucketWidth::from_bits(bits).map_err(|refused| error::argument(refused.to_string()))
}

/// The width of the store's buckets, as the bits of a timestamp.
#[rustler::nif(name = "buckets_bits")]
fn bits<'a>(env: Env<'a>, store: Term<'a>) -> NifResult<Term<'a>> {
    let bits = |found: Found| Ok(found.rule().bits().encode(env));
    answer(env, handle::with(store, bits))
}

/// The number of entries that were in buckets before the one of an instant, in milliseconds since 1970.
fn expire<'a>(env: Env<'a>, [store, unix_ms]: [Term<'a>; 2]) -> NifResult<Term<'a>> {
    let unix_ms = unix_ms.decode()?;
    let expire = |found: Found| {
        let expired = found.write(env, |store| store.expire_older_than(unix_ms))?;
        Ok(expired.encode(env))
    };
    answer(env, handle::with(store, expire))
}

/// `{oldest, newest}` of the buckets that have entries, or `nil`.
fn ends<'a>(env: Env<'a>, [store]: [Term<'a>; 1]) -> NifResult<Term<'a>> {
    let ends = |found: Found| {
        found.read(env, |view| {
            let ends = view.oldest_bucket().zip(view.newest_bucket());
            Ok(ends.encode(env))
        })
    };
    answer(env, handle::with(store, ends))
}

/// `{:ok, entries}` of a bucket, oldest first, or `{:more, continuation}` for `buckets_more`.
#[rustler::nif(name = "buckets_entries")]
fn entries<'a>(env: Env<'a>, store: Term<'a>, bucket: Term<'a>) -> NifResult<Term<'a>> {
    let listing = Listing {
        order: Order::Asc,
        limit: usize::MAX,
        values: true,
    };
    let entries = |found: Found| {
        let ids = bucket.decode().ok().and_then(|n| found.rule().ids(n));
        let keys = ids.map_or(END..END, |ids| {
            *ids.start()..(*ids.end()).min(snowflake::MAX) + 1
        });
        rows::list(env, found, All::rows(), listing, |_| keys.clone())
    };
    answer(env, handle::with(store, entries))
}

/// `{:ok, [{bucket, count}]}`, oldest first, or `{:ok, number}` of buckets, or `{:more, continuation}` for
/// `buckets_walk_more`.
#[rustler::nif(name = "buckets_walk")]
fn walk<'a>(env: Env<'a>, store: Term<'a>, counts: bool) -> NifResult<Term<'a>> {
    let walk = |found: Found| {
        let walk = Walk {
            moment: Moment::of(env, found)?,
            before: u64::MAX,
            seen: match counts {
                true => Seen::Counts(rows::nil(env)),
                false => Seen::Number(0),
            },
        };
        walk.step(env)
    };
    answer(env, handle::with(store, walk))
}

/// As `buckets_walk`.
#[rustler::nif(name = "buckets_walk_more")]
fn walk_more<'a>(env: Env<'a>, continuation: Term<'a>) -> NifResult<Term<'a>> {
    let walk = Walk::decode(continuation).ok_or(Error::BadArg)?;
    answer(env, walk.step(env))
}

/// A walk over the buckets of one moment, from the newest, so that a list of them is made from its end.
struct Walk<'a> {
    moment: Moment<Bucketed>,
    /// Buckets from this one on were seen.
    before: u64,
    seen: Seen<'a>,
}

/// What is to be told of buckets, as far as they were seen.
enum Seen<'a> {
    Number(u64),
    Counts(Term<'a>),
}

impl<'a> Walk<'a> {
    fn decode(continuation: Term<'a>) -> Option<Self> {
        let (moment, before, seen): (_, _, Term<'a>) = continuation.decode().ok()?;
        let moment = Moment::from_term(moment)?;
        let seen = seen.decode().map_or(Seen::Counts(seen), Seen::Number);
        Some(Self {
            moment,
            before,
            seen,
        })
    }

    /// Walks on until the oldest bucket, or until the time ends.
    fn step(mut self, env: Env<'a>) -> Result<Term<'a>, Refusal> {
        let timeslice = Timeslice::begin();
        let done = self.moment.read(env, |view| {
            let buckets = view.buckets_before(self.before).rev();
            for (walked, (bucket, count)) in buckets.enumerate() {
                self.seen.add(env, bucket, count);
                self.before = bucket;
                if walked % STRIDE == STRIDE - 1 && timeslice.is_spent() {
                    return Ok(false);
                }
            }
            Ok(true)
        });
        timeslice.end(env);
        if !matches!(done, Ok(false)) {
            self.moment.end();
        }
        let seen = self.seen.encode(env);
        Ok(match done? {
            true => term::pair(env, atoms::ok().to_term(env), seen),
            false => (atoms::more(), (&self.moment, self.before, seen)).encode(env),
        })
    }
}

impl<'a> Seen<'a> {
    fn add(&mut self, env: Env<'a>, bucket: u64, count: usize) {
        match self {
            Self::Number(number) => *number += 1,
            Self::Counts(list) => *list = term::cell(env, (bucket, count).encode(env), *list),
        }
    }

    fn encode(&self, env: Env<'a>) -> Term<'a> {
        match self {
            Self::Number(number) => number.encode(env),
            Self::Counts(list) => *list,
        }
    }
}
