#!/bin/sh
# Builds the image of deploy/Containerfile as localhost/assent with buildah, without a daemon and without an image
# registry: the base image is made from Debian's packages. Debian: buildah, mmdebstrap, bubblewrap.
set -eu
cd "$(dirname "$0")/.."

for program in buildah mmdebstrap bwrap; do
    command -v "$program" >/dev/null && continue
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
            buildah mmdebstrap bubblewrap uidmap; } >/dev/null 2>&1 || true
    fi
    command -v "$program" >/dev/null || {
        echo "$program is missing. Debian: apt-get install buildah mmdebstrap bubblewrap uidmap" >&2
        exit 1
    }
done

export STORAGE_DRIVER="${STORAGE_DRIVER:-vfs}" BUILDAH_ISOLATION="${BUILDAH_ISOLATION:-chroot}"
base=localhost/assent-base
if ! buildah inspect --type image "$base" >/dev/null 2>&1; then
    echo "Making the base image ..." >&2
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$work/base.tar"
    made=$(buildah from scratch)
    buildah add --quiet "$made" "$work/base.tar" / >/dev/null
    buildah commit --quiet "$made" "$base" >/dev/null
    buildah rm "$made" >/dev/null
fi
# The certificates of this machine, because a proxy may have one of its own.
set -- --volume /etc/ssl/certs:/etc/ssl/certs:ro
if [ -f /etc/ssl/certs/ca-certificates.crt ]; then
    settings=$(mktemp)
    printf '[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n' >"$settings"
    set -- "$@" --volume "$settings:/etc/pip.conf:ro"
fi
echo "Building localhost/assent ..." >&2
buildah build --quiet --format docker --network host "$@" --build-arg "BASE=$base" -f deploy/Containerfile -t localhost/assent .
