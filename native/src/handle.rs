//! Handles: references of the VM to a store of any kind, or to one moment of it.

use std::ffi::CStr;

use echo_data_core::{Closable, Gauge, Info, Open};
use rustler::types::atom::{self, Atom};
use rustler::{Encoder, Env, LocalPid, NifUnitEnum, Term, TermType};

use crate::kind::Kind;
use crate::refusal::Refusal;
use crate::resource::{self, Borrow, Object, Ref, Type};
use crate::{registry, term};

/// Who may do what with a store, as with ETS tables.
#[derive(Clone, Copy, PartialEq, Eq, NifUnitEnum)]
pub(crate) enum Access {
    /// Everybody reads and writes.
    Public,
    /// Everybody reads, the owner writes.
    Protected,
    /// The owner reads and writes.
    Private,
}

/// A store with its owner, or one moment of such a store.
pub(crate) struct Handle<K: Kind> {
    source: Source<K>,
}

enum Source<K: Kind> {
    Live(Live<K>),
    Moment {
        of: Ref<Handle<K>>,
        held: Closable<K::Held>,
    },
}

/// A store that closes when its owner dies.
struct Live<K: Kind> {
    store: Closable<K::Store>,
    rule: K::Rule,
    gauge: Gauge,
    owner: LocalPid,
    access: Access,
    /// The words under which the registry knows it: first the owner's.
    words: Vec<u64>,
    owner_word: u64,
}

impl<K: Kind> Object for Handle<K> {
    const NAME: &'static CStr = K::NAME;

    #[inline]
    fn kept() -> &'static Type<Self> {
        K::kept()
    }

    /// Runs when the owner has ended.
    fn down(&self) {
        self.close();
    }
}

impl<K: Kind> Handle<K> {
    /// A new store that belongs to the calling process.
    pub(crate) fn open(env: Env<'_>, rule: K::Rule, access: Access) -> Result<Ref<Self>, Refusal> {
        let store = K::new_store(&rule);
        Self::open_as(env, store, rule, access, Vec::new())
    }

    /// A new public store that belongs to the calling process, and is known by its pid and, unless it is
    /// `nil`, by `name`.
    pub(crate) fn open_named(
        env: Env<'_>,
        rule: K::Rule,
        name: Atom,
    ) -> Result<Ref<Self>, Refusal> {
        let store = K::new_store(&rule);
        Self::open_store_named(env, store, rule, name)
    }

    /// As [`open_named`](Self::open_named), with a store that was made already.
    pub(crate) fn open_store_named(
        env: Env<'_>,
        store: K::Store,
        rule: K::Rule,
        name: Atom,
    ) -> Result<Ref<Self>, Refusal> {
        let mut words = vec![word_of(env, env.pid())];
        if name != atom::nil() {
            words.push(term::word(name.as_c_arg()));
        }
        Self::open_as(env, store, rule, Access::Public, words)
    }

    fn open_as(
        env: Env<'_>,
        store: K::Store,
        rule: K::Rule,
        access: Access,
        words: Vec<u64>,
    ) -> Result<Ref<Self>, Refusal> {
        let owner = env.pid();
        let live = Live {
            gauge: K::gauge(&store),
            store: Closable::new(store),
            rule,
            owner,
            owner_word: word_of(env, owner),
            access,
            words,
        };
        let source = Source::Live(live);
        let handle = Ref::new(Self { source });
        // A process that is being killed cannot be monitored any more, and needs no store.
        if !handle.watch(env, owner) {
            return Err(Refusal::Closed);
        }
        for &word in &handle.live().words {
            registry::enter(word, &handle);
        }
        Ok(handle)
    }

