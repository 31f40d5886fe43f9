#!/bin/sh
# Prints the path of a working uv, bringing one into .uv/ when there is none on PATH.
#
# It never touches the system Python: a private environment where the venv module works, a private
# --target directory where it does not. Both are fine with an externally managed Python.
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*" >&2; }

for candidate in "$(command -v uv || true)" "$PWD/.uv/bin/uv"; do
    if [ -n "$candidate" ] && "$candidate" --version >/dev/null 2>&1; then
        printf '%s\n' "$candidate"
        exit 0
    fi
done

python=
for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11; do
    if [ -n "$candidate" ] && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    say "Assent needs Python 3.11 or newer and found none. On Debian: apt-get install python3 python3-venv"
    exit 1
fi

into_private_venv() {
    rm -rf .uv
    "$python" -m venv .uv >/dev/null 2>&1 &&
        .uv/bin/python -m pip install --quiet --require-hashes --only-binary :all: -r scripts/requirements-uv.lock >&2
}

into_private_directory() {
    rm -rf .uv
    "$python" -m pip --version >/dev/null 2>&1 &&
        "$python" -m pip install --quiet --require-hashes --only-binary :all: --target .uv -r scripts/requirements-uv.lock >&2
}

debian_venv() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    say "The venv module is missing: installing Debian's python3-venv."
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3-venv; } \
        >/dev/null 2>&1
}

say "Bringing uv into .uv/ ..."
if into_private_venv || into_private_directory || { debian_venv && into_private_venv; }; then
    echo '*' >.uv/.gitignore
    printf '%s\n' "$PWD/.uv/bin/uv"
else
    rm -rf .uv
    say "Could not install uv. Install it yourself, or install Debian's python3-venv (or python3-pip), and try again."
    exit 1
fi
