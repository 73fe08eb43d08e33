#!/usr/bin/env bash
# Runs the conformance suite of the Model Context Protocol against target/release/hermes-host, whose tools are the guest beside this
# file. baseline.yml says what is not served; anything else that fails, and anything in there that passes, fails the run.
#
#   run.sh [REVISION...]        2025-11-25 and 2026-07-28 unless some are named
#
# The suite and the Node that it needs are installed into target/conformance, by suite/package-lock.json, which pins both. What the
# suite says is kept there too, one log for each revision.
set -euo pipefail
cd "$(dirname "$0")/../.."

revisions=("$@")
[ $# -gt 0 ] || revisions=(2025-11-25 2026-07-28)

here=tests/conformance
suite=target/conformance
host=target/release/hermes-host
# Comes and goes while the suite listens for changes.
other=target/examples/hello.wasm

say() { printf 'conformance: %s\n' "$*"; }
fail() { printf 'conformance: %s\n' "$*" >&2; exit 1; }

# Scenarios that no revision scores, because the suite's own example server can't pass them or because they came later. They are about
# tools all the same, and here they count.
unscored() {
    echo json-schema-2020-12
    case "$1" in
        2025-11-25) echo server-session-lifecycle ;;
        2026-07-28) echo http-header-validation http-custom-header-server-validation ;;
    esac
}

install() {
    cmp -s "$here/suite/package-lock.json" "$suite/installed.json" && return
    command -v npm >/dev/null || fail "npm is not here; install Node and try again"
    say "installing the suite (a minute)"
    mkdir -p "$suite"
    cp "$here"/suite/package*.json "$suite/"
    # The suite asks for a newer Node than npm may run with; it gets its own.
    (cd "$suite" && npm ci --silent --no-audit --no-fund --ignore-scripts --engine-strict=false)
    cp "$here/suite/package-lock.json" "$suite/installed.json"
}

# The Node that the suite asks for, where it could be installed.
run_node() {
    local node="$suite/node_modules/.bin/node"
    [ -x "$node" ] || node=node
    "$node" "$@"
}

run_suite() {
    run_node "$suite/node_modules/@modelcontextprotocol/conformance/dist/index.js" server --url "$url" "$@"
}

work=$(mktemp -d)
pids=()
end() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait
    rm -rf "$work"
}
trap end EXIT

# Waits until a log of process $1 names an address.
address() {
    for _ in $(seq 600); do
        url=$(sed -n 's|.*\(http://127\.0\.0\.1:[0-9]*/mcp\).*|\1|p' "$2")
        [ -z "$url" ] || return 0
        kill -0 "$1" 2>/dev/null || { cat "$2" >&2; fail "the host did not start"; }
        sleep 0.1
    done
    fail "no address was said; see $2"
}

# Starts the host with the guest, which may ask and may write to its workspace, and what adds its token to the suite's requests.
serve() {
    mkdir "$work/tools" "$work/workspace"
    cp target/probes/conformance.wasm "$work/tools/"
    # They are read before their writers may have made them.
    : >"$suite/host.log"
    : >"$suite/token.log"
    local places=(--home "$work/home" --tools "$work/tools" --config "$work/hermes.toml")
    "$host" grant conformance --ask --write "$work/workspace" "${places[@]}" >/dev/null
    env -u HERMES_HOST_TOKEN "$host" run --http 127.0.0.1:0 --workspace "$work/workspace" "${places[@]}" >"$suite/host.log" 2>&1 &
    pids+=($!)
    address $! "$suite/host.log"
    HERMES_HOST_TOKEN=$(cat "$work/home/token") run_node "$here/with-token.mjs" "$url" >"$suite/token.log" 2>&1 &
    pids+=($!)
    address $! "$suite/token.log"
}

# What the tool test_trigger_tool_change can't do itself: it leaves a file, and then somebody changes the tools folder.
follow() {
    while sleep 0.05; do
        [ -e "$work/workspace/trigger" ] || continue
        rm -f "$work/workspace/trigger"
        if [ -e "$work/tools/other.wasm" ]; then
            rm "$work/tools/other.wasm"
        else
            cp "$other" "$work/other.new"
            mv "$work/other.new" "$work/tools/other.wasm"
        fi
    done
}

# One revision: what it requires, then what it does not score.
check() {
    local revision=$1 log="$suite/$1.log" failed=0
    rm -rf "$suite/results/$revision"
    run_suite --requirements "$revision" --expected-failures "$here/baseline.yml" -o "$suite/results/$revision" >"$log" 2>&1 ||
        failed=1
    say "$revision, as required:"
    # Without its colours.
    sed -n '/^=== SUMMARY ===$/,$p' "$log" | sed $'1d;s/\x1b\\[[0-9;]*m//g'
    say "$revision, about tools and not scored:"
    for scenario in $(unscored "$revision"); do
        if run_suite --scenario "$scenario" --spec-version "$revision" >"$log.one" 2>&1; then
            say "  ✓ $scenario"
        else
            failed=1
            say "  ✗ $scenario"
        fi
        cat "$log.one" >>"$log"
        rm "$log.one"
    done
    [ "$failed" = 0 ] || say "$revision failed; all that was said is in $log"
    return "$failed"
}

[ -x "$host" ] || fail "$host is not built; run make build"
[ -f "$other" ] || fail "$other is not built; run make tools"
install
serve
follow &
pids+=($!)
failed=()
for revision in "${revisions[@]}"; do check "$revision" || failed+=("$revision"); done
[ ${#failed[@]} = 0 ] || fail "failed: ${failed[*]}"
say "passed: ${revisions[*]}"
