#!/usr/bin/env bash
# Compares Go benchmarks of a base commit with those of the working tree and prints benchstat's output. The benchmarks alternate, so
# that both run under the same conditions. The exit status does not depend on the result.
#
#   bench/compare.sh BASE [BENCH] [COUNT] [BENCHTIME] [PACKAGE…]
set -euo pipefail
cd "$(dirname "$0")/.."

base=${1:?usage: bench/compare.sh BASE [BENCH] [COUNT] [BENCHTIME] [PACKAGE...]}
bench=${2:-.}
count=${3:-6}
time=${4:-0.2s}
shift $(($# < 4 ? $# : 4))
packages=("$@")
if [ ${#packages[@]} -eq 0 ]; then
	packages=(./engine ./engine/internal/interpreter ./engine/journal/pebble ./engine/clock ./jsonvalue ./asl/jsonpath ./asl/template)
fi

benchstat=golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
go=${GO:-go}
work=$(mktemp -d)
trap 'git worktree remove --force "$work/base" 2>/dev/null || true; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/base" "$base"

# tests NAME TREE compiles the test binaries of a tree into $work/NAME.bin.
tests() {
	mkdir -p "$work/$1.bin"
	for p in "${packages[@]}"; do
		[ -d "$2/$p" ] || continue # the base may not have this package
		(cd "$2" && "$go" test -c -o "$work/$1.bin/$(echo "$p" | tr -c 'a-z0-9\n' _)" "$p")
	done
}
tests base "$work/base"
tests head "$PWD"

# run NAME TREE runs every benchmark once and appends the output to $work/NAME.txt.
run() {
	for p in "${packages[@]}"; do
		binary="$work/$1.bin/$(echo "$p" | tr -c 'a-z0-9\n' _)"
		[ -x "$binary" ] || continue
		echo "pkg: $p" >>"$work/$1.txt"
		(cd "$2/$p" && "$binary" -test.run '^$' -test.bench "$bench" -test.benchtime "$time" -test.benchmem -test.timeout 10m) >>"$work/$1.txt"
	done
}
for _ in $(seq "$count"); do
	run base "$work/base"
	run head "$PWD"
done
"$go" run "$benchstat" "base=$work/base.txt" "head=$work/head.txt"
