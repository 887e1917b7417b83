//! Handles: references of the VM to an ordered store, or to one moment of it.

use echo_data_core::id::{self, GateError, Namespace};
use echo_data_core::{Closable, Gauge, Held, Open, OrderedStore, View};
use rustler::{
    Binary, Encoder, Env, LocalPid, Monitor, NifUnitEnum, Resource, ResourceArc, Term, TermType,
};

use crate::refusal::Refusal;
use crate::registry;
use crate::term::{self, Value};

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
pub(crate) struct Handle {
    namespace: Namespace,
    source: Source,
}

enum Source {
    Live(Live),
    Moment {
        of: ResourceArc<Handle>,
        held: Closable<Held<Value>>,
    },
}

/// A store that closes when its owner dies.
struct Live {
    store: Closable<OrderedStore<Value>>,
    gauge: Gauge,
    owner: LocalPid,
    access: Access,
    /// The words under which the registry knows it.
    words: Vec<u64>,
}

#[rustler::resource_impl]
impl Resource for Handle {
    const IMPLEMENTS_DOWN: bool = true;

    /// Runs when the owner has ended.
    fn down<'a>(&'a self, _env: Env<'a>, _owner: LocalPid, _monitor: Monitor) {
        self.close();
    }
}

impl Handle {
    /// A new store that belongs to the calling process, and is known by its pid and by `name` if one is
    /// given.
    pub(crate) fn open(
        env: Env<'_>,
        namespace: Namespace,
        access: Access,
        words: Vec<u64>,
    ) -> Result<ResourceArc<Self>, Refusal> {
        let store = OrderedStore::new();
        let owner = env.pid();
        let handle = ResourceArc::new(Self {
            namespace,
            source: Source::Live(Live {
                gauge: store.gauge(),
                store: Closable::new(store),
                owner,
                access,
                words,
            }),
        });
        // A process that is being killed cannot be monitored any more, and needs no store.
        env.monitor(&handle, &owner).ok_or(Refusal::Closed)?;
        for &word in &handle.live().words {
            registry::enter(word, &handle);
        }
        Ok(handle)
    }

    /// The current moment of the store, kept; `None` if it is a moment already.
    pub(crate) fn hold(
        this: &ResourceArc<Self>,
        env: Env<'_>,
    ) -> Result<Option<ResourceArc<Self>>, Refusal> {
        let Source::Live(live) = &this.source else {
            return Ok(None);
        };
        live.admit_reader(env)?;
        let store = live.open(env)?;
        Ok(Some(ResourceArc::new(Self {
            namespace: this.namespace,
            source: Source::Moment {
                of: ResourceArc::clone(this),
                held: Closable::new(store.hold()),
            },
        })))
    }

    /// Reads the store as it is now, or as it was at the moment.
    #[inline]
    pub(crate) fn read<T>(
        &self,
        env: Env<'_>,
        read: impl FnOnce(View<'_, Value>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let live = self.live();
        live.admit_reader(env)?;
        let store = live.open(env)?;
        match &self.source {
            Source::Live(_) => read(store.view()),
            Source::Moment { held, .. } => {
                let held = held.open().ok_or(Refusal::Closed)?;
                read(store.at(&held).ok_or(Refusal::Closed)?)
            }
        }
    }

    /// Changes the store.
    #[inline]
    pub(crate) fn write<T>(
        &self,
        env: Env<'_>,
        write: impl FnOnce(&OrderedStore<Value>) -> T,
    ) -> Result<T, Refusal> {
        let Source::Live(live) = &self.source else {
            return Err(Refusal::Misuse("a snapshot cannot be changed".into()));
        };
        live.admit_writer(env)?;
        let store = live.open(env)?;
        Ok(write(&store))
    }

    /// The store behind a handle or a moment, for what does not depend on the moment.
    pub(crate) fn store<T>(
        &self,
        env: Env<'_>,
        read: impl FnOnce(&OrderedStore<Value>) -> T,
    ) -> Result<T, Refusal> {
        let store = self.live().open(env)?;
        Ok(read(&store))
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
        if let Source::Live(live) = &self.source {
            live.admit_writer(env)?;
        }
        Ok(self.close())
    }

    pub(crate) fn gauge(&self) -> &Gauge {
        &self.live().gauge
    }

    pub(crate) fn namespace(&self) -> Namespace {
        self.namespace
    }

    /// The key of an id of this store.
    #[inline]
    pub(crate) fn key(&self, id: Term<'_>) -> Result<u64, GateError> {
        let id = Binary::from_term(id).map_err(|_| GateError::Invalid)?;
        id::gate(&id, self.namespace)
    }

    fn live(&self) -> &Live {
        match &self.source {
            Source::Live(live) => live,
            Source::Moment { of, .. } => of.live(),
        }
    }
}

impl Live {
    /// The store, unless it was closed or its owner has ended. The VM tells those who monitor a process
    /// of its end in the order in which they began to, so somebody may hear of it before `down` runs.
    #[inline]
    fn open(&self, env: Env<'_>) -> Result<Open<'_, OrderedStore<Value>>, Refusal> {
        match env.is_process_alive(self.owner) {
            true => self.store.open().ok_or(Refusal::Closed),
            false => Err(Refusal::Closed),
        }
    }

    #[inline]
    fn admit_reader(&self, env: Env<'_>) -> Result<(), Refusal> {
        match self.access {
            Access::Private if self.owner != env.pid() => Err(Refusal::Misuse(
                "the store is private: only its owner may use it".into(),
            )),
            _ => Ok(()),
        }
    }

    #[inline]
    fn admit_writer(&self, env: Env<'_>) -> Result<(), Refusal> {
        match self.access {
            Access::Protected if self.owner != env.pid() => Err(Refusal::Misuse(
                "the store is protected: only its owner may change it".into(),
            )),
            _ => self.admit_reader(env),
        }
    }
}

/// A store as a caller names it: by a reference, or by the name or pid of its process.
pub(crate) enum Found<'a> {
    Reference(Term<'a>, &'a Handle),
    Registered(&'a ResourceArc<Handle>),
}

impl Found<'_> {
    /// A counted reference to the handle.
    pub(crate) fn resource(&self) -> Result<ResourceArc<Handle>, Refusal> {
        match self {
            Self::Reference(term, _) => term.decode().map_err(Refusal::Native),
            Self::Registered(handle) => Ok(ResourceArc::clone(handle)),
        }
    }
}

impl std::ops::Deref for Found<'_> {
    type Target = Handle;

    #[inline]
    fn deref(&self) -> &Handle {
        match self {
            Self::Reference(_, handle) => handle,
            Self::Registered(handle) => handle,
        }
    }
}

/// Finds a store and uses it. Terms that name no open store of this VM are refused as closed.
#[inline]
pub(crate) fn with<'a, T>(
    store: Term<'a>,
    operation: impl FnOnce(Found<'_>) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let named = match store.get_type() {
        TermType::Atom => true,
        TermType::Pid => store.decode::<LocalPid>().is_ok(),
        TermType::Ref => {
            let handle = store.try_get_resource().ok_or(Refusal::Closed)?;
            return operation(Found::Reference(store, handle));
        }
        _ => false,
    };
    let word = term::word(store.as_c_arg());
    match named {
        true => registry::find(word, |handle| operation(Found::Registered(handle)))
            .unwrap_or_else(|| Err(Refusal::Closed)),
        false => Err(Refusal::Closed),
    }
}

/// The word by which the registry knows the calling process.
pub(crate) fn own_word(env: Env<'_>) -> u64 {
    term::word(env.pid().encode(env).as_c_arg())
}
