//! Link flags of the NIF library.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // The VM closes a library when the last module that uses it is purged. Memory retired by a store may
    // be freed after that, by code of this library: it stays mapped for as long as the process lives.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
