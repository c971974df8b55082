#!/usr/bin/env bash
# Changes the module path to MODULE and builds all packages.
# usage: internal/release/publish-as.sh MODULE [DIR]   Rewrites a copy in DIR, or this checkout if DIR is omitted.
set -euo pipefail
cd "$(dirname "$0")/../.."
module=${1:?"usage: internal/release/publish-as.sh github.com/you/stepback [DIR]"}
into=${2:-.}
if [ "$into" != . ]; then
	mkdir -p "$into"
	if [ -n "$(ls -A "$into")" ]; then
		echo "publish-as: $into is not empty" >&2
		exit 1
	fi
	git ls-files -z --cached --others --exclude-standard | tar --null --files-from=- -cf - | tar -xf - -C "$into"
fi
go run ./internal/release/publish -module "$module" -dir "$into"
cd "$into"
echo "publish-as: building $module"
go build ./...
(cd cdk && go list ./... >/dev/null)
echo "publish-as: done. Commit, tag a version and push; then go get $module works."
