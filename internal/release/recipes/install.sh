#!/bin/sh
# Installs stepback @VERSION@: downloads the archive for this machine, compares its SHA-256 checksum, and copies the command.
# usage: install.sh [--to DIR] [--checks]
#   --to DIR   directory of the command; default ~/.local/bin
#   --checks   install the build with validate, test and retries review only
# STEPBACK_RELEASE is the address of the release's files, such as file:///downloads.
set -eu
version=@VERSION@
release=${STEPBACK_RELEASE:-@URL@}
to= name=stepback
while [ $# -gt 0 ]; do
	case $1 in
	--to) to=${2:?"install.sh: --to needs a directory"}; shift ;;
	--checks) name=stepback-checks ;;
	*) echo "install.sh: unknown argument $1; usage: install.sh [--to DIR] [--checks]" >&2; exit 2 ;;
	esac
	shift
done
if [ -z "$to" ]; then
	if [ -z "${HOME:-}" ]; then echo "install.sh: HOME is not set: pass --to DIR" >&2; exit 2; fi
	to=$HOME/.local/bin
fi
existing=$to
while [ ! -e "$existing" ]; do existing=$(dirname "$existing"); done
if [ ! -d "$existing" ] || [ ! -w "$existing" ]; then echo "install.sh: $existing is not a directory that you can write to: pass --to DIR" >&2; exit 1; fi
system=$(uname -s) machine=$(uname -m)
case $system in
Linux) system=linux ;;
Darwin) system=darwin ;;
*) echo "install.sh: there is no archive for $system; on Windows use Scoop or npm, elsewhere build from source with Go" >&2; exit 1 ;;
esac
case $machine in
x86_64 | amd64) machine=amd64 ;;
aarch64 | arm64) machine=arm64 ;;
*) echo "install.sh: there is no archive for $machine: build from source with Go" >&2; exit 1 ;;
esac
# The checksums are part of this script, so that a changed server cannot change them.
case $name-$system-$machine in
stepback-linux-amd64) sum=@SHA256:stepback-@VERSION@-linux-amd64.tar.gz@ ;;
stepback-linux-arm64) sum=@SHA256:stepback-@VERSION@-linux-arm64.tar.gz@ ;;
stepback-darwin-amd64) sum=@SHA256:stepback-@VERSION@-darwin-amd64.tar.gz@ ;;
stepback-darwin-arm64) sum=@SHA256:stepback-@VERSION@-darwin-arm64.tar.gz@ ;;
stepback-checks-linux-amd64) sum=@SHA256:stepback-checks-@VERSION@-linux-amd64.tar.gz@ ;;
stepback-checks-linux-arm64) sum=@SHA256:stepback-checks-@VERSION@-linux-arm64.tar.gz@ ;;
stepback-checks-darwin-amd64) sum=@SHA256:stepback-checks-@VERSION@-darwin-amd64.tar.gz@ ;;
stepback-checks-darwin-arm64) sum=@SHA256:stepback-checks-@VERSION@-darwin-arm64.tar.gz@ ;;
esac
archive=$name-$version-$system-$machine
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if command -v curl >/dev/null; then
	curl -fsSL -o "$dir/archive" "$release/$archive.tar.gz"
elif command -v wget >/dev/null; then
	wget -q -O "$dir/archive" "$release/$archive.tar.gz"
else
	echo "install.sh: neither curl nor wget is installed" >&2
	exit 1
fi
if command -v sha256sum >/dev/null; then
	got=$(sha256sum "$dir/archive")
else
	got=$(shasum -a 256 "$dir/archive")
fi
got=${got%% *}
if [ "$got" != "$sum" ]; then
	echo "install.sh: $release/$archive.tar.gz has the SHA-256 checksum $got, not $sum; nothing was installed" >&2
	exit 1
fi
tar -xzf "$dir/archive" -C "$dir"
mkdir -p "$to"
cp "$dir/$archive/stepback" "$to/stepback.new"
chmod 755 "$to/stepback.new"
mv "$to/stepback.new" "$to/stepback"
echo "install.sh: installed $("$to/stepback" --version) as $to/stepback"
case :$PATH: in
*":$to:"*) ;;
*) echo "install.sh: $to is not in PATH" ;;
esac
