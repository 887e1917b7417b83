//! The neighbours of one id, as rows to be listed.

use std::ops::Range;

use echo_data_core::{EdgeView, Links};
use rustler::{Env, Term};

use crate::props::{self, Props, PropsRef};
use crate::relation::{Relation, Rule};
use crate::rows::{self, Table};

macro_rules! neighbours {
    ($(#[doc = $doc:literal])+ $table:ident, $from:literal, $walk:ident, $namespace:ident) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy)]
        pub(crate) struct $table(u64);

        impl Table for $table {
            type Kind = Relation;
            type Value<'v> = PropsRef<'v>;
            type Rows<'v> = Links<'v, Props, $from>;

            #[inline]
            fn rows<'v>(self, view: &'v EdgeView<'_, Props>, keys: Range<u64>) -> Self::Rows<'v> {
                view.$walk(self.0).range(keys)
            }

            #[inline]
            fn id<'a>(env: Env<'a>, rule: &Rule, key: u64) -> Term<'a> {
                rows::branded(env, rule.$namespace, key)
            }

            #[inline]
            fn decode<'a>(env: Env<'a>, value: PropsRef<'_>) -> Term<'a> {
                props::decode(env, value)
            }

            fn number(self) -> u64 {
                self.0
            }

            fn numbered(number: u64) -> Self {
                Self(number)
            }
        }
    };
}

neighbours!(
    /// The objects of a subject.
    From, true, from, object
);

neighbours!(
    /// The subjects of an object.
    To, false, to, subject
);
