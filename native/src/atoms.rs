//! The atoms that answers are made of.

rustler::atoms! {
    ok,
    error,
    invalid,
    namespace,
    not_found,
    closed,
    held,
    more,
    staged,
    large,
    added,
    kept,
    removed,
    rows,
    bytes,
    nodes,
    payloads,
    versions,
    snapshots,
}
