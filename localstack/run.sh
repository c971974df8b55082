#!/usr/bin/env bash
# Imports a CSV file at an AWS-compatible endpoint and shows what came of it: run.sh FILE.csv
set -euo pipefail
source "$(dirname "$0")/endpoint.sh"
file=${1:?name a CSV file}
bucket=$(output InputBucketName)
machine=$(output StateMachineArn)
key=uploads/$(basename "$file")
aws s3api put-object --bucket "$bucket" --key "$key" --body "$file" >/dev/null
etag=$(aws s3api head-object --bucket "$bucket" --key "$key" --query ETag --output text | tr -d '"')
echo "s3://$bucket/$key, ETag $etag"

execution=
for _ in $(seq 60); do
	for candidate in $(aws stepfunctions list-executions --state-machine-arn "$machine" --max-results 20 --query 'executions[].executionArn' --output text); do
		input=$(aws stepfunctions describe-execution --execution-arn "$candidate" --query input --output text)
		case "$input" in *"\"$key\""*"\"$etag\""*) execution=$candidate && break 2 ;; esac
	done
	sleep 1
done
test -n "$execution" || { echo "no execution started within a minute; look at the log of csv-import-local-start" >&2 && exit 1; }
echo "$execution"
status=RUNNING
while [ "$status" = RUNNING ]; do
	sleep 2
	status=$(aws stepfunctions describe-execution --execution-arn "$execution" --query status --output text)
done
echo "$status"
results=$(output ResultBucketName)
aws s3 cp "s3://$results/output/${execution##*:}/summary.json" - || aws stepfunctions describe-execution --execution-arn "$execution" --query '[error,cause]' --output text
test "$status" = SUCCEEDED
