//! What stores of values under single ids have in common: NIFs that are registered once for each kind of
//! them, by `keyed_nifs!`.
//!
//! Every function takes the store as a reference, or as the name or pid of its process, and answers
//! `:closed` when there is no such store.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::ops::Range;

use echo_data_core::id::GateError;
use echo_data_core::{BlobRef, Rows};
use rustler::{Env, Term};

use crate::batch::{self, Batch, Row};
use crate::bounds::END;
use crate::handle::{self, Found, Handle};
use crate::kind::Kind;
use crate::refusal::Refusal;
use crate::resource::{self, Type};
use crate::rows::{self, Listing, Order, Table, ViewOf};
use crate::store::found_or_not;
use crate::term::{self, Shared, Value};
use crate::timeslice::Timeslice;
use crate::{
    atoms,
    lookup::{self, Wanted},
};

/// A kind of store that has one index, of values.
pub(crate) trait Keyed: Kind + Copy {
    /// The name of the type that batches of rows have in the VM.
    const PAIRS: &'static CStr;

    /// Where that type is kept.
    fn kept_pairs() -> &'static Type<Batch<Pair<Self>>>;

    /// Rows that are published where they were read.
    const SMALL: usize;

    /// Whether a change of one row takes so long that it is reported.
    const REPORTS: bool;

    /// The key of an id.
    fn key(rule: &Self::Rule, id: Term<'_>) -> Result<u64, GateError>;

    /// How a key is told to the caller.
    fn id<'a>(env: Env<'a>, rule: &Self::Rule, key: u64) -> Term<'a>;

    fn get<'v>(view: &'v Self::View<'_>, key: u64) -> Option<BlobRef<'v, Shared>>;
    fn get_many<'v>(
        view: &'v Self::View<'_>,
        keys: &[u64],
        found: impl FnMut(usize, Option<BlobRef<'v, Shared>>),
    );
    fn select<'v>(view: &'v Self::View<'_>, position: usize) -> Option<(u64, BlobRef<'v, Shared>)>;
    fn range<'v>(view: &'v Self::View<'_>, keys: Range<u64>) -> Rows<'v, Value>;
    fn count(view: &Self::View<'_>, keys: Range<u64>) -> usize;

    /// Puts a value; `:ok`, or why it was refused.
    fn put<'a>(env: Env<'a>, store: &Self::Store, key: u64, value: Value) -> Term<'a>;
    /// As `put`, of all rows or none.
    fn put_all<'a>(
        env: Env<'a>,
        store: &Self::Store,
        rows: impl Iterator<Item = (u64, Value)>,
    ) -> Term<'a>;
    fn remove(store: &Self::Store, key: u64) -> bool;
    fn take<T>(
        store: &Self::Store,
        key: u64,
        read: impl FnOnce(BlobRef<'_, Shared>) -> T,
    ) -> Option<T>;
}

