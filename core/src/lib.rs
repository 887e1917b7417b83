//! Ordered stores on a lock-free core.
pub mod id;
mod sync;
