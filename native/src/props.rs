//! Props: what an edge carries, in the form in which edge stores keep it.

use echo_data_core::Value;
use rustler::{Env, Term};

use crate::refusal::Refusal;
use crate::term;

/// The props of one edge, which stand in two indexes.
pub(crate) type Props = term::SlimValue;

/// Props that are read from a view.
pub(crate) type PropsRef<'v> = <Props as Value>::Ref<'v>;

/// # Errors
/// As [`term::encode`].
#[inline]
pub(crate) fn encode(term: Term<'_>) -> Result<Props, Refusal> {
    term::encode(term)
}

#[inline]
pub(crate) fn decode<'a>(env: Env<'a>, props: PropsRef<'_>) -> Term<'a> {
    term::decode(env, props)
}
