# hermes-host. `make run` and `make test` are all you need; `make help` lists the rest.

# One selection of packages everywhere: with another one cargo picks other features and builds wasmtime again.
CARGO  := --release --locked --workspace
HOST   := target/release/hermes-host
GUESTS := tools-wasm/guests.sh
ARGS   ?=

.DEFAULT_GOAL := help
.PHONY: help setup tools build run test attack conformance bench lint docs clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## find or install what is needed to build, and say what was taken
	@$(GUESTS) setup

tools: setup ## build the bundled components into target/tools
	@$(GUESTS) build

build: tools ## build target/release/hermes-host with the bundled components in it
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
	cargo bench --locked --workspace --no-fail-fast --bench approvals --bench dispatch --bench files --bench serve

lint: build ## formatting, clippy and rustdoc, without a warning
	cargo fmt --all --check
	cargo clippy $(CARGO) --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc $(CARGO) --no-deps

docs: build ## write the generated tables into the documents
	HERMES_WRITE_DOCS=1 cargo nextest run $(CARGO) --test e2e tree::docs

clean: ## remove everything that was built
	cargo clean
