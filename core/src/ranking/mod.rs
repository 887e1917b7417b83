//! Rankings: members of groups, in the order of their scores, as part of a store.
//!
//! A ranking is four indexes of one version: by (group, score, id) for places; by (group, id) for scores;
//! by (group, score) for the size of each tie, whose count is that of the distinct scores; and the names
//! of the groups. Stores keep them among their roots, read them through a [`Board`] and change them through
//! a [`Draft`]; so the ranked set and the record store share all of it.

mod bits;
mod board;
mod draft;
mod key;
mod name;
mod score;
#[cfg(test)]
mod tests;
mod walk;
mod when;

pub use board::{Board, Ties};
pub use draft::Put;
pub use score::{Element, Kind, Measure, Number, Order, Refusal, Score};
pub use walk::{Standing, Standings};
pub use when::{Condition, Contradiction, When};

pub(crate) use bits::Bits;
pub(crate) use board::Ranking;
pub(crate) use draft::{Draft, Move};
pub(crate) use key::{Multiplicities, Names, Places, Scores};
pub(crate) use name::{text, Name};
