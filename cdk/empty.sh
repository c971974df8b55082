#!/usr/bin/env bash
# Removes every object from the buckets of a deployed stack, so that CloudFormation can delete them: empty.sh STACK. A stack that is
# guarded against deletion is left alone: its buckets stay.
set -euo pipefail
stack=${1:?name a stack}
export AWS_PAGER=
description=$(aws cloudformation describe-stacks --stack-name "$stack" --output text \
	--query "Stacks[0].[EnableTerminationProtection, Outputs[?OutputKey=='InputBucketName']|[0].OutputValue, Outputs[?OutputKey=='ResultBucketName']|[0].OutputValue]")
read -r guarded input results <<<"$description"
if [ "$guarded" = True ]; then
	echo "$stack is guarded against deletion; its buckets are not emptied" >&2
	exit 1
fi
for bucket in "$input" "$results"; do
	if [ "$bucket" != None ]; then aws s3 rm "s3://$bucket" --recursive --only-show-errors; fi
done
