#!/usr/bin/env bash
# Builds a release in dist/release: archives, checksums, an SBOM, an OCI image, npm packages, wheels, install.sh, a Homebrew
# formula and a Scoop manifest. The same commit and Go version give the same bytes. It needs no network after the modules of
# the repository and of internal/release/pack are downloaded.
# usage: internal/release/build.sh [VERSION]   default: the tag v… of the commit, or else its time and hash
# TARGETS="linux/amd64 …" builds fewer systems; URL is the address at which the files will be published.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=${1:-$(internal/release/version.sh)}
version=${version#v}
url=${URL:-https://github.com/stepback/stepback/releases/download/v$version}
out=dist/release build=dist/build
at=$(TZ=UTC0 git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)
rm -rf "$out" "$build"
mkdir -p "$out" "$build"/{completions,man}
export CGO_ENABLED=0
# -buildvcs=false: the version is set below; the state of the checkout must not change the binary. -buildid= drops the hash of
# the build's inputs, which differ with unrelated settings.
compile() { go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.released=$version" "$@" ./cmd/stepback; }

go run ./internal/release/licences ./cmd/stepback >"$build/LICENCES-OF-DEPENDENCIES"
cp LICENSE README.md CHANGELOG.md "$build/"
for target in ${TARGETS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}; do
	system=${target%/*} machine=${target#*/} suffix=
	[ "$system" != windows ] || suffix=.exe
	echo "release: $version for $target"
	GOOS=$system GOARCH=$machine compile -tags lambda.norpc -o "$build/$system-$machine/stepback$suffix"
	GOOS=$system GOARCH=$machine compile -tags checks -o "$build/$system-$machine/checks/stepback$suffix"
done
host=$build/$(go env GOHOSTOS)-$(go env GOHOSTARCH)/stepback
for shell in bash zsh fish; do "$host" completion "$shell" >"$build/completions/stepback.$shell"; done
"$host" man >"$build/man/stepback.1"
(cd internal/release/pack && go build -o ../../../dist/pack .)
dist/pack -version "$version" -time "$at" -build "$build" -out "$out" -sources internal/release -url "$url"
echo "release: wrote $out"
