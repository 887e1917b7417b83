//! The atoms that answers are made of.

rustler::atoms! {
    ok,
    error,
    invalid,
    namespace,
}
