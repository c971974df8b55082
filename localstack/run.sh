#!/usr/bin/env bash
# Imports a CSV file at an AWS-compatible endpoint and prints the result: run.sh FILE.csv. Of a folder, it imports the files as
# one: run.sh FOLDER. If the endpoint does not deliver the S3 event to the start function within WAIT (default 15) seconds, the
# script sends it. The script fails if the execution is still running after LIMIT (default 3600) seconds.
set -euo pipefail
source "$(dirname "$0")/endpoint.sh"
file=${1:?usage: run.sh FILE.csv, or run.sh FOLDER}
bucket=$(output InputBucketName)
import=$(output StateMachineArn) files=$(output FilesStateMachineArn)
machine=$import summaries=output key=uploads/$(basename "$file")
if [ -d "$file" ]; then
	folder=$(cd "$file" && pwd)
	machine=$files summaries=imports key=$(basename "$folder").manifest
fi
test -n "$bucket" && test -n "$machine" || { echo "the import is not deployed at $AWS_ENDPOINT_URL; deploy it with make localstack-deploy ENDPOINT=$AWS_ENDPOINT_URL" >&2 && exit 1; }
if [ -d "$file" ]; then
	staged=staged/$(basename "$folder")
	file=$(mktemp)
	trap 'rm -f "$file"' EXIT
	aws s3 cp --recursive "$folder" "s3://$bucket/$staged/" --exclude '*' --include '*.csv' --include '*.tsv' --include '*.txt' >/dev/null
	(cd "$folder" && find . -type f \( -name '*.csv' -o -name '*.tsv' -o -name '*.txt' \) | LC_ALL=C sort | sed "s|^\./|$staged/|") >"$file"
fi
aws s3api put-object --bucket "$bucket" --key "$key" --body "$file" >/dev/null
etag=$(aws s3api head-object --bucket "$bucket" --key "$key" --query ETag --output text | tr -d '"')
echo "s3://$bucket/$key, ETag $etag"

# started prints the ARN of the execution for this version of the file, if it exists.
started() {
	local candidate input
	for candidate in $(aws stepfunctions list-executions --state-machine-arn "$machine" --max-results 20 --query 'executions[].executionArn' --output text); do
		input=$(aws stepfunctions describe-execution --execution-arn "$candidate" --query input --output text)
		case "$input" in *"\"$key\""*"\"$etag\""*) echo "$candidate" && return ;; esac
	done
}
limit=${LIMIT:-3600}
execution=$(started)
for ((waited = 0; waited < ${WAIT:-15} && ${#execution} == 0; waited++)); do
	sleep 1
	execution=$(started)
done
if [ -z "$execution" ]; then
	echo "$AWS_ENDPOINT_URL has not started an execution within ${WAIT:-15} seconds; sending the event to the function $prefix-start" >&2
	size=$(aws s3api head-object --bucket "$bucket" --key "$key" --query ContentLength --output text)
	announced=$(cd "$root" && go run ./localstack/announce -bucket "$bucket" -key "$key" -etag "$etag" -size "$size" \
		-function "$prefix-start" -state-machine "$import" -files-state-machine "$files")
	read -r name by <<<"$announced"
	execution=${machine/:stateMachine:/:execution:}:$name
	if [ "$by" = here ]; then limit=5; fi # an endpoint that does not run functions does not run the execution either
fi
echo "$execution"
status=RUNNING
SECONDS=0
while [ "$status" = RUNNING ]; do
	if ((SECONDS > limit)); then
		echo "the execution is still RUNNING after $limit seconds; $AWS_ENDPOINT_URL may not run executions at all, as moto_server does not" >&2
		exit 1
	fi
	sleep 1
	status=$(aws stepfunctions describe-execution --execution-arn "$execution" --query status --output text)
done
echo "$status"
results=$(output ResultBucketName)
if ! aws s3 cp "s3://$results/$summaries/${execution##*:}/summary.json" - 2>/dev/null; then
	aws stepfunctions describe-execution --execution-arn "$execution" --query '[error,cause]' --output text
	if [ "$status" = SUCCEEDED ]; then
		echo "the summary is missing: $AWS_ENDPOINT_URL reported SUCCEEDED without running the functions" >&2
		exit 1
	fi
fi
test "$status" = SUCCEEDED
