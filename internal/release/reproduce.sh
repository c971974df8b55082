#!/usr/bin/env bash
# Builds the commit twice, in two directories, and compares the checksums of all files. CACHES=own gives the second build a build
# cache of its own, which takes minutes. TARGETS="linux/amd64 …" compares fewer systems.
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'git worktree remove --force "$dir/copy"; rm -rf "$dir"' EXIT
git worktree add --quiet --detach "$dir/copy" HEAD
git worktree add --quiet --detach "$dir/a longer path" HEAD
trap 'git worktree remove --force "$dir/copy"; git worktree remove --force "$dir/a longer path"; rm -rf "$dir"' EXIT
"$dir/copy/internal/release/build.sh" >/dev/null
if [ "${CACHES:-}" = own ]; then export GOCACHE=$dir/cache; fi
"$dir/a longer path/internal/release/build.sh" >/dev/null
diff "$dir/copy/dist/release/SHA256SUMS" "$dir/a longer path/dist/release/SHA256SUMS"
echo "reproduced: $(wc -l <"$dir/copy/dist/release/SHA256SUMS") files have the same checksums"
