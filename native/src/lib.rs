//! EchoData's Rust core, presented to the BEAM.
