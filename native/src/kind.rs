//! Kinds of store: what a handle must know of the store that it is a handle of.

use std::ffi::CStr;

use echo_data_core::{Gauge, Info};

use crate::handle::Handle;
use crate::registry::Entry;
use crate::resource::{Ref, Type};

/// A kind of store.
pub(crate) trait Kind: Sized + 'static {
    /// The kind in a message.
    const WHAT: &'static str;

    /// The name of the type that handles of this kind have in the VM.
    const NAME: &'static CStr;

    /// Where that type is kept.
    fn kept() -> &'static Type<Handle<Self>>;

    /// What was stated when the store was opened: whose ids it lets in.
    type Rule: Send + Sync;
    type Store: Send + Sync + 'static;
    /// A moment of a store, kept.
    type Held: Send + Sync + 'static;
    /// A moment of a store, for one call.
    type View<'a>;

    fn new_store(rule: &Self::Rule) -> Self::Store;
    fn view(store: &Self::Store) -> Self::View<'_>;
    fn hold(store: &Self::Store) -> Self::Held;
    fn at<'a>(store: &'a Self::Store, held: &'a Self::Held) -> Option<Self::View<'a>>;
    fn len(view: &Self::View<'_>) -> usize;
    fn info(store: &Self::Store) -> Info;
    fn gauge(store: &Self::Store) -> Gauge;

    /// The handle as the registry keeps it.
    fn entry(handle: Ref<Handle<Self>>) -> Entry;
    /// The handle of an entry, if it is of this kind.
    fn of_entry(entry: &Entry) -> Option<&Ref<Handle<Self>>>;
}

/// Implements [`Kind`] by the methods that all stores of the core have.
macro_rules! kind {
    (
        $kind:ident, $what:literal, $name:literal,
        rule: $rule:ty, store: $store:ty, held: $held:ty, view: $view:ident<$($value:ty),*>,
        new: $new:expr
    ) => {
        impl $crate::kind::Kind for $kind {
            const WHAT: &'static str = $what;
            const NAME: &'static std::ffi::CStr = $name;

            #[inline]
            fn kept() -> &'static $crate::resource::Type<$crate::handle::Handle<Self>> {
                static TYPE: $crate::resource::Type<$crate::handle::Handle<$kind>> =
                    $crate::resource::Type::new();
                &TYPE
            }

            type Rule = $rule;
            type Store = $store;
            type Held = $held;
            type View<'a> = $view<'a $(, $value)*>;

            fn new_store(rule: &$rule) -> $store {
                let new: fn(&$rule) -> $store = $new;
                new(rule)
            }

            #[inline]
            fn view(store: &$store) -> Self::View<'_> {
                store.view()
            }

            fn hold(store: &$store) -> $held {
                store.hold()
            }

            fn at<'a>(store: &'a $store, held: &'a $held) -> Option<Self::View<'a>> {
                store.at(held)
            }

            fn len(view: &Self::View<'_>) -> usize {
                view.len()
            }

            fn info(store: &$store) -> echo_data_core::Info {
                store.info()
            }

            fn gauge(store: &$store) -> echo_data_core::Gauge {
                store.gauge()
            }

            fn entry(
                handle: $crate::resource::Ref<$crate::handle::Handle<Self>>,
            ) -> $crate::registry::Entry {
                $crate::registry::Entry::$kind(handle)
            }

            #[inline]
            fn of_entry(
                entry: &$crate::registry::Entry,
            ) -> Option<&$crate::resource::Ref<$crate::handle::Handle<Self>>> {
                match entry {
                    $crate::registry::Entry::$kind(handle) => Some(handle),
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use kind;
