//! Names: which store belongs to which process of this VM.
//!
//! A caller resolves a name or a pid and runs its operation itself, so a store's process is never a
//! bottleneck. Reading is as wait-free as reading any store, since this is one.

use std::sync::LazyLock;

use echo_data_core::{Boxed, OrderedStore};
use rustler::ResourceArc;

use crate::handle::Handle;

/// Handles under the word of a registered name or of a local pid. Atoms and pids of this VM are words
/// that differ.
static HANDLES: LazyLock<OrderedStore<Boxed<ResourceArc<Handle>>>> =
    LazyLock::new(OrderedStore::new);

/// Makes `handle` the store known by `word`, in the place of any other.
pub(crate) fn enter(word: u64, handle: &ResourceArc<Handle>) {
    HANDLES.put(word, Boxed(ResourceArc::clone(handle)));
}

/// Forgets `word` if it still means `handle`. A restarted store takes over its predecessor's name, maybe
/// before the predecessor is gone, and keeps it.
pub(crate) fn leave(word: u64, handle: &Handle) {
    HANDLES.remove_if(word, |entry| std::ptr::eq::<Handle>(&**entry, handle));
}

/// Uses the store known by `word`.
#[inline]
pub(crate) fn find<T>(word: u64, found: impl FnOnce(&ResourceArc<Handle>) -> T) -> Option<T> {
    HANDLES.view().get(word).map(found)
}
