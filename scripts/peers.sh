#!/bin/sh
# Brings the frameworks of the adapters and of the rewind into .peers/, an environment of their own; with `bench` those
# that `make bench PEERS=1` compares with, into .peers-bench/. Prints a line when it cannot.
# Versions and hashes are those of benchmarks/peers/*.lock, which `scripts/peers.sh lock` resolves anew.
set -eu
cd "$(dirname "$0")/.."

locks=benchmarks/peers
if [ -z "${UV_SYSTEM_CERTS:-}" ] && [ -s /etc/ssl/certs/ca-certificates.crt ]; then
    export UV_SYSTEM_CERTS=true
fi
export UV_LINK_MODE="${UV_LINK_MODE:-copy}"

if [ "${1:-}" = lock ]; then
    uv=$(scripts/uv.sh)
    for name in peers bench; do
        "$uv" pip compile "$locks/$name.in" --quiet --upgrade --universal --python-version 3.11 \
            --generate-hashes --no-emit-index-url --no-annotate --no-header -o "$locks/$name.lock"
    done
    exit 0
fi

if [ "${1:-}" = bench ]; then
    into=.peers-bench lock=$locks/bench.lock needing="the comparison with other frameworks"
else
    into=.peers lock=$locks/peers.lock needing="the rewind against LangGraph and the examples of the adapters"
fi

# The directory belongs to the stamp because an environment that was moved no longer works.
stamp_of() { { echo "$PWD" && cat "$lock"; } | sha256sum; }
if [ -f "$into/.stamp" ] && [ "$(cat "$into/.stamp")" = "$(stamp_of)" ]; then
    exit 0
fi

unavailable() {
    rm -rf "$into"
    echo "not run: $needing, because $1"
    exit 0
}

uv=$(scripts/uv.sh) || unavailable "uv could not be brought"
echo "Installing $lock into $into ..." >&2
"$uv" venv --quiet --clear --python '>=3.11' "$into" 2>/dev/null || unavailable "no environment could be made for it"
"$uv" pip sync --quiet --python "$into/bin/python" --require-hashes "$lock" 2>/dev/null ||
    unavailable "its packages could not be installed"
stamp_of >"$into/.stamp"
