#!/usr/bin/env bash
# Imports a CSV file at an AWS-compatible endpoint and shows what came of it: run.sh FILE.csv. An endpoint that delivers S3's event to
# the function start begins by itself; at any other the event is handed to that function after WAIT (15) seconds. An execution that does
# not end within LIMIT (3600) seconds is given up.
set -euo pipefail
source "$(dirname "$0")/endpoint.sh"
file=${1:?name a CSV file}
bucket=$(output InputBucketName)
machine=$(output StateMachineArn)
test -n "$bucket" && test -n "$machine" || { echo "nothing is deployed at $AWS_ENDPOINT_URL: make localstack-deploy ENDPOINT=$AWS_ENDPOINT_URL" >&2 && exit 1; }
key=uploads/$(basename "$file")
aws s3api put-object --bucket "$bucket" --key "$key" --body "$file" >/dev/null
etag=$(aws s3api head-object --bucket "$bucket" --key "$key" --query ETag --output text | tr -d '"')
echo "s3://$bucket/$key, ETag $etag"

# started prints the execution of this version of the file, if there is one.
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
	echo "no event of $AWS_ENDPOINT_URL has started an execution within ${WAIT:-15} seconds; it is handed to the function $prefix-start now" >&2
	size=$(aws s3api head-object --bucket "$bucket" --key "$key" --query ContentLength --output text)
	announced=$(cd "$root" && go run ./localstack/announce -bucket "$bucket" -key "$key" -etag "$etag" -size "$size" \
		-function "$prefix-start" -state-machine "$machine")
	read -r name by <<<"$announced"
	execution=${machine/:stateMachine:/:execution:}:$name
	if [ "$by" = here ]; then limit=5; fi # what does not run functions does not carry the execution out
fi
echo "$execution"
status=RUNNING
SECONDS=0
while [ "$status" = RUNNING ]; do
	if ((SECONDS > limit)); then
		echo "the execution is RUNNING still; $AWS_ENDPOINT_URL may be one that does not carry executions out, such as moto_server" >&2
		exit 1
	fi
	sleep 1
	status=$(aws stepfunctions describe-execution --execution-arn "$execution" --query status --output text)
done
echo "$status"
results=$(output ResultBucketName)
if ! aws s3 cp "s3://$results/output/${execution##*:}/summary.json" - 2>/dev/null; then
	aws stepfunctions describe-execution --execution-arn "$execution" --query '[error,cause]' --output text
	if [ "$status" = SUCCEEDED ]; then
		echo "there is no summary: $AWS_ENDPOINT_URL says that the execution succeeded and has not run its functions" >&2
		exit 1
	fi
fi
test "$status" = SUCCEEDED
