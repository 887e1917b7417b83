//! Pure-Rust harness: the core beside its peers.
