#!/usr/bin/env bash
# Prints the version of the checkout: its tag without v, or else 0.0.0 with the commit's time and hash, which sorts below every
# tag. Changes that are not committed add -dirty.
set -euo pipefail
cd "$(dirname "$0")/../.."
dirty=
[ -z "$(git status --porcelain --untracked-files=no)" ] || dirty=-dirty
tag=$(git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null || true)
if [ -n "$tag" ]; then
	echo "${tag#v}$dirty"
else
	echo "$(TZ=UTC0 git log -1 --date=format-local:0.0.0-%Y%m%d%H%M%S --format=%cd)-$(git rev-parse --short=12 HEAD)$dirty"
fi
