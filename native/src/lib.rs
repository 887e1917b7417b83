//! EchoData's Rust core, presented to the BEAM: one file for each Elixir module that has native functions, and
//! what these share. Each NIF decodes its arguments, calls the core and encodes the answer.

mod allocator;
mod atoms;
mod base62;
mod batch;
mod bounds;
mod branded_id;
mod buckets;
mod edge_store;
mod edges;
mod error;
mod group;
mod handle;
mod hot;
mod index;
mod keyed;
mod keyspace;
mod kind;
mod leaderboard;
mod links;
mod lookup;
mod moment;
mod neighbours;
mod ordered;
mod property_store;
mod props;
mod rank_index;
mod ranked_many;
mod ranked_set;
mod ranked_store;
mod recorded;
mod refusal;
mod registry;
mod relation;
mod resource;
mod rows;
mod score;
mod snowflake;
mod standings;
mod store;
mod term;
mod timeline;
mod timeslice;

/// glibc's malloc is the larger part of a write to a small store: see `Cargo.toml`.
#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

rustler::init!("Elixir.EchoData.Native", load = load);

fn load(env: rustler::Env<'_>, _info: rustler::Term<'_>) -> bool {
    term::open_type(env)
        && keyed::open_types::<ordered::Ordered>(env)
        && keyed::open_types::<recorded::Recorded>(env)
        && keyed::open_types::<buckets::Bucketed>(env)
        && links::open_types(env)
        && ranked_many::open_types(env)
}
