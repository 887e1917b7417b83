# The doors of this repository. Each installs what it needs from Debian, then does its job: `make help`.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.NOTPARALLEL:

# Where rustup puts cargo, for shells that have not read the profile.
export PATH := $(PATH):$(HOME)/.cargo/bin
# A fresh machine has no locale, and Elixir wants UTF-8.
export LC_ALL := C.UTF-8

TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
REPO ?= .
export REPO

.PHONY: help demo conformance test test-core test-tiny test-elixir
.PHONY: check check-format check-clippy check-docs check-elixir check-dialyzer check-loom check-sanitizer
.PHONY: bench miri soak

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## answer questions about a git history, REPO=path, beside ETS
	@scripts/setup cargo cc git mix
	repo=$$(realpath --canonicalize-missing -- "$$REPO") && cd mix_project && mix echo_data.demo "$$repo"

conformance: ## the contract's transcripts on live stores and a live Redis server, a line each
	@scripts/setup cargo cc mix redis-server eredis
	cd mix_project && mix echo_data.conformance

test: test-core test-tiny test-elixir ## all tests

test-core: ## the Rust core
	@scripts/setup cargo cc
	cargo test --workspace --exclude echo_data_nif

test-tiny: ## the Rust core with nodes of a few entries, so that splits and merges happen all the time
	@scripts/setup cargo cc
	RUSTFLAGS="--cfg tiny_nodes" cargo test -p echo_data_core --target-dir $(TARGET)/tiny

test-elixir: ## the Elixir library
	@scripts/setup cargo cc git mix readelf redis-server eredis
	cd mix_project && mix test --warnings-as-errors

check: check-format check-clippy check-docs check-elixir check-dialyzer check-loom check-sanitizer ## all checks

check-format: ## formatting of Rust and Elixir
	@scripts/setup cargo mix
	cargo fmt --all --check
	cd mix_project && mix format --check-formatted

check-clippy: ## lints, warnings as errors
	@scripts/setup cargo cc
	cargo clippy --workspace --all-targets -- -D warnings

check-docs: ## Rust documentation, warnings as errors
	@scripts/setup cargo cc
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

check-elixir: ## Elixir compilation, warnings as errors
	@scripts/setup cargo cc mix
	cd mix_project && mix compile --force --warnings-as-errors

check-dialyzer: check-elixir ## types of the Elixir library
	@scripts/setup dialyzer eredis
	scripts/dialyzer $(TARGET)/dialyzer mix_project/_build/dev/lib/echo_data/ebin

# Models are in modules and test files named `loom…`. Optimized: there are many interleavings.
LOOM := RUSTFLAGS="--cfg loom" CARGO_PROFILE_RELEASE_LTO=off cargo test -p echo_data_core --release --target-dir $(TARGET)/loom

check-loom: ## every interleaving of the small concurrent models
	@scripts/setup cargo cc
	$(LOOM) --lib loom
	$(LOOM) --test 'loom*'

# Doctests are left out: rustdoc takes its flags from elsewhere, and they are examples, not stress.
check-sanitizer: ## the core's tests under the address sanitizer (nightly Rust)
	@scripts/setup cargo cc
	@if cargo +nightly --version >/dev/null 2>&1; then set -x; \
		RUSTFLAGS="-Zsanitizer=address --cfg tiny_nodes" cargo +nightly test -p echo_data_core --lib --tests \
			--target x86_64-unknown-linux-gnu --target-dir $(TARGET)/sanitizer; \
	else \
		echo "check-sanitizer: skipped, there is no nightly Rust: rustup toolchain install nightly"; \
	fi

bench: ## measure the core and the Elixir library, beside their peers
	@scripts/setup cargo cc mix redis-server eredis
	cargo run --release -p echo_data_benches --bin report
	cargo bench -p echo_data_benches
	cd mix_project && mix run bench/run.exs

# Trees, since the borrows of crossbeam-epoch are none of a stack; leaks, since what a thread keeps its garbage in
# is for the next one. The clock, and seeds of random tests, are outside.
miri: ## the index and the lists of garbage under Miri, for undefined behaviour: ten minutes (nightly Rust with miri)
	@scripts/setup cargo cc
	PROPTEST_CASES=2 RUSTFLAGS="--cfg tiny_nodes" \
		MIRIFLAGS="-Zmiri-tree-borrows -Zmiri-permissive-provenance -Zmiri-ignore-leaks -Zmiri-disable-isolation" \
		cargo +nightly miri test -p echo_data_core --lib --target-dir $(TARGET)/miri

soak: ## the long runs of the core's concurrent and random tests
	@scripts/setup cargo cc
	ECHO_SOAK=1 cargo test -p echo_data_core --release --test stress --test memory --test model \
		--test edge_stress --test edge_memory --test edge_model \
		--test buckets_stress --test buckets_memory --test buckets_model \
		--test ranked_stress --test ranked_memory --test ranked_model --test ranked_each --test recorded
