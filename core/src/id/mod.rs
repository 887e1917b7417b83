//! Ids.
