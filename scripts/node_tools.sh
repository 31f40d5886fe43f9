#!/bin/sh
# Brings Node 22, the MCP conformance suite, the Inspector, the TypeScript clients, Claude Code, axe and a tokenizer into .node/;
# prints a line when it cannot. Versions and hashes are those of scripts/node-tools/package-lock.json.
set -eu
cd "$(dirname "$0")/.."

lock=scripts/node-tools/package-lock.json
if [ -f .node/.stamp ] && [ "$(cat .node/.stamp)" = "$(sha256sum <"$lock")" ]; then
    exit 0
fi

unavailable() {
    echo "not run: the conformance suite, the Inspector, the TypeScript clients, Claude Code, axe and the tokenizer, because $1"
    exit 0
}

command -v npm >/dev/null || unavailable "npm is not installed (Debian: apt-get install npm)"

echo "Installing the Node tools into .node/ ..." >&2
rm -rf .node
mkdir .node
cp scripts/node-tools/package.json "$lock" .node/
# No package of this set needs its install script; a Node older than 22 may run npm itself.
if ! (cd .node && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >.node/npm.log 2>&1; then
    unavailable "npm could not install them (see .node/npm.log)"
fi
sha256sum <"$lock" >.node/.stamp
