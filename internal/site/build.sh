#!/usr/bin/env bash
# Builds the documentation as a static site in dist/site: the repository's pages, with search, and a page that checks
# definitions in the browser. The site needs no server besides one for files, and no network.
# usage: internal/site/build.sh   BASE=/stepback/ if it will not be at the root; REPOSITORY is where links to code lead
set -euo pipefail
cd "$(dirname "$0")/../.."
repository=${REPOSITORY:-https://github.com/stepback/stepback}
work=dist/site-work
rm -rf "$work" dist/site
mkdir -p "$work/.vitepress/theme" dist/build
if [ ! -f "${WASM:-}" ]; then
	WASM=dist/build/asl.wasm
	CGO_ENABLED=0 GOOS=js GOARCH=wasm go build -trimpath -ldflags "-s -w -buildid=" -o "$WASM" ./cmd/asl-wasm
fi
cp internal/site/{config,pages}.mjs "$work/.vitepress/"
cp internal/site/theme.mjs "$work/.vitepress/theme/index.mjs"
cp internal/site/package.json internal/site/package-lock.json "$work/"
if [ -d internal/site/node_modules ]; then
	ln -s "$PWD/internal/site/node_modules" "$work/node_modules"
else
	(cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --loglevel error)
fi
node internal/site/prepare.mjs . "$work" "$WASM" "$(go env GOROOT)/lib/wasm/wasm_exec.js" "$repository"
(cd "$work" && npx vitepress build . --outDir ../site)
echo "site: wrote dist/site"