    /// Reads the store as it is now, or as it was at the moment.
    #[inline]
    pub(crate) fn read<T>(
        &self,
        env: Env<'_>,
        read: impl FnOnce(K::View<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        self.look(env, Use::Read, read)
    }

    /// How many rows there are, now or at the moment, whoever asks.
    pub(crate) fn len(&self, env: Env<'_>) -> Result<usize, Refusal> {
        self.look(env, Use::Inspect, |view| Ok(K::len(&view)))
    }

    #[inline]
    fn look<T>(
        &self,
        env: Env<'_>,
        purpose: Use,
        read: impl FnOnce(K::View<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let live = self.live();
        let store = live.open(env, purpose)?;
        match &self.source {
            Source::Live(_) => read(K::view(&store)),
            Source::Moment { held, .. } => {
                let held = held.open().ok_or(Refusal::Closed)?;
                let view = K::at(&store, &held).ok_or(Refusal::Closed)?;
                read(view)
            }
        }
    }

    /// Changes the store.
    #[inline]
    pub(crate) fn write<T>(
        &self,
        env: Env<'_>,
        write: impl FnOnce(&K::Store) -> T,
    ) -> Result<T, Refusal> {
        let Source::Live(live) = &self.source else {
            return Err(Refusal::Misuse("a snapshot cannot be changed".into()));
        };
        let store = live.open(env, Use::Write)?;
        Ok(write(&store))
    }

    /// What the store holds, whatever the moment and whoever asks.
    pub(crate) fn info(&self, env: Env<'_>) -> Result<Info, Refusal> {
        let store = self.live().open(env, Use::Inspect)?;
        Ok(K::info(&store))
    }

    /// Closes the store, or releases the moment. Answers whether this call did.
    pub(crate) fn close(&self) -> bool {
        match &self.source {
            Source::Live(live) => {
                for &word in &live.words {
                    registry::leave(word, self);
                }
                live.store.close()
            }
            Source::Moment { held, .. } => held.close(),
        }
    }

    /// As [`close`](Self::close), by a process that may not be allowed to.
    pub(crate) fn close_as(&self, env: Env<'_>) -> Result<bool, Refusal> {
        let purpose = match &self.source {
            Source::Live(_) => Use::Write,
            Source::Moment { .. } => Use::Read,
        };
        let live = self.live();
        live.admit(purpose, live.is_owned_by_caller(env))?;
        Ok(self.close())
    }

    pub(crate) fn gauge(&self) -> &Gauge {
        &self.live().gauge
    }

    #[inline]
    pub(crate) fn rule(&self) -> &K::Rule {
        &self.live().rule
    }

    #[inline]
    fn live(&self) -> &Live<K> {
        match &self.source {
            Source::Live(live) => live,
            Source::Moment { of, .. } => of.live(),
        }
    }
}

impl<K: Kind> Borrow<'_, Handle<K>> {
    /// The current moment of the store, kept; `None` if it is a moment already.
    pub(crate) fn hold(self, env: Env<'_>) -> Result<Option<Ref<Handle<K>>>, Refusal> {
        let Source::Live(live) = &self.source else {
            return Ok(None);
        };
        let store = live.open(env, Use::Read)?;
        let source = Source::Moment {
            of: self.keep(),
            held: Closable::new(K::hold(&store)),
        };
        Ok(Some(Ref::new(Handle { source })))
    }
}

/// What a caller is about to do with a store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Read,
    Write,
    /// Ask what it costs, which everybody may.
    Inspect,
}

