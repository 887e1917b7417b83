//! Moments of stores for answers that take several calls.

use std::ops::Deref;

use rustler::{Encoder, Env, Term};

use crate::handle::{Found, Handle};
use crate::kind::Kind;
use crate::refusal::Refusal;
use crate::resource::Ref;

/// What a continuation is of, in a message, when it is not of the kind of store that it must be.
pub(crate) const CONTINUATION: &str = "a continuation of another kind";

/// The moment that all parts of an answer are of.
pub(crate) struct Moment<K: Kind> {
    handle: Ref<Handle<K>>,
    /// Whether it is held for this answer alone.
    ours: bool,
}

impl<K: Kind> Moment<K> {
    /// The current moment of a store, or the one that it is.
    pub(crate) fn of(env: Env<'_>, store: Found<'_, K>) -> Result<Self, Refusal> {
        let held = store.hold(env)?;
        let ours = held.is_some();
        let handle = held.unwrap_or_else(|| store.keep());
        Ok(Self { handle, ours })
    }

    /// The moment of a continuation.
    pub(crate) fn from_term(term: Term<'_>) -> Option<Self> {
        let (handle, ours) = term.decode().ok()?;
        let handle = Ref::from_term(handle)?;
        Some(Self { handle, ours })
    }

    /// After the last part. The caller's heap has a reference to the moment, and would keep it until it
    /// is collected.
    pub(crate) fn end(&self) {
        if self.ours {
            self.handle.close();
        }
    }
}

impl<K: Kind> Deref for Moment<K> {
    type Target = Handle<K>;

    fn deref(&self) -> &Handle<K> {
        &self.handle
    }
}

impl<K: Kind> Encoder for Moment<K> {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        (&self.handle, self.ours).encode(env)
    }
}
