#!/usr/bin/env bash
# Builds the extension for VS Code, dist/release/stepback-VERSION.vsix, with npm's esbuild and @vscode/vsce in the versions of
# its package-lock.json.
# usage: internal/release/vsix.sh [VERSION]   a version that is not MAJOR.MINOR.PATCH, such as that of a commit, becomes 0.0.0
set -euo pipefail
cd "$(dirname "$0")/../.."
version=${1:-$(internal/release/version.sh)}
version=${version#v}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || version=0.0.0
build=dist/vscode
mkdir -p "$build" dist/release
cp -r internal/release/vscode/. LICENSE "$build"
cd "$build"
npm ci --ignore-scripts --no-audit --no-fund --loglevel error
npm test >/dev/null
sed -i "s/^  \"version\": \".*\"/  \"version\": \"$version\"/" package.json
npm run --silent package -- --out "../release/stepback-$version.vsix"
