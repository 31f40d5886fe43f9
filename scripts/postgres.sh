#!/bin/sh
# Brings the PostgreSQL server programs the store tests start for themselves; prints a line when it cannot.
set -eu

present() {
    command -v initdb >/dev/null && command -v postgres >/dev/null && return 0
    for bin in /usr/lib/postgresql/*/bin /usr/local/pgsql/bin /opt/homebrew/opt/postgresql*/bin; do
        [ -x "$bin/initdb" ] && [ -x "$bin/postgres" ] && return 0
    done
    return 1
}

if present; then
    exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Debian's postgresql ..." >&2
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql; } \
        >/dev/null 2>&1 || true
fi
if ! present; then
    echo "not run: the tests on PostgreSQL, because its server programs are missing and could not be installed" \
        "(Debian: apt-get install postgresql)"
fi
