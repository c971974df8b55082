#!/usr/bin/env bash
# Gives the module the path that its owner publishes it by, and builds everything under it.
# usage: internal/release/publish-as.sh MODULE [DIR]   DIR gets a copy of the repository; without it, this one is rewritten.
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
