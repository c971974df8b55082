#!/usr/bin/env bash
# Deletes every object in the buckets of a deployed stack, so that CloudFormation can delete the buckets: empty.sh STACK. It fails
# without deleting anything if the stack has termination protection.
set -euo pipefail
stack=${1:?usage: empty.sh STACK}
export AWS_PAGER=
description=$(aws cloudformation describe-stacks --stack-name "$stack" --output text \
	--query "Stacks[0].[EnableTerminationProtection, Outputs[?OutputKey=='InputBucketName']|[0].OutputValue, Outputs[?OutputKey=='ResultBucketName']|[0].OutputValue]")
read -r guarded input results <<<"$description"
if [ "$guarded" = True ]; then
	echo "$stack has termination protection; its buckets were not emptied" >&2
	exit 1
fi
for bucket in "$input" "$results"; do
	if [ "$bucket" = None ]; then continue; fi
	aws s3 rm "s3://$bucket" --recursive --only-show-errors
	# A versioned bucket keeps the old versions and adds delete markers: delete both.
	while :; do
		old=$(aws s3api list-object-versions --bucket "$bucket" --max-items 1000 --output json \
			--query '{Objects: [Versions, DeleteMarkers][][].{Key: Key, VersionId: VersionId}}')
		case $old in *VersionId*) ;; *) break ;; esac
		aws s3api delete-objects --bucket "$bucket" --delete "$old" >/dev/null
	done
done
