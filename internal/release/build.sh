#!/usr/bin/env bash
# Builds static, reproducible binaries of the command for every system. It writes to dist/release: one archive per system with
# the licences of linked modules and shell completions, SHA256SUMS, and a folder for docker build.
# usage: internal/release/build.sh [VERSION]   default: the output of git describe
set -euo pipefail
cd "$(dirname "$0")/../.."
version=${1:-$(git describe --tags --always --dirty 2>/dev/null || echo devel)}
out=dist/release
rm -rf "$out"
mkdir -p "$out/docker"
go run ./internal/release/licences ./cmd/stepback >"$out/LICENCES-OF-DEPENDENCIES"
go build -tags lambda.norpc -o "$out/host-stepback" ./cmd/stepback
for shell in bash zsh fish; do "$out/host-stepback" completion "$shell" >"$out/stepback.$shell"; done
rm "$out/host-stepback"

for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
	system=${target%/*} machine=${target#*/}
	name=stepback-$version-$system-$machine
	echo "release: $name"
	mkdir -p "$out/$name/completions"
	suffix=
	[ "$system" != windows ] || suffix=.exe
	GOOS=$system GOARCH=$machine CGO_ENABLED=0 go build -trimpath -tags lambda.norpc \
		-ldflags "-s -w -X main.released=$version" -o "$out/$name/stepback$suffix" ./cmd/stepback
	cp LICENSE README.md CHANGELOG.md "$out/LICENCES-OF-DEPENDENCIES" "$out/$name/"
	cp "$out"/stepback.{bash,zsh,fish} "$out/$name/completions/"
	if [ "$system" = linux ]; then
		mkdir -p "$out/docker/$machine"
		cp "$out/$name/stepback" "$out/docker/$machine/"
	fi
	# Make archives reproducible: no owner, and the commit's time for all files.
	tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="$(git log -1 --format=%cI)" -C "$out" -cf - "$name" |
		gzip -9n >"$out/$name.tar.gz"
	rm -r "${out:?}/$name"
done
rm "$out"/stepback.{bash,zsh,fish}
mkdir -p "$out/docker/data" && touch "$out/docker/data/.keep"
cp internal/release/Dockerfile "$out/LICENCES-OF-DEPENDENCIES" LICENSE "$out/docker/"
(cd "$out" && sha256sum -- *.tar.gz >SHA256SUMS)
echo "release: wrote $out; build an image with: docker buildx build --platform linux/amd64,linux/arm64 -t stepback:$version $out/docker"