/// Implements [`Keyed`] by the methods that the stores of the core have. `told` makes the answer of what a
/// put answers.
macro_rules! keyed {
    (
        $kind:ident, $pairs:literal,
        key: $key:expr, id: $id:expr, small: $small:expr, reports: $reports:expr, told: $told:path
    ) => {
        impl $crate::keyed::Keyed for $kind {
            const PAIRS: &'static std::ffi::CStr = $pairs;

            fn kept_pairs(
            ) -> &'static $crate::resource::Type<$crate::batch::Batch<$crate::keyed::Pair<Self>>>
            {
                static TYPE: $crate::resource::Type<
                    $crate::batch::Batch<$crate::keyed::Pair<$kind>>,
                > = $crate::resource::Type::new();
                &TYPE
            }

            const SMALL: usize = $small;
            const REPORTS: bool = $reports;

            #[inline]
            fn key(
                rule: &Self::Rule,
                id: rustler::Term<'_>,
            ) -> Result<u64, echo_data_core::id::GateError> {
                $key(rule, id)
            }

            #[inline]
            fn id<'a>(env: rustler::Env<'a>, rule: &Self::Rule, key: u64) -> rustler::Term<'a> {
                $id(env, rule, key)
            }

            #[inline]
            fn get<'v>(
                view: &'v Self::View<'_>,
                key: u64,
            ) -> Option<echo_data_core::BlobRef<'v, $crate::term::Shared>> {
                view.get(key)
            }

            #[inline]
            fn get_many<'v>(
                view: &'v Self::View<'_>,
                keys: &[u64],
                found: impl FnMut(usize, Option<echo_data_core::BlobRef<'v, $crate::term::Shared>>),
            ) {
                view.get_many(keys, found);
            }

            fn select<'v>(
                view: &'v Self::View<'_>,
                position: usize,
            ) -> Option<(u64, echo_data_core::BlobRef<'v, $crate::term::Shared>)> {
                view.select(position)
            }

            #[inline]
            fn range<'v>(
                view: &'v Self::View<'_>,
                keys: std::ops::Range<u64>,
            ) -> echo_data_core::Rows<'v, $crate::term::Value> {
                view.range(keys)
            }

            #[inline]
            fn count(view: &Self::View<'_>, keys: std::ops::Range<u64>) -> usize {
                view.positions(keys).len()
            }

            #[inline]
            fn put<'a>(
                env: rustler::Env<'a>,
                store: &Self::Store,
                key: u64,
                value: $crate::term::Value,
            ) -> rustler::Term<'a> {
                $told(env, store.put(key, value))
            }

            fn put_all<'a>(
                env: rustler::Env<'a>,
                store: &Self::Store,
                rows: impl Iterator<Item = (u64, $crate::term::Value)>,
            ) -> rustler::Term<'a> {
                $told(env, store.put_all(rows))
            }

            fn remove(store: &Self::Store, key: u64) -> bool {
                store.remove(key)
            }

            fn take<T>(
                store: &Self::Store,
                key: u64,
                read: impl FnOnce(echo_data_core::BlobRef<'_, $crate::term::Shared>) -> T,
            ) -> Option<T> {
                store.take(key, read)
            }
        }
    };
}

pub(crate) use keyed;

/// The answer of a put that is never refused.
#[inline]
pub(crate) fn done<T>(env: Env<'_>, _put: T) -> Term<'_> {
    atoms::ok().to_term(env)
}

/// Registers these NIFs for a kind, or for two that have the same functions, under names that begin with
/// `$prefix`.
macro_rules! keyed_nifs {
    ($prefix:literal, $($kind:ident),+) => {
        $crate::keyed::keyed_nifs! {
            $prefix, [$($kind),+],
            "_put" 3 put Normal,
            "_get" 2 get Normal,
            "_delete" 2 delete Normal,
            "_take" 2 take Normal,
            "_get_many" 2 get_many Normal,
            "_get_more" 1 get_more Normal,
            "_put_many" 2 put_many Normal,
            "_put_more" 2 put_more Normal,
            "_put_staged" 2 put_staged DirtyCpu,
            "_slice" 4 slice Normal,
            "_more" 1 more Normal,
        }
    };
    (
        $prefix:literal, $kinds:tt,
        $($name:literal $arity:literal $function:ident $schedulers:ident,)+
    ) => {
        $($crate::handle::nif_of_kinds!(
            concat!($prefix, $name), $arity, [$crate::keyed::$function], $schedulers, $kinds
        );)+
    };
}

pub(crate) use keyed_nifs;

impl<K: Keyed> Handle<K> {
    /// The key of an id of this store.
    #[inline]
    pub(crate) fn key(&self, id: Term<'_>) -> Result<u64, GateError> {
        K::key(self.rule(), id)
    }
}

/// All rows of a store.
#[derive(Clone, Copy)]
pub(crate) struct All<K>(PhantomData<K>);

impl<K> All<K> {
    pub(crate) fn rows() -> Self {
        Self(PhantomData)
    }
}

impl<K: Keyed> Table for All<K> {
    type Kind = K;
    type Value<'v> = BlobRef<'v, Shared>;
    type Rows<'v> = Rows<'v, Value>;

    #[inline]
    fn rows<'v>(self, view: &'v ViewOf<'_, Self>, keys: Range<u64>) -> Rows<'v, Value> {
        K::range(view, keys)
    }

    #[inline]
    fn id<'a>(env: Env<'a>, rule: &K::Rule, key: u64) -> Term<'a> {
        K::id(env, rule, key)
    }

    #[inline]
    fn decode<'a>(env: Env<'a>, value: Self::Value<'_>) -> Term<'a> {
        term::decode(env, value)
    }

    fn number(self) -> u64 {
        0
    }

    fn numbered(_number: u64) -> Self {
        Self::rows()
    }
}

