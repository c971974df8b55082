#!/usr/bin/env bash
# Prints the commands that publish dist/release, and runs them with RUN=yes. They need accounts: gh, npm, twine, vsce, and an image
# registry (IMAGE=ghcr.io/you/stepback) must be logged in. The extension is published if make vsix has built it. A release without a
# tag is refused, and one with fewer than six systems.
set -euo pipefail
cd "$(dirname "$0")/../../dist/release"
version=$(sed -n 's/^version=//p' install.sh)
case $version in
*-dirty | 0.0.0-*) echo "publish: $version is not a tagged version: tag the commit, and run make release" >&2; exit 1 ;;
esac
if [ "$(ls npm-stepback-*-*-*.tgz | wc -l)" != 6 ]; then
	echo "publish: dist/release does not have all six systems: run make release without TARGETS" >&2
	exit 1
fi
sha256sum --quiet -c SHA256SUMS
vsix=()
if [ -e "stepback-$version.vsix" ]; then vsix=("stepback-$version.vsix"); fi
do_() { echo "$*"; if [ "${RUN:-}" = yes ]; then "$@"; fi; }
do_ gh release create "v$version" --generate-notes ./*.tar.gz ./*.zip ./*.cdx.json ./*.tar ./*.whl ./*.tgz install.sh stepback.rb stepback.json SHA256SUMS "${vsix[@]}"
# The packages with the binaries come first, so that nobody installs stepback without them.
for package in npm-asl-"$version".tgz npm-asl-validator-"$version".tgz npm-asl-path-validator-"$version".tgz npm-stepback-*-*-"$version".tgz npm-stepback-"$version".tgz; do do_ npm publish --access public "./$package"; done
do_ twine upload ./*.whl
do_ skopeo copy --all "oci-archive:stepback-$version-image-oci.tar" "docker://${IMAGE:-ghcr.io/stepback/stepback}:$version"
for extension in "${vsix[@]}"; do do_ npx --yes @vscode/vsce publish --packagePath "$extension"; done
echo "then copy stepback.rb to the Homebrew tap (Formula/) and stepback.json to the Scoop bucket (bucket/)"
