//! Names: which store belongs to which process of this VM.
//!
//! A caller resolves a name or a pid and runs its operation itself, so a store's process is never a
//! bottleneck. Reading is as wait-free as reading any store, since this is one.

use std::sync::LazyLock;

use echo_data_core::{Boxed, OrderedStore};
use rustler::Term;

use crate::buckets::Bucketed;
use crate::handle::Handle;
use crate::kind::Kind;
use crate::ordered::Ordered;
use crate::ranked_set::RankedSet;
use crate::recorded::Recorded;
use crate::relation::Relation;
use crate::resource::{self, Ref};

/// A handle of any kind.
pub(crate) enum Entry {
    Ordered(Ref<Handle<Ordered>>),
    Recorded(Ref<Handle<Recorded>>),
    Relation(Ref<Handle<Relation>>),
    Bucketed(Ref<Handle<Bucketed>>),
    RankedSet(Ref<Handle<RankedSet>>),
}

impl Entry {
    fn what(&self) -> &'static str {
        match self {
            Self::Ordered(_) => Ordered::WHAT,
            Self::Recorded(_) => Recorded::WHAT,
            Self::Relation(_) => Relation::WHAT,
            Self::Bucketed(_) => Bucketed::WHAT,
            Self::RankedSet(_) => RankedSet::WHAT,
        }
    }
}

/// What kind of store a reference refers to, if any.
pub(crate) fn what(reference: Term<'_>) -> Option<&'static str> {
    what_of::<Ordered>(reference)
        .or_else(|| what_of::<Recorded>(reference))
        .or_else(|| what_of::<Relation>(reference))
        .or_else(|| what_of::<Bucketed>(reference))
        .or_else(|| what_of::<RankedSet>(reference))
}

fn what_of<K: Kind>(reference: Term<'_>) -> Option<&'static str> {
    resource::find::<Handle<K>>(reference).map(|_| K::WHAT)
}

/// Handles under the word of a registered name or of a local pid. Atoms and pids of this VM are words
/// that differ.
static HANDLES: LazyLock<OrderedStore<Boxed<Entry>>> = LazyLock::new(OrderedStore::new);

/// Makes `handle` the store known by `word`, in the place of any other.
pub(crate) fn enter<K: Kind>(word: u64, handle: &Ref<Handle<K>>) {
    HANDLES.put(word, Boxed(K::entry(Ref::clone(handle))));
}

/// Forgets `word` if it still means `handle`. A restarted store takes over its predecessor's name, maybe
/// before the predecessor is gone, and keeps it.
pub(crate) fn leave<K: Kind>(word: u64, handle: &Handle<K>) {
    HANDLES.remove_if(word, |entry| {
        K::of_entry(entry).is_some_and(|entry| std::ptr::eq(&**entry, handle))
    });
}

/// Uses the store known by `word`, or, if it is of another kind, says which.
#[inline]
pub(crate) fn find<K: Kind, T>(
    word: u64,
    found: impl FnOnce(&Ref<Handle<K>>) -> T,
) -> Option<Result<T, &'static str>> {
    let entry = |entry: &Entry| match K::of_entry(entry) {
        Some(handle) => Ok(found(handle)),
        None => Err(entry.what()),
    };
    HANDLES.view().get(word).map(entry)
}
