#!/bin/sh
# Brings programs that some tests drive: a browser, a model checker, a reverse proxy; prints a line for each that it cannot.
set -eu
cd "$(dirname "$0")/.."

# program, Debian package, what is not run without it
bring() {
    if command -v "$1" >/dev/null; then
        return 0
    fi
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Installing Debian's $2 ..." >&2
        { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$2"; } \
            >/dev/null 2>&1 || true
    fi
    if ! command -v "$1" >/dev/null; then
        echo "not run: $3, because $1 is missing and could not be installed (Debian: apt-get install $2)"
    fi
}

bring chromium-headless-shell chromium-headless-shell "the pages in a real browser"
bring spin spin "the model of an action's life"
bring cc gcc "the model of an action's life"

# Debian's packages would start servers, so their programs are only unpacked.
# program, Debian packages, what is not run without it
unpack() {
    if command -v "$1" >/dev/null || [ -x ".programs/usr/sbin/$1" ]; then
        return 0
    fi
    echo "Unpacking Debian's $1 ..." >&2
    rm -rf ".programs/$1" && mkdir -p ".programs/$1"
    # shellcheck disable=SC2086 # several packages
    (cd ".programs/$1" && { apt-get download $2 || { apt-get update && apt-get download $2; }; } \
        && for package in *.deb; do dpkg -x "$package" .. || exit 1; done) >/dev/null 2>&1 || true
    if [ ! -x ".programs/usr/sbin/$1" ]; then
        echo "not run: $3, because $1 is missing and could not be downloaded (Debian: apt-get install $1)"
    fi
}

unpack nginx nginx "the reverse proxy of deploy/nginx.conf"
unpack pgbouncer "pgbouncer libevent-2.1-7 libc-ares2" "the tests through a pooler"