impl<K: Kind> Live<K> {
    /// The store, unless the caller may not use it, or it was closed, or its owner has ended. The VM
    /// tells those who monitor a process of its end in the order in which they began to, so somebody may
    /// hear of it before `down` runs.
    #[inline]
    fn open(&self, env: Env<'_>, purpose: Use) -> Result<Open<'_, K::Store>, Refusal> {
        // Everybody may use a public store, so who calls is not asked.
        let owned = self.access != Access::Public && self.is_owned_by_caller(env);
        self.admit(purpose, owned)?;
        // Whoever calls is alive.
        match owned || env.is_process_alive(self.owner) {
            true => self.store.open().ok_or(Refusal::Closed),
            false => Err(Refusal::Closed),
        }
    }

    #[inline]
    fn is_owned_by_caller(&self, env: Env<'_>) -> bool {
        word_of(env, env.pid()) == self.owner_word
    }

    #[inline]
    fn admit(&self, purpose: Use, owned: bool) -> Result<(), Refusal> {
        match (self.access, purpose) {
            _ if owned => Ok(()),
            (Access::Private, Use::Read | Use::Write) => Err(Refusal::Misuse(
                "the store is private: only its owner may use it".into(),
            )),
            (Access::Protected, Use::Write) => Err(Refusal::Misuse(
                "the store is protected: only its owner may change it".into(),
            )),
            _ => Ok(()),
        }
    }
}

/// A store as a caller names it: by a reference, or by the name or pid of its process.
pub(crate) type Found<'a, K> = Borrow<'a, Handle<K>>;

/// Finds a store and uses it. Terms that name no open store of this VM are refused as closed, stores of
/// another kind as misuse.
#[inline]
pub(crate) fn with<K: Kind, T>(
    store: Term<'_>,
    operation: impl FnOnce(Found<'_, K>) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    // Asked first, since it is answered as soon as the type of the term is.
    if let Some(handle) = resource::find(store) {
        return operation(handle);
    }
    let named = match store.get_type() {
        TermType::Atom => true,
        TermType::Pid => store.decode::<LocalPid>().is_ok(),
        TermType::Ref => {
            return Err(registry::what(store).map_or(Refusal::Closed, other_kind::<K>));
        }
        _ => false,
    };
    if !named {
        return Err(Refusal::Closed);
    }
    let word = term::word(store.as_c_arg());
    match registry::find(word, |handle| operation(handle.borrow())) {
        Some(Ok(outcome)) => outcome,
        Some(Err(what)) => Err(other_kind::<K>(what)),
        None => Err(Refusal::Closed),
    }
}

#[cold]
pub(crate) fn other_kind<K: Kind>(what: &'static str) -> Refusal {
    Refusal::OtherKind(K::WHAT, what)
}

/// The outcome for one kind of store or, when the store is of another, what `other` answers for that.
#[inline]
pub(crate) fn or_of_other_kind<T>(
    outcome: Result<T, Refusal>,
    other: impl FnOnce() -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    match outcome {
        Err(Refusal::OtherKind(wanted, is)) => of_other_kind(wanted, is, other),
        outcome => outcome,
    }
}

/// Apart, so that the first kind does not pay for the second with a larger frame.
#[inline(never)]
fn of_other_kind<T>(
    wanted: &'static str,
    is: &'static str,
    other: impl FnOnce() -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    match other() {
        Err(Refusal::OtherKind(..)) => Err(Refusal::OtherKind(wanted, is)),
        outcome => outcome,
    }
}

/// Registers `$function`, of a kind or of the one of two that the store is of, as a hot NIF.
macro_rules! nif_of_kinds {
    (
        $name:expr, $arity:literal, [$($function:tt)+], $schedulers:ident, [$kind:ty]
    ) => {
        $crate::hot::hot_nif!($name, $arity, |env, arguments| {
            $crate::refusal::answer(env, $($function)+::<$kind>(env, arguments))
        }, $schedulers);
    };
    (
        $name:expr, $arity:literal, [$($function:tt)+], $schedulers:ident, [$kind:ty, $other:ty]
    ) => {
        $crate::hot::hot_nif!($name, $arity, |env, arguments| {
            let outcome = $($function)+::<$kind>(env, arguments);
            let other = || $($function)+::<$other>(env, arguments);
            $crate::refusal::answer(env, $crate::handle::or_of_other_kind(outcome, other))
        }, $schedulers);
    };
}

pub(crate) use nif_of_kinds;

/// The word by which the registry knows a process.
#[inline]
fn word_of(env: Env<'_>, process: LocalPid) -> u64 {
    term::word(process.encode(env).as_c_arg())
}
