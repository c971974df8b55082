#!/usr/bin/env bash
# Installs each channel of dist/release in an empty directory, without a network, and runs validate and one execution at
# serve from it. Build the release first (make release). Channels whose tool is missing are named and skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."
release=$PWD/dist/release
version=$(sed -n 's/^version=//p' "$release/install.sh")
machine=$(go env GOHOSTARCH) system=$(go env GOHOSTOS)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
repository=$PWD
cd "$dir"
unset PYTHONPATH NODE_PATH

cat >good.asl.json <<'J'
{"StartAt": "Charge", "States": {"Charge": {"Type": "Task",
 "Resource": "arn:aws:lambda:us-east-1:000000000000:function:none",
 "Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": 1}],
 "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Failed"}], "End": true}, "Failed": {"Type": "Succeed"}}}
J
echo '{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"}}}' >bad.asl.json
failed=0
ok() { printf '  %-12s ok, %s\n' "$1" "$2"; }
bad() { printf '  %-12s FAILED: %s\n' "$1" "$2" >&2; failed=1; }

# validates COMMAND…: accepts the good definition and refuses the bad one with status 3.
validates() {
	("$@" validate good.asl.json) >out.txt 2>&1 || { cat out.txt; return 1; }
	local status=0
	("$@" validate bad.asl.json) >out.txt 2>&1 || status=$?
	[ "$status" = 3 ] || { cat out.txt; return 1; }
}

# serves COMMAND…: starts serve and asks for its state machines.
serves() {
	local address= status=1 data
	data=$(mktemp -d -p "$dir")
	"$@" serve --listen 127.0.0.1:0 --data "${SERVE_DATA:-$data}" >serve.txt 2>&1 &
	local process=$!
	for _ in $(seq 600); do
		kill -0 "$process" 2>/dev/null || break
		address=$(sed -n 's/.*serving on \(http:[^ ]*\).*/\1/p' serve.txt)
		[ -z "$address" ] || break
		sleep 0.1
	done
	if curl -fsS -X POST -H 'X-Amz-Target: AWSStepFunctions.ListStateMachines' -H 'Content-Type: application/x-amz-json-1.0' \
		-d '{}' "$address/" 2>&1 | grep -q '"stateMachines":\[\]'; then status=0; else cat serve.txt; fi
	kill "$process" && wait "$process" || true
	return $status
}

# check NAME COMMAND…: validates and serves, and prints how long the first validation took.
check() {
	local name=$1 began; shift
	began=$(date +%s%N)
	if validates "$@" && serves "$@"; then ok "$name" "validate and serve, $((($(date +%s%N) - began) / 1000000)) ms"; else bad "$name" "$*"; fi
}

echo "trial of stepback $version on $system/$machine"
(cd "$release" && sha256sum --quiet -c SHA256SUMS) && ok sums "$(wc -l <"$release/SHA256SUMS") files"

mkdir archive && tar -xzf "$release/stepback-$version-$system-$machine.tar.gz" -C archive --strip-components 1
check archive archive/stepback
[ -s archive/man/stepback.1 ] && [ -s archive/completions/stepback.bash ] && [ -s archive/LICENCES-OF-DEPENDENCIES ] || bad archive "a file is missing"
[[ $(archive/stepback --version) == "stepback $version"* ]] || bad archive "$(archive/stepback --version)"

STEPBACK_RELEASE=file://$release HOME=$dir/home sh "$release/install.sh" >out.txt && check install.sh home/.local/bin/stepback
STEPBACK_RELEASE=file://$release sh "$release/install.sh" --checks --to "$dir/checks" >out.txt
if validates checks/stepback; then ok checks "validate"; else bad checks "validate"; fi
mkdir broken && cp "$release/stepback-$version-$system-$machine.tar.gz" broken/ && printf x >>"broken/stepback-$version-$system-$machine.tar.gz"
if STEPBACK_RELEASE=file://$dir/broken sh "$release/install.sh" --to "$dir/never" >out.txt 2>&1 || [ -e never ]; then
	bad install.sh "installs a damaged archive"
else ok install.sh "refuses a damaged archive"; fi