/// Rows, `{id, value}`, of those that are there.
impl<'a, K: Keyed> Wanted<'a> for All<K> {
    type Kind = K;

    fn key(handle: &Handle<K>, id: Term<'_>) -> Result<u64, GateError> {
        handle.key(id)
    }

    fn add(
        &self,
        env: Env<'a>,
        view: &K::View<'_>,
        ids: &[Term<'a>],
        keys: &[u64],
        mut list: Term<'a>,
    ) -> Term<'a> {
        K::get_many(view, keys, |at, value| {
            if let Some(value) = value {
                let row = term::pair(env, ids[at], term::decode(env, value));
                list = term::cell(env, row, list);
            }
        });
        list
    }

    fn term(&self, env: Env<'a>) -> Term<'a> {
        rows::nil(env)
    }

    fn from_term(_term: Term<'a>) -> Result<Self, Refusal> {
        Ok(Self::rows())
    }
}

/// A value under its key, to be put.
pub(crate) struct Pair<K> {
    key: u64,
    value: Value,
    of: PhantomData<fn() -> K>,
}

impl<K: Keyed> Row for Pair<K> {
    type Kind = K;
    const NAME: &'static CStr = K::PAIRS;
    const LIST: &'static str = "rows must be a list of {id, value}";

    fn kept() -> &'static Type<Batch<Self>> {
        K::kept_pairs()
    }

    const SMALL: usize = K::SMALL;

    fn read(handle: &Handle<K>, row: Term<'_>) -> Option<Result<Self, Refusal>> {
        let (id, value) = row.decode::<(Term, Term)>().ok()?;
        let read = || {
            Ok(Self {
                key: handle.key(id)?,
                value: term::encode(value)?,
                of: PhantomData,
            })
        };
        Some(read())
    }
}

/// Opens the types of a kind and its batches; answers whether the VM did so.
pub(crate) fn open_types<K: Keyed>(env: Env<'_>) -> bool {
    resource::open::<Handle<K>>(env) && resource::open::<Batch<Pair<K>>>(env)
}

/// Puts rows in one publication.
fn put_all<'a, K: Keyed>(env: Env<'a>) -> impl FnOnce(&K::Store, Vec<Pair<K>>) -> Term<'a> {
    move |store, rows| {
        let rows = rows.into_iter().map(|Pair { key, value, .. }| (key, value));
        K::put_all(env, store, rows)
    }
}

/// Changes one row.
#[inline]
fn change<K: Keyed, T>(
    env: Env<'_>,
    found: &Found<'_, K>,
    change: impl FnOnce(&K::Store) -> T,
) -> Result<T, Refusal> {
    let timeslice = K::REPORTS.then(Timeslice::begin);
    let changed = found.write(env, change);
    if let Some(timeslice) = timeslice {
        timeslice.end(env);
    }
    changed
}

/// `:ok`, or why the store refuses the value.
pub(crate) fn put<'a, K: Keyed>(
    env: Env<'a>,
    [store, id, value]: [Term<'a>; 3],
) -> Result<Term<'a>, Refusal> {
    let put = |found: Found<K>| {
        let key = found.key(id)?;
        let value = term::encode(value)?;
        change(env, &found, |store| K::put(env, store, key, value))
    };
    handle::with(store, put)
}

/// `{:ok, value}` or `{:error, :not_found}`.
pub(crate) fn get<'a, K: Keyed>(
    env: Env<'a>,
    [store, id]: [Term<'a>; 2],
) -> Result<Term<'a>, Refusal> {
    let get = |found: Found<K>| {
        let key = found.key(id)?;
        found.read(env, |view| {
            let value = K::get(&view, key);
            Ok(found_or_not(
                env,
                value.map(|value| term::decode(env, value)),
            ))
        })
    };
    handle::with(store, get)
}

