#!/bin/sh
# Brings the reference server of the AT Protocol into .atproto/, for `make bluesky`. Versions and hashes are those of
# scripts/atproto/package-lock.json. Its database module is compiled where there is no binary of it: that needs a C++
# compiler, Python and make.
set -eu
cd "$(dirname "$0")/.."

lock=scripts/atproto/package-lock.json
if [ ! -f .atproto/.stamp ] || [ "$(cat .atproto/.stamp)" != "$(sha256sum <"$lock")" ]; then
    command -v npm >/dev/null || {
        echo "npm is not installed (Debian: apt-get install npm)" >&2
        exit 1
    }
    echo "Installing the reference server into .atproto/ (some minutes) ..." >&2
    rm -rf .atproto
    mkdir .atproto
    cp scripts/atproto/package.json "$lock" .atproto/
    (
        cd .atproto
        npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
        npm rebuild better-sqlite3 --ignore-scripts=false --foreground-scripts
    ) >.atproto/npm.log 2>&1 || {
        echo "npm could not install it (see .atproto/npm.log)" >&2
        exit 1
    }
    sha256sum <"$lock" >.atproto/.stamp
fi
cp scripts/atproto/serve.cjs .atproto/
