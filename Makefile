# hermes-host. `make run` and `make test` are all you need; `make help` lists the rest.

# One selection of packages everywhere: with another one cargo picks other features and builds wasmtime again.
CARGO  := --release --locked --workspace
HOST   := target/release/hermes-host
GUESTS := tools-wasm/guests.sh
ARGS   ?=

# A folder of its own: other flags would build the dependencies of the host again.
TRIPLE         := $(shell rustc -vV | sed -n 's/^host: //p')
LAUNCHER_BUILT := target/launcher-build/$(TRIPLE)/launcher/hermes-launch
LAUNCHER        = RUSTFLAGS="$(1)" cargo build --quiet --locked --profile launcher -p hermes-launch --bin hermes-launch \
	--target $(TRIPLE) --target-dir target/launcher-build

.DEFAULT_GOAL := help
.PHONY: help setup tools launcher build run test attack conformance bench lint docs clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## find or install what is needed to build, and say what was taken
	@$(GUESTS) setup

tools: setup ## build the bundled components into target/tools
	@$(GUESTS) build

# Statically linked where the C library allows it: then no loader runs, which is a third of its start.
launcher: setup ## build the launcher of commands into target/launcher
	@$(call LAUNCHER,-Ctarget-feature=+crt-static) || $(call LAUNCHER,)
	@mkdir -p target/launcher
	@cmp -s $(LAUNCHER_BUILT) target/launcher/hermes-launch || cp $(LAUNCHER_BUILT) target/launcher/hermes-launch

build: tools launcher ## build target/release/hermes-host with the bundled components in it
	cargo build $(CARGO)

run: build ## build all and start `hermes-host run` (ARGS="--tools DIR" adds a folder)
	$(HOST) run $(ARGS)

test: lint ## lint, then every test and the conformance suite
	@$(GUESTS) setup-tests
	cargo nextest run $(CARGO)
	cargo test $(CARGO) --doc
	@tests/conformance/run.sh

attack: build ## only the tests that attack the host
	@$(GUESTS) setup-tests
	cargo nextest run $(CARGO) --test e2e attack

conformance: build ## the protocol's conformance suite, against tools that are components
	@tests/conformance/run.sh

bench: build ## measure, with ratios from one run
	@$(GUESTS) setup-bench
	cargo bench --locked --workspace --no-fail-fast --bench approvals --bench dispatch --bench files --bench serve --bench terminal

lint: build ## formatting, clippy and rustdoc, without a warning
	cargo fmt --all --check
	cargo clippy $(CARGO) --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc $(CARGO) --no-deps

docs: build ## write the generated tables into the documents
	HERMES_WRITE_DOCS=1 cargo nextest run $(CARGO) --test e2e tree::docs

clean: ## remove everything that was built
	cargo clean