/// `:ok` or `{:error, :not_found}`.
pub(crate) fn delete<'a, K: Keyed>(
    env: Env<'a>,
    [store, id]: [Term<'a>; 2],
) -> Result<Term<'a>, Refusal> {
    let delete = |found: Found<K>| {
        let key = found.key(id)?;
        Ok(match change(env, &found, |store| K::remove(store, key))? {
            true => atoms::ok().to_term(env),
            false => found_or_not(env, None),
        })
    };
    handle::with(store, delete)
}

/// `{:ok, value}`, which is not there any more, or `{:error, :not_found}`.
pub(crate) fn take<'a, K: Keyed>(
    env: Env<'a>,
    [store, id]: [Term<'a>; 2],
) -> Result<Term<'a>, Refusal> {
    let take = |found: Found<K>| {
        let key = found.key(id)?;
        let taken = change(env, &found, |store| {
            K::take(store, key, |value| term::decode(env, value))
        })?;
        Ok(found_or_not(env, taken))
    };
    handle::with(store, take)
}

/// `{:ok, [{id, value}]}` for the ids that are there, in their order, or `{:more, continuation}` for
/// `get_more`.
pub(crate) fn get_many<'a, K: Keyed>(
    env: Env<'a>,
    [store, ids]: [Term<'a>; 2],
) -> Result<Term<'a>, Refusal> {
    let find = |found: Found<K>| lookup::find(env, found, ids, All::<K>::rows());
    handle::with(store, find)
}

/// As `get_many`.
pub(crate) fn get_more<'a, K: Keyed>(
    env: Env<'a>,
    [continuation]: [Term<'a>; 1],
) -> Result<Term<'a>, Refusal> {
    lookup::proceed::<All<K>>(env, continuation)
}

/// `:ok`, or `{:more, continuation}` for `put_more`, or `{:staged, batch}` for `put_staged`.
pub(crate) fn put_many<'a, K: Keyed>(
    env: Env<'a>,
    [store, rows]: [Term<'a>; 2],
) -> Result<Term<'a>, Refusal> {
    let begin = |found: Found<K>| batch::begin(env, &found, rows, 0, put_all::<K>(env));
    handle::with(store, begin)
}

/// As `put_many`.
pub(crate) fn put_more<'a, K: Keyed>(
    env: Env<'a>,
    [store, continuation]: [Term<'a>; 2],
) -> Result<Term<'a>, Refusal> {
    let proceed = |found: Found<K>| batch::proceed::<Pair<K>>(env, &found, continuation);
    handle::with(store, proceed)
}

/// `:ok`. Building nodes for many rows takes milliseconds.
pub(crate) fn put_staged<'a, K: Keyed>(
    env: Env<'a>,
    [store, batch]: [Term<'a>; 2],
) -> Result<Term<'a>, Refusal> {
    let publish = |found: Found<K>| batch::publish(env, &found, batch, put_all::<K>(env));
    handle::with(store, publish)
}

/// `{:ok, rows}` or `{:more, continuation}`: the rows at positions counted from the oldest, up to `count`
/// or `:all`.
pub(crate) fn slice<'a, K: Keyed>(
    env: Env<'a>,
    [store, first, count, values]: [Term<'a>; 4],
) -> Result<Term<'a>, Refusal> {
    let first = first.decode()?;
    let listing = Listing {
        order: Order::Asc,
        limit: count.decode().unwrap_or(usize::MAX),
        values: values.decode()?,
    };
    let slice = |found: Found<K>| {
        let find = |view: &K::View<'_>| match K::select(view, first) {
            Some((key, _)) => key..END,
            None => END..END,
        };
        rows::list(env, found, All::rows(), listing, find)
    };
    handle::with(store, slice)
}

/// As the function that answered `{:more, continuation}` of rows.
pub(crate) fn more<'a, K: Keyed>(
    env: Env<'a>,
    [continuation]: [Term<'a>; 1],
) -> Result<Term<'a>, Refusal> {
    rows::proceed::<All<K>>(env, continuation)
}
