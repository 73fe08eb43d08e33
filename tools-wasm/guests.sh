#!/usr/bin/env bash
# Finds a way to compile guests and builds the bundled ones.
#
#   guests.sh setup             installs what is missing and says which way it took
#   guests.sh setup-tests       the same for what only the tests need
#   guests.sh setup-bench       the same for what only the benchmarks need
#   guests.sh build             builds every crate of tools-wasm/, the SDK's examples and the tests' guests
#
# Two ways to wasm32-unknown-unknown: the rustup target, or, where rustup can fetch nothing, Debian's compiler with its
# standard library built from source. HERMES_GUESTS=rustup|debian forces one.
set -euo pipefail
cd "$(dirname "$0")/.."

target=wasm32-unknown-unknown
guests=target/guests
debian_packages=(rustc-web cargo-web rust-web-src lld-19)

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

root=()
[ "$(id -u)" = 0 ] || root=(sudo)

apt_install() {
    command -v apt-get >/dev/null || fail "apt-get is not here; install $* by hand and try again"
    say "installing $* with apt-get"
    "${root[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq "$@" >/dev/null
}

have_rustup_target() { rustup target list --installed 2>/dev/null | grep -qx "$target"; }
add_rustup_target() { have_rustup_target || rustup target add "$target" >/dev/null 2>&1; }
have_debian() { [ -x /usr/bin/rustc ] && [ -d /usr/lib/rustlib/src/rust ] && command -v wasm-ld-19 >/dev/null; }

way() {
    case "${HERMES_GUESTS:-}" in
        rustup | debian) echo "$HERMES_GUESTS" ;;
        '') if add_rustup_target; then echo rustup; else echo debian; fi ;;
        *) fail "HERMES_GUESTS is rustup or debian, not $HERMES_GUESTS" ;;
    esac
}

setup() {
    command -v cargo >/dev/null || fail "cargo is not here; install the stable toolchain with rustup"
    command -v cc >/dev/null || apt_install build-essential
    case "$(way)" in
        rustup)
            add_rustup_target || fail "rustup can't add $target; try HERMES_GUESTS=debian"
            say "guests are compiled with the rustup target $target" ;;
        debian)
            have_debian || apt_install "${debian_packages[@]}"
            say "guests are compiled with Debian's $(/usr/bin/rustc --version), its standard library built for $target" ;;
    esac
}

setup_tests() {
    if ! command -v cargo-nextest >/dev/null; then
        say "installing cargo-nextest, which runs the tests (a few minutes)"
        cargo install --quiet --locked cargo-nextest
    fi
    setup_bench
    # A server for the tests alone, on loopback: the machine itself is to listen no more than before.
    if [ ! -x /usr/sbin/sshd ]; then
        apt_install openssh-server openssh-client
        if [ -d /run/systemd/system ]; then
            "${root[@]}" systemctl disable --now --quiet ssh.service ssh.socket || true
        fi
    fi
    setup_clients
}

