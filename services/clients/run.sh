#!/usr/bin/env bash
# Serves stepback on a fresh data directory and has AWS's own clients work with it: boto3, the AWS CLI, Terraform. A client that is
# not installed is skipped. Usage: services/clients/run.sh [boto3|awscli|terraform …]
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

"${GO:-go}" build -o "$work/stepback" ../../cmd/stepback
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
# StartSyncExecution and TestState have hosts of their own at AWS, sync-…; here they have none.
export AWS_DISABLE_HOST_PREFIX_INJECTION=true

skip() { echo "  skipped: $*"; }

boto3() {
	if ! python3 -c 'import boto3' 2>/dev/null; then
		skip "boto3 is not installed (pip install boto3)"
		return
	fi
	python3 operations.py
	python3 services.py
}

awscli() {
	if ! command -v aws >/dev/null; then
		skip "the AWS CLI is not installed"
		return
	fi
	./operations.sh "$work"
}

terraform() {
	if ! command -v terraform >/dev/null; then
		skip "Terraform is not installed"
		return
	fi
	./terraform.sh "$work/terraform"
}

for client in "${@:-boto3 awscli terraform}"; do
	for c in $client; do
		echo "$c:"
		"$c"
	done
done
