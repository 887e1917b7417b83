//! EchoData's Rust core, presented to the BEAM: one file per Elixir module, each NIF decodes its arguments,
//! calls the core and encodes the answer.

mod atoms;
mod base62;
mod branded_id;
mod error;
mod snowflake;

/// glibc's malloc is the larger part of a write to a small store: see `Cargo.toml`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

rustler::init!("Elixir.EchoData.Native");