# The official clients of the protocol, for the tests that call a running host with them. Without Python and Node these would fail, so
# both are installed where they are missing. The Python tool's test needs pip, too; it is skipped where pip can't get its toolchain.
setup_clients() {
    local clients=target/clients sources=tests/clients missing=()
    command -v python3 >/dev/null || missing+=(python3)
    python3 -c 'import venv, ensurepip' >/dev/null 2>&1 || missing+=(python3-venv)
    python3 -m pip --version >/dev/null 2>&1 || missing+=(python3-pip)
    command -v node >/dev/null || missing+=(nodejs)
    command -v npm >/dev/null || missing+=(npm)
    [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
    mkdir -p "$clients/typescript"
    if ! cmp -s "$sources/python/requirements.txt" "$clients/python/installed.txt"; then
        say "installing the Python client of the protocol"
        rm -rf "$clients/python"
        # Ready-made only: what has no wheel for this machine would be built for minutes.
        if python3 -m venv "$clients/python" && "$clients/python/bin/pip" install --quiet --disable-pip-version-check \
            --only-binary :all: --requirement "$sources/python/requirements.txt"; then
            cp "$sources/python/requirements.txt" "$clients/python/installed.txt"
        else
            fail "the Python client can't be installed; see above"
        fi
    fi
    if ! cmp -s "$sources/typescript/package-lock.json" "$clients/typescript/installed.json"; then
        say "installing the TypeScript client of the protocol"
        cp "$sources"/typescript/package*.json "$clients/typescript/"
        # Node looks for packages from where a file lies, and nothing is installed into the sources.
        ln -sf "$PWD/$sources/typescript/client.mjs" "$clients/typescript/client.mjs"
        if (cd "$clients/typescript" && npm ci --silent --no-audit --no-fund --ignore-scripts); then
            cp "$sources/typescript/package-lock.json" "$clients/typescript/installed.json"
        else
            fail "the TypeScript client can't be installed; see above"
        fi
    fi
}

# Searching is measured beside ripgrep, and some tests ask it what is right.
setup_bench() { command -v rg >/dev/null || apt_install ripgrep; }

# Paths of this machine do not belong into components.
remap="--remap-path-prefix=$PWD=hermes --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src=crates"

# A stack of 64 KiB, where the linker would give 1 MiB: the host writes the first 256 KiB of a memory anew after every call
# instead of giving them back, and a small tool is to fit in there with its stack, its data and its heap; every page less makes a
# call shorter. Vectors of sixteen bytes, which every host of components knows.
flags="$remap -Clink-arg=-zstack-size=65536 -Ctarget-feature=+simd128"

compile() {
    local packages=()
    for name in "$@"; do packages+=(-p "$name"); done
    case "$(way)" in
        rustup)
            RUSTFLAGS="$flags" cargo build --quiet --locked --profile guest --target "$target" \
                --target-dir "$guests/rustup" "${packages[@]}"
            made="$guests/rustup/$target/guest" ;;
        debian)
            RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS="$flags -Clinker=wasm-ld-19" \
                cargo build --quiet --profile guest --target "$target" -Zbuild-std=std,panic_abort \
                --target-dir "$guests/debian" "${packages[@]}"
            made="$guests/debian/$target/guest" ;;
    esac
}

# A component that did not change keeps its file and its folder as they are, so that nothing that embeds it is built again.
componentize() {
    local new="$guests/component.new"
    target/release/hermes-componentize "$1" "$new"
    if cmp -s "$new" "$2"; then rm "$new"; else mv "$new" "$2"; fi
}

build() {
    local bundled=()
    for crate in tools-wasm/*/Cargo.toml; do bundled+=("$(basename "$(dirname "$crate")")"); done
    cargo build --quiet --release --locked -p hermes-componentize
    local examples=()
    for crate in guest-sdk/examples/*/Cargo.toml; do examples+=("$(basename "$(dirname "$crate")")"); done
    local probes=(probe conformance)
    compile "${bundled[@]}" "${examples[@]}" "${probes[@]}"
    mkdir -p target/tools target/examples target/probes
    for name in "${bundled[@]}"; do componentize "$made/$name.wasm" "target/tools/$name.wasm"; done
    for name in "${examples[@]}"; do componentize "$made/$name.wasm" "target/examples/$name.wasm"; done
    for name in "${probes[@]}"; do componentize "$made/$name.wasm" "target/probes/$name.wasm"; done
    # A toolset that left the repository leaves the binary too.
    for file in target/tools/*.wasm; do [ -d "tools-wasm/$(basename "$file" .wasm)" ] || rm "$file"; done
    (cd target/tools && wc -c ./*.wasm | sed -n 's|^ *\([0-9]*\) \./\(.*\)|tools: target/tools/\2, \1 bytes|p')
}

case "${1:-}" in
    setup) setup ;;
    setup-tests) setup_tests ;;
    setup-bench) setup_bench ;;
    build) build ;;
    *) fail "usage: guests.sh setup|setup-tests|setup-bench|build" ;;
esac
