#!/bin/sh
# Brings the peers that benchmarks compare with, and the frameworks of the adapters, into .peers/, an environment of their own; prints a line when it cannot.
# Versions and hashes are those of benchmarks/peers/peers.lock, which `scripts/peers.sh lock` resolves anew.
set -eu
cd "$(dirname "$0")/.."

asked=benchmarks/peers/peers.in
lock=benchmarks/peers/peers.lock
if [ -z "${UV_SYSTEM_CERTS:-}" ] && [ -s /etc/ssl/certs/ca-certificates.crt ]; then
    export UV_SYSTEM_CERTS=true
fi
export UV_LINK_MODE="${UV_LINK_MODE:-copy}"

if [ "${1:-}" = lock ]; then
    exec "$(scripts/uv.sh)" pip compile "$asked" --quiet --upgrade --universal --python-version 3.11 \
        --generate-hashes --no-emit-index-url --no-annotate --no-header -o "$lock"
fi

# The directory belongs to the stamp because an environment that was moved no longer works.
stamp_of() { { echo "$PWD" && cat "$lock"; } | sha256sum; }
if [ -f .peers/.stamp ] && [ "$(cat .peers/.stamp)" = "$(stamp_of)" ]; then
    exit 0
fi

unavailable() {
    rm -rf .peers
    echo "not run: the rewind against LangGraph and the examples of the adapters, because $1"
    exit 0
}

uv=$(scripts/uv.sh) || unavailable "uv could not be brought"
echo "Installing $lock into .peers ..." >&2
"$uv" venv --quiet --clear --python '>=3.11' .peers 2>/dev/null || unavailable "no environment could be made for it"
"$uv" pip sync --quiet --python .peers/bin/python --require-hashes "$lock" 2>/dev/null ||
    unavailable "its packages could not be installed"
stamp_of >.peers/.stamp
