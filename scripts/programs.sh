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

# Debian's package would start a web server, so its program is only unpacked.
if ! command -v nginx >/dev/null && [ ! -x .programs/usr/sbin/nginx ]; then
    echo "Unpacking Debian's nginx ..." >&2
    rm -rf .programs && mkdir .programs
    (cd .programs && { apt-get download nginx || { apt-get update && apt-get download nginx; }; } && dpkg -x nginx_*.deb .) \
        >/dev/null 2>&1 || rm -rf .programs
fi
if ! command -v nginx >/dev/null && [ ! -x .programs/usr/sbin/nginx ]; then
    echo "not run: the reverse proxy of deploy/nginx.conf, because nginx is missing and could not be downloaded" \
        "(Debian: apt-get install nginx)"
fi
