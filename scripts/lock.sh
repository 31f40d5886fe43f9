#!/bin/sh
# Resolves what the packages need into the two hash-pinned lock files. The second is held to the first, so that the
# tests run on the very versions a user gets. Neither names where packages come from.
set -eu
cd "$(dirname "$0")/.."

uv=$(scripts/uv.sh)
if [ -z "${UV_SYSTEM_CERTS:-}" ] && [ -s /etc/ssl/certs/ca-certificates.crt ]; then
    export UV_SYSTEM_CERTS=true
fi

compile() {
    # shellcheck disable=SC2046 # one option for each package
    "$uv" pip compile pyproject.toml $(printf -- '--no-emit-package assent-%s ' $(ls packages)) --quiet --upgrade --universal --python-version 3.11 --all-extras \
        --generate-hashes --no-emit-index-url --no-annotate --no-header "$@"
}

compile -o requirements.lock
compile --group dev --constraint requirements.lock -o requirements-dev.lock
