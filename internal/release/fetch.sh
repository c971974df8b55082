#!/usr/bin/env bash
# Downloads the checking build of a release (validate, test and retries review) and compares its SHA-256 checksum.
# usage: internal/release/fetch.sh VERSION RELEASE DIR [SHA256]
#   RELEASE is the address of the release's files. Without SHA256, the checksum is that of the release's SHA256SUMS.
# exit status: 0 DIR/stepback is there; 1 the checksum differs, nothing was written; 3 there is no such file for this machine
set -euo pipefail
version=${1#v} release=$2 dir=$3 sum=${4:-}
case $(uname -s) in Linux) system=linux ;; Darwin) system=darwin ;; MINGW* | MSYS*) system=windows ;; *) exit 3 ;; esac
case $(uname -m) in x86_64 | amd64) machine=amd64 ;; aarch64 | arm64) machine=arm64 ;; *) exit 3 ;; esac
name=stepback-checks-$version-$system-$machine archive=tar.gz exe=
if [ $system = windows ]; then archive=zip exe=.exe; fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
get() { curl -fsSL --retry 3 -o "$tmp/$1" "$release/$1" 2>/dev/null || exit 3; }
get "$name.$archive"
if [ -z "$sum" ]; then
	get SHA256SUMS
	sum=$(awk -v f="$name.$archive" '$2 == f {print $1}' "$tmp/SHA256SUMS")
fi
got=$(sha256sum "$tmp/$name.$archive" 2>/dev/null || shasum -a 256 "$tmp/$name.$archive")
got=${got%% *}
if [ "$got" != "$sum" ]; then
	echo "fetch.sh: $release/$name.$archive has the SHA-256 checksum $got, not ${sum:-one of SHA256SUMS}; nothing was installed" >&2
	exit 1
fi
if [ $archive = zip ]; then unzip -q "$tmp/$name.zip" -d "$tmp"; else tar -xzf "$tmp/$name.tar.gz" -C "$tmp"; fi
mkdir -p "$dir"
cp "$tmp/$name/stepback$exe" "$dir/"