# Without write access to HOME and the current directory.
if [ "$system" = linux ] && [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	mkdir -m 755 readonly && cp good.asl.json bad.asl.json readonly/ && chmod 755 "$dir"
	poor() { cd readonly && exec env HOME=/nonexistent setpriv --reuid 65532 --regid 65532 --clear-groups "$dir/archive/stepback" "$@"; }
	if validates poor && SERVE_DATA=memory serves poor; then ok home "validate and serve without write access"; else bad home "without write access"; fi
	if (poor serve --listen 127.0.0.1:0) >out.txt 2>&1 || ! grep -q 'permission denied.*--data' out.txt; then cat out.txt; bad home "the default data directory"; else ok home "names the data directory"; fi
	mkdir -m 555 closed
	cp "$release/install.sh" script.sh
	if HOME=$dir/closed STEPBACK_RELEASE=file://$release setpriv --reuid 65532 --regid 65532 --clear-groups sh script.sh >out.txt 2>&1 || ! grep -q -- '--to' out.txt; then cat out.txt; bad install.sh "without write access to HOME"; else ok install.sh "names a HOME without write access"; fi
fi
mkdir unames && printf '#!/bin/sh\ncase $1 in -s) echo Plan9 ;; *) echo mips ;; esac\n' >unames/uname && chmod 755 unames/uname
if PATH=$dir/unames:$PATH STEPBACK_RELEASE=file://$release sh "$release/install.sh" --to "$dir/never" >out.txt 2>&1 || ! grep -q 'build from source' out.txt; then cat out.txt; bad install.sh "on another system"; else ok install.sh "names a system without a binary"; fi

# What the GitHub action, the GitLab job and the pre-commit hook run.
fetch=$repository/internal/release/fetch.sh annotate=$repository/internal/release/annotate.sh
if "$fetch" "v$version" "file://$release" fetched && validates fetched/stepback; then ok action "fetches by checksum and validates"; else bad action "fetch.sh"; fi
status=0; "$fetch" "$version" "file://$release" other 0000 2>out.txt || status=$?
if [ $status = 1 ] && [ ! -e other ]; then ok action "refuses another checksum"; else bad action "status $status for another checksum"; fi
status=0; "$fetch" 0.0.1 "file://$release" other || status=$?
[ $status = 3 ] || bad action "status $status without a release"
if command -v jq >/dev/null; then
	fetched/stepback validate bad.asl.json --json | "$annotate" >out.txt || true
	if grep -q '^::error file=bad.asl.json,line=1,col=' out.txt; then ok action "annotates: $(head -1 out.txt)"; else cat out.txt; bad action annotations; fi
fi

# A repository with 50 definitions, their tests, and one definition that AWS would refuse.
mkdir -p project/definitions && cp bad.asl.json project/definitions/
for i in $(seq 50); do
	cp good.asl.json "project/definitions/order$i.asl.json"
	printf 'definition: order%s.asl.json\ntests:\n  - {name: pays, input: {}, mocks: {Charge: [{return: {}}]}, expect: {status: SUCCEEDED}}\n' "$i" >"project/definitions/order$i.test.yaml"
done
if command -v ruby >/dev/null; then
	standins=$repository/internal/release/standins.rb
	# GitHub's runner. The action fails for the definition, annotates it, and writes its files.
	began=$(date +%s%N) status=0
	(cd project && ruby "$standins" action "$repository" "v$version" "release=file://$release") >out.txt 2>&1 || status=$?
	took=$((($(date +%s%N) - began) / 1000000))
	if [ $status = 1 ] && grep -q 'failed Validate' out.txt && grep -q 'passed Test' out.txt && grep -q 'skipped actions/setup-go' out.txt &&
		[ "$(grep -c '^::error file=definitions/bad.asl.json,line=1,col=' out.txt)" = 2 ] && [ "$(grep -c '<testcase ' project/stepback-tests.xml)" = 50 ] &&
		grep -q '"ruleId": "MISSING_TRANSITION_TARGET"' project/stepback.sarif; then
		ok action "fails, annotates and writes SARIF and JUnit for 50 definitions in $took ms"
	else cat out.txt; bad action "the runner"; fi
	if (cd project && rm definitions/bad.asl.json && ruby "$standins" action "$repository" 0123456789abcdef "release=file://$release" "version=$version") >out.txt 2>&1; then
		ok action "passes without it, at a commit"
	else cat out.txt; bad action "without the definition"; fi
	cp bad.asl.json project/definitions/

	# GitLab's job, as docs/install.md has it.
	status=0
	(cd project && STEPBACK_RELEASE=file://$release ruby "$standins" gitlab "$repository/docs/install.md" "file://$release" "$dir/gitlab") >out.txt 2>&1 || status=$?
	if [ $status != 0 ] && grep -q '"check_name": "MISSING_TRANSITION_TARGET"' project/review.json && [ "$(grep -c '<testcase ' project/tests.xml)" = 50 ]; then
		ok gitlab "the job of the documentation fails, with its reports"
	else cat out.txt; bad gitlab "status $status"; fi

	if ruby "$standins" brew "$release/stepback.rb" "$release" "$dir/brew" >out.txt 2>&1 && [ -s brew/share/man/man1/stepback.1 ] &&
		grep -q '^#compdef stepback' brew/share/zsh/site-functions/_stepback; then check brew brew/bin/stepback; else cat out.txt; bad brew "the formula"; fi
else echo "  action       skipped, with gitlab and the formula's installation: they need Ruby"; fi

if command -v pre-commit >/dev/null; then
	mkdir hooks && cp "$repository/.pre-commit-hooks.yaml" hooks/
	for r in hooks project; do
		git -C $r init -q && git -C $r add . && git -C $r -c user.name=trial -c user.email=trial@localhost commit -qm trial
	done
	printf 'repos:\n- repo: %s\n  rev: %s\n  hooks: [{id: stepback-validate}, {id: stepback-review}, {id: stepback-test}]\n' "$dir/hooks" "$(git -C hooks rev-parse HEAD)" >project/.pre-commit-config.yaml
	hooks() { (cd project && git add . && PATH=$dir/archive:$PATH PRE_COMMIT_HOME=$dir/pre-commit pre-commit run --all-files --color never) >out.txt 2>&1; }
	if ! hooks && grep -q 'stepback validate\.*Failed' out.txt && grep -q 'MISSING_TRANSITION_TARGET' out.txt && grep -q 'stepback test\.*Passed' out.txt &&
		rm project/definitions/bad.asl.json && hooks; then ok pre-commit "the hooks fail and pass"; else cat out.txt; bad pre-commit "the hooks"; fi
else echo "  pre-commit   skipped: it is not installed"; fi

# What Homebrew and Scoop download is compared with what they expect.
sums() {
	local all=0 url sum
	while read -r url sum; do
		local file=$release/${url##*/}
		if [ ! -e "$file" ] && [ -z "$sum" ]; then continue; fi # this build has fewer targets
		[ "$(sha256sum <"$file")" = "$sum  -" ] || return 1
		all=$((all + 1))
	done
	[ "$all" -gt 0 ] && echo "$all checksums"
}
if n=$(tr -d '",' <"$release/stepback.rb" | awk '$1=="url" {u=$2} $1=="sha256" {print u, $2}' | sums); then ok brew "$n"; else bad brew "checksums"; fi
cat >scoop.py <<'J'
import json, os, sys, zipfile
manifest = json.load(open(f"{sys.argv[1]}/stepback.json"))
for machine in manifest["architecture"].values():
    with zipfile.ZipFile(f"{sys.argv[1]}/{os.path.basename(machine['url'])}") as z:
        assert z.read(f"{machine['extract_dir']}/{manifest['bin']}")[:2] == b"MZ"
J
if [ ! -e "$release/stepback-$version-windows-amd64.zip" ] || [ ! -e "$release/stepback-$version-windows-arm64.zip" ]; then
	echo "  scoop        skipped: this build lacks an archive for Windows"
elif n=$(tr -d '",' <"$release/stepback.json" | awk '$1=="url:" {u=$2} $1=="hash:" {print u, $2}' | sums) && python3 scoop.py "$release"; then
	ok scoop "$n, with the program in its directory"
else bad scoop "checksums or directories"; fi

# The image as its user, in a chroot.
if [ "$system" = linux ] && [ "$(id -u)" = 0 ]; then
	mkdir image root && tar -xf "$release/stepback-$version-image-docker-$machine.tar" -C image
	python3 -c 'import json; print("\n".join(json.load(open("image/manifest.json"))[0]["Layers"]))' |
		while read -r layer; do tar -xzf "image/$layer" -C root --same-owner; done
	cp good.asl.json bad.asl.json root/data/ && chmod 755 "$dir"
	image() { chroot --userspec=65532:65532 root /stepback "$@"; }
	in_root() { local verb=$1; shift; case $verb in validate) image validate "/data/$1" ;; *) exec chroot --userspec=65532:65532 root /stepback "$verb" "$@" ;; esac; }
	SERVE_DATA=/data check image in_root
	tar -tf "$release/stepback-$version-image-oci.tar" index.json oci-layout >out.txt || bad image "the OCI layout"
else echo "  image        skipped: needs Linux and root"; fi

if command -v npm >/dev/null; then
	mkdir npm && cp good.asl.json bad.asl.json npm/ && cd npm && echo '{"private": true}' >package.json
	arch=$(node -p process.arch) platform=$(node -p process.platform)
	began=$(date +%s%N)
	npm install --offline --ignore-scripts --no-audit --no-fund --loglevel error "$release/npm-stepback-$version.tgz" "$release/npm-stepback-$platform-$arch-$version.tgz" >out.txt 2>&1 || cat out.txt
	echo "  npm          installed in $((($(date +%s%N) - began) / 1000000)) ms"
	check npm node_modules/.bin/stepback
	cat >run.mjs <<'J'
import assert from "node:assert";
import fs from "node:fs";
import { start } from "stepback";
import * as matchers from "stepback/expect";
const sb = await start();
const x = await sb.run(fs.readFileSync("good.asl.json", "utf8"), { id: 7 });
assert.equal(x.status, "SUCCEEDED");
assert.equal(x.attempts("Charge"), 2);
assert.equal(x.waits("Charge").length, 1);
assert.ok(x.waits("Charge")[0] >= 0.9, `waits ${x.waits("Charge")}`);
assert.ok(matchers.toHaveAttempts(x, "Charge", 2).pass && matchers.toHaveWaits(x, "Charge", [1], { tolerance: 10 }).pass);
assert.match(matchers.toHaveAttempts(x, "Charge", 3).message(), /attempted 2 times; expected 3/);
assert.ok(!matchers.toHaveWaits(x, "Charge", [1, 2]).pass && !matchers.toHaveFailed(x).pass);
assert.ok(matchers.toHaveSucceeded.call({ equals: () => true }, x, x.output).pass);
assert.throws(() => matchers.toHaveFailed(7), TypeError);
await assert.rejects(sb.call("DescribeExecution", { executionArn: x.arn + "x" }), { name: "ExecutionDoesNotExist" });
await sb.stop();

// In virtual time, hours pass at once; a seed repeats the jitter of each run, in every server.
const slow = JSON.parse(fs.readFileSync("good.asl.json", "utf8"));
slow.States.Charge.Retry = [{ ErrorEquals: ["States.ALL"], IntervalSeconds: 3600, MaxAttempts: 2, JitterStrategy: "FULL" }];
const drawn = async (seed) => {
  const fast = await start({ virtualTime: true, seed });
  const runs = await Promise.all([fast.run(slow), fast.run(slow)]);
  await fast.stop();
  assert.ok(matchers.toHaveWaits(runs[0], "Charge", [[0, 3600], [0, 7200]]).pass);
  return runs.map((x) => x.waits("Charge"));
};
const first = await drawn(7);
// Timestamps are whole milliseconds, so waits round up or down with the time of the start.
const alike = (a, b) => a.flat().every((wait, i) => Math.abs(wait - b.flat()[i]) < 0.0025);
assert.ok(alike(await drawn(7), first));
assert.ok(!alike([first[0]], [first[1]]));
assert.ok(!alike(await drawn(8), first));
delete slow.States.Charge.Retry[0].JitterStrategy;
const exact = await start({ virtualTime: true });
const y = await exact.run(slow);
assert.ok(matchers.toHaveWaits(y, "Charge", [3600, 7200]).pass && !matchers.toHaveWaits(y, "Charge", [3599.9, 7200]).pass, `waits ${y.waits("Charge")}`);
await exact.stop();
// On a scaled clock, a minute passes in each second.
const minute = JSON.parse(fs.readFileSync("good.asl.json", "utf8"));
minute.States.Charge.Retry = [{ ErrorEquals: ["States.ALL"], IntervalSeconds: 60, MaxAttempts: 1 }];
const scaled = await start({ timeScale: 60 });
const before = performance.now();
const z = await scaled.run(minute);
assert.ok(matchers.toHaveWaits(z, "Charge", [60], { tolerance: 600 }).pass && z.timeScale === 60, `waits ${z.waits("Charge")}`);
assert.ok(performance.now() - before >= 1000);
await scaled.stop();
await assert.rejects(start({ timeScale: 0 }), { name: "TypeError", message: "timeScale is a number from 0.01 to 3600, not 0" });
await assert.rejects(start({ timeScale: 60, virtualTime: true }), { name: "TypeError", message: /not both/ });
await assert.rejects(start({ seed: 0 }), { name: "TypeError", message: "seed is an integer from 1, not 0" });
await assert.rejects(start({ seed: 1, data: "d" }), { name: "TypeError", message: /leave out data/ });
assert.ok(!fs.existsSync("memory"));
J
	if node run.mjs; then ok npm "start and run"; else bad npm "start and run"; fi
	# names DESCRIPTION PATTERN COMMAND…: the command fails with a message that has the pattern, and shows no stack.
	names() {
		local what=$1 pattern=$2; shift 2
		if "$@" >out.txt 2>&1 || ! grep -q "$pattern" out.txt || grep -q '^ *at ' out.txt; then cat out.txt; bad npm "$what"; else ok npm "$what"; fi
	}
	cat >other-platform.cjs <<'J'
Object.defineProperty(process, "platform", { value: "freebsd" });
require("./node_modules/stepback/bin/stepback.cjs");
J
	names "names a platform without a package" "no binary for freebsd-$arch, only .*linux-x64.*: build from source" node other-platform.cjs
	package=node_modules/@stepback/$platform-$arch
	sed -i.orig 's/"version": "[^"]*"/"version": "0.0.1"/' "$package/package.json"
	names "names the other version of a binary" "found @stepback/$platform-$arch 0.0.1: remove node_modules" node_modules/.bin/stepback validate good.asl.json
	mv "$package/package.json.orig" "$package/package.json"
	# Two versions side by side: each starts the binary beside it.
	mkdir -p a/node_modules && cp -R node_modules/stepback a/node_modules/ && mkdir -p a/node_modules/stepback/node_modules/@stepback && cp -R "$package" a/node_modules/stepback/node_modules/@stepback/
	sed -i.orig 's/"version": "[^"]*"/"version": "9.9.9"/' a/node_modules/stepback/package.json "a/node_modules/stepback/node_modules/$(basename "$(dirname "$package")")/$platform-$arch/package.json"
	if [ "$(cd a && node -p 'require("stepback").binary()')" = "$PWD/a/node_modules/stepback/node_modules/@stepback/$platform-$arch/bin/stepback" ] &&
		[ "$(node -p 'require("stepback").binary()')" = "$PWD/$package/bin/stepback" ]; then ok npm "keeps two versions apart"; else bad npm "two versions"; fi
	printf 'x' >"$package/bin/stepback"
	names "names a damaged binary" "install again" node_modules/.bin/stepback validate good.asl.json
	: >"node_modules/@stepback/$platform-$arch/bin/stepback"
	if node_modules/.bin/stepback validate good.asl.json >out.txt 2>&1 || ! grep -q "install again" out.txt; then bad npm "with an empty binary: $(cat out.txt)"; else ok npm "names a broken installation"; fi
	rm -r "node_modules/@stepback"
	if node_modules/.bin/stepback validate good.asl.json >out.txt 2>&1 || ! grep -q "is not installed" out.txt; then bad npm "without the binary: $(cat out.txt)"; else ok npm "names the missing package"; fi
	cd .. && mkdir asl && cp good.asl.json bad.asl.json asl/ && cd asl && echo '{"private": true}' >package.json
	npm install --offline --ignore-scripts --no-audit --no-fund --loglevel error "$release/npm-asl-$version.tgz" "asl-validator@file:$release/npm-asl-validator-$version.tgz" "asl-path-validator@file:$release/npm-asl-path-validator-$version.tgz" >out.txt 2>&1 || cat out.txt
	cat >body.js <<'J'
const good = fs.readFileSync("good.asl.json", "utf8"), bad = fs.readFileSync("bad.asl.json", "utf8");
assert.equal(asl.validate(good).result, "OK");
assert.equal(asl.validate(JSON.parse(good)).result, "OK");
const refused = asl.validate(bad, { file: "bad.asl.json" });
assert.equal(refused.result, "FAIL");
assert.ok(refused.diagnostics.some((d) => d.code === "MISSING_TRANSITION_TARGET" && d.location === "/States/A/Next" && d.line === 1), JSON.stringify(refused));
assert.throws(() => asl.validate(good, { expres: true }), { name: "AslError", message: /expres/ });
assert.throws(() => asl.validate(7), TypeError);
assert.equal(asl.review(good).states[0].attempts, 2);
assert.match(asl.fix(good).text, /JitterStrategy/);
assert.match(asl.graph(good, { title: "good" }), /^<svg/);
assert.equal(asl.explain("NO_JITTER").code, "NO_JITTER");
const tested = (options) => asl.testState(good, { stateName: "Charge", ...options });
const error = { errorOutput: { error: "Busy", cause: "try later" } };
assert.deepEqual(tested({ mock: error, inspectionLevel: "DEBUG" }).inspectionData.errorDetails, { retryIndex: 0, retryBackoffIntervalSeconds: 1 });
assert.equal(tested({ mock: error }).status, "RETRIABLE");
assert.deepEqual(tested({ mock: error, stateConfiguration: { retrierRetryCount: 1 } }),
  { status: "CAUGHT_ERROR", output: '{"Error":"Busy","Cause":"try later"}', error: "Busy", cause: "try later", nextState: "Failed" });
assert.deepEqual(tested({ mock: { result: { ok: true } }, input: { id: 7 } }), { status: "SUCCEEDED", output: '{"ok":true}' });
assert.equal(asl.testState({ Type: "Wait", Seconds: 240, End: true }, { input: "[1]" }).output, "[1]");
assert.equal(asl.testState({ Type: "Pass", QueryLanguage: "JSONata", Output: "{% $now() & $string($limit) %}", End: true },
  { now: new Date(0), variables: { limit: 5 } }).output, '"1970-01-01T00:00:00.000Z5"');
assert.throws(() => tested({}), { name: "AslError", message: /calls no service/ });
assert.throws(() => tested({ mock: { result: {}, ...error } }), { name: "AslError", code: "ValidationException" });
assert.ok(!("Go" in globalThis) && !("fs" in globalThis) && !("stepbackCall" in globalThis));
J
	{ echo 'const asl = require("@stepback/asl"), fs = require("node:fs"), assert = require("node:assert");'; cat body.js; } >run.cjs
	{ echo 'import * as asl from "@stepback/asl"; import fs from "node:fs"; import assert from "node:assert";'; cat body.js; } >run.mjs
	{ echo 'import * as asl from "@stepback/asl/browser"; import fs from "node:fs"; import assert from "node:assert";
assert.throws(() => asl.validate("{}"), { message: /await load/ });
await asl.load(fs.readFileSync("node_modules/@stepback/asl/asl.wasm"));'; cat body.js; } >browser.mjs
	for form in run.cjs run.mjs browser.mjs; do
		if node $form; then ok asl "$form"; else bad asl "$form"; fi
	done
	cat >drop-in.cjs <<'J'
const assert = require("node:assert"), validator = require("asl-validator"), { validatePath } = require("asl-path-validator");
const { isValid, errors, errorsText } = validator(JSON.parse(require("node:fs").readFileSync("bad.asl.json", "utf8")));
assert.equal(isValid, false);
assert.equal(errors[0]["Error code"], "MISSING_TRANSITION_TARGET");
assert.match(errorsText(), /^MISSING_TRANSITION_TARGET: /);
assert.deepEqual(validatePath("$.a[0]", "reference_path"), { isValid: true });
assert.equal(validatePath("$.a[*]", "reference_path").code, "exp_has_non_reference_path_ops");
J
	cp -R node_modules/@stepback/asl damaged && head -c 1000 damaged/asl.wasm >part && mv part damaged/asl.wasm
	if node -e 'require("./damaged").validate("{}")' >out.txt 2>&1 || ! grep -q 'asl.wasm is damaged.*install @stepback/asl again' out.txt; then cat out.txt; bad asl "a damaged asl.wasm"; else ok asl "names a damaged asl.wasm"; fi
	status=0; node_modules/.bin/asl-validator --json-path good.asl.json --json-path bad.asl.json >out.txt 2>&1 || status=$?
	if [ $status = 1 ] && grep -q 'good.asl.json" is valid' out.txt && node drop-in.cjs; then ok asl "drop-ins"; else cat out.txt; bad asl "drop-ins"; fi
	cd ..
else echo "  npm          skipped: npm is not installed"; fi

python=/usr/bin/python3
[ -x $python ] || python=$(command -v python3 || true)
if [ -n "$python" ] && $python -c 'import venv' 2>/dev/null; then
	wheel=$(ls "$release"/stepback-*-py3-none-manylinux*"$(uname -m)"*.whl)
	if ! $python -m venv --system-site-packages venv >out.txt 2>&1; then python=$(command -v python3); $python -m venv --clear --system-site-packages venv; fi
	began=$(date +%s%N)
	venv/bin/pip install --no-index --quiet --disable-pip-version-check "$wheel"
	echo "  pip          installed in $((($(date +%s%N) - began) / 1000000)) ms"
	check pip venv/bin/stepback
	# Two versions side by side: a package in a directory of its own uses its own binary.
	venv/bin/pip install --no-index --quiet --disable-pip-version-check --target side "$wheel"
	if [ "$(PYTHONPATH=side venv/bin/python -c 'import stepback; print(stepback.binary())')" = "$PWD/side/bin/stepback" ] &&
		[ "$(venv/bin/python -c 'import stepback; print(stepback.binary())')" = "$PWD/venv/bin/stepback" ]; then ok pip "keeps two versions apart"; else bad pip "two versions"; fi
	rm -r side/bin && mv venv/bin/stepback stepback.away
	if PYTHONPATH=side PYTHONUSERBASE=$dir/nobody venv/bin/python -m stepback validate good.asl.json >out.txt 2>&1 || ! grep -q 'install the wheel again' out.txt || grep -q Traceback out.txt; then cat out.txt; bad pip "without the binary"; else ok pip "names a missing binary"; fi
	mv stepback.away venv/bin/stepback
	cat >test_orders.py <<'J'
import json

import pytest
import stepback as package

pytest_plugins = ["pytester"]
definition = open("good.asl.json").read()
accounts = set()


@pytest.mark.parametrize("n", [1, 2])
def test_run(stepback, n):
    assert stepback.account not in accounts
    accounts.add(stepback.account)
    assert stepback.call("ListStateMachines")["stateMachines"] == []
    x = stepback.run(definition, {"id": 7})
    assert (x.status, x.attempts("Charge")) == ("SUCCEEDED", 2)
    assert x.waits("Charge") == pytest.approx([1], abs=0.5)


def test_virtual_time():
    slow = json.loads(definition)
    slow["States"]["Charge"]["Retry"] = [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 3600, "MaxAttempts": 2, "JitterStrategy": "FULL"}]

    def drawn(seed):
        server = package.Server(virtual_time=True, seed=seed)
        account = server.account()
        waits = [account.run(slow).waits("Charge") for _ in range(2)]
        server.stop()
        return waits

    first = drawn(7)
    for again, waits in zip(drawn(7), first):
        assert again == pytest.approx(waits, abs=0.0025)  # timestamps are whole milliseconds
    assert first[0] != pytest.approx(first[1], abs=0.0025)
    assert drawn(8)[0] != pytest.approx(first[0], abs=0.0025)
    assert 0 < sum(first[0]) < 3 * 3600


def test_options(pytester):
    pytester.makeconftest("""
import pytest
@pytest.fixture(scope="session")
def stepback_options():
    return {"virtual_time": True, "seed": 7}
""")
    pytester.makepyfile("""
def test_wait(stepback):
    x = stepback.run({"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 86400, "End": True}}})
    assert x.status == "SUCCEEDED"
    assert x.events[-1]["timestamp"] - x.events[0]["timestamp"] >= 86400
""")
    pytester.runpytest().assert_outcomes(passed=1)


def test_scaled_time():
    minute = json.loads(definition)
    minute["States"]["Charge"]["Retry"] = [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 60, "MaxAttempts": 1}]
    server = package.Server(time_scale=60)
    waits = server.account().run(minute).waits("Charge")
    server.stop()
    assert waits == pytest.approx([60], abs=600) and waits[0] >= 60
    with pytest.raises(ValueError, match="time_scale is a number from 0.01 to 3600, not 0"):
        package.Server(time_scale=0)
    with pytest.raises(ValueError, match="not both"):
        package.Server(time_scale=60, virtual_time=True)


def test_error(stepback):
    with pytest.raises(package.ApiError, match="StateMachineDoesNotExist"):
        stepback.run("none")
J
	if venv/bin/python -c 'import pytest' 2>/dev/null; then
		if venv/bin/python -m pytest -q -p no:cacheprovider test_orders.py >out.txt 2>&1; then ok pip "pytest: $(tail -1 out.txt)"; else cat out.txt; bad pip pytest; fi
	else echo "  pip          pytest skipped: it is not installed"; fi
else echo "  pip          skipped: Python is not installed"; fi

exit $failed
