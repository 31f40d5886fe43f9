#!/bin/sh
# Makes .venv hold exactly what a lock file pins, and the packages of this repository.
#
#   scripts/environment.sh runtime    what the server needs
#   scripts/environment.sh dev        that, and everything the tests and checks need
#
# A stamp inside .venv makes the second run a no-op. A development environment also satisfies "runtime".
set -eu
cd "$(dirname "$0")/.."

case "${1:-}" in
    runtime) lock=requirements.lock ;;
    dev) lock=requirements-dev.lock ;;
    *)
        echo "usage: scripts/environment.sh runtime|dev" >&2
        exit 2
        ;;
esac

# The directory belongs to the stamp because an environment that was moved no longer works.
stamp_of() { { echo "$1 $PWD" && cat pyproject.toml packages/*/pyproject.toml requirements.lock requirements-dev.lock; } | { sha256sum 2>/dev/null || cksum; }; }

stamp=.venv/.assent-stamp
if [ -x .venv/bin/assent ] && [ -f "$stamp" ] && .venv/bin/python -c '' 2>/dev/null; then
    for kind in dev "$1"; do
        if [ "$(cat "$stamp")" = "$(stamp_of "$kind")" ]; then
            exit 0
        fi
    done
fi

uv=$(scripts/uv.sh)
if [ -z "${UV_SYSTEM_CERTS:-}" ] && [ -s /etc/ssl/certs/ca-certificates.crt ]; then
    export UV_SYSTEM_CERTS=true # a proxy's certificate is in the system's store, not in uv's
fi
# Environments often lie on another file system than the cache, where hard links only cost a warning.
export UV_LINK_MODE="${UV_LINK_MODE:-copy}"

rm -f "$stamp"
if ! .venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    "$uv" venv --quiet --clear --python '>=3.11' .venv
fi
echo "Installing $lock into .venv ..." >&2
"$uv" pip sync --quiet --python .venv/bin/python --require-hashes "$lock"
editable="--editable ."
for project in packages/*/pyproject.toml; do
    editable="$editable --editable ${project%/pyproject.toml}"
done
# shellcheck disable=SC2086 # a word for each option
"$uv" pip install --quiet --python .venv/bin/python --no-deps $editable
stamp_of "$1" >"$stamp"
