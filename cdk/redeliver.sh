#!/usr/bin/env bash
# Redelivers the events in the queue of undelivered events to the start function. The events are unchanged, so an object's key and
# ETag give the same execution name as the first time. redeliver.sh ENV lists the queued events; redeliver.sh ENV --yes redelivers
# them and deletes those that succeed. A message is either an S3 event that EventBridge could not deliver, or Lambda's record of a
# failed invocation, which contains the event. Needs the AWS command line and Node.js.
set -euo pipefail
name=${1:?usage: redeliver.sh dev|stg|prod [--yes]}
export AWS_PAGER=
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
function=csv-import-$name-start
url=$(aws sqs get-queue-url --queue-name "csv-import-$name-undelivered-events" --query QueueUrl --output text)
handed=0 failed=0
while :; do
	# Messages are invisible for 30 seconds; those that are only listed, or that fail, return to the queue afterwards.
	aws sqs receive-message --queue-url "$url" --max-number-of-messages 10 --visibility-timeout 30 --wait-time-seconds 1 --output json >"$work/batch"
	count=$(node -e 'const t = require("fs").readFileSync(process.argv[1], "utf8").trim();
		const all = t ? JSON.parse(t).Messages || [] : [];
		all.forEach((m, i) => {
			const body = JSON.parse(m.Body), event = body.requestPayload || body;
			require("fs").writeFileSync(`${process.argv[2]}/event-${i}`, JSON.stringify(event));
			require("fs").writeFileSync(`${process.argv[2]}/receipt-${i}`, m.ReceiptHandle);
			const o = event.detail && event.detail.object || {};
			require("fs").writeFileSync(`${process.argv[2]}/name-${i}`,
				`s3://${event.detail && event.detail.bucket && event.detail.bucket.name}/${o.key} (ETag ${o.etag}, ${event.time})`);
		});
		console.log(all.length);' "$work/batch" "$work")
	[ "$count" -gt 0 ] || break
	for ((i = 0; i < count; i++)); do
		if [ "${2:-}" != --yes ]; then
			echo "queued: $(cat "$work/name-$i")"
			handed=$((handed + 1))
			continue
		fi
		error=$(aws lambda invoke --function-name "$function" --payload "fileb://$work/event-$i" \
			--query FunctionError --output text "$work/answer")
		if [ "$error" = None ]; then
			aws sqs delete-message --queue-url "$url" --receipt-handle "$(cat "$work/receipt-$i")"
			echo "started: $(cat "$work/name-$i")"
			handed=$((handed + 1))
		else
			echo "not started: $(cat "$work/name-$i"): $(cat "$work/answer")" >&2
			failed=$((failed + 1))
		fi
	done
done
if [ "${2:-}" != --yes ]; then
	echo "$handed events are queued; redeliver them to $function with $0 $name --yes"
	exit
fi
echo "$handed events redelivered to $function, $failed failed"
[ "$failed" = 0 ]
