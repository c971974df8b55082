#!/usr/bin/env bash
# Hands the events for which no execution could be started to the start function, unchanged, so that key and ETag name the same
# execution as the first time: redeliver.sh ENV shows what waits, redeliver.sh ENV --yes hands it over and deletes what was taken.
# A message is either S3's event, as EventBridge could not deliver it, or Lambda's record of an invocation that failed, which has the
# event inside. Needs the AWS command line and Node.js.
set -euo pipefail
name=${1:?name an environment: dev, stg or prod}
export AWS_PAGER=
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
function=csv-import-$name-start
url=$(aws sqs get-queue-url --queue-name "csv-import-$name-undelivered-events" --query QueueUrl --output text)
handed=0 failed=0
while :; do
	# Invisible for 30 seconds: what is only shown, or cannot be handed over, is there again afterwards.
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
			echo "waits: $(cat "$work/name-$i")"
			handed=$((handed + 1))
			continue
		fi
		error=$(aws lambda invoke --function-name "$function" --cli-binary-format raw-in-base64-out --payload "file://$work/event-$i" \
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
	echo "$handed events wait; $0 $name --yes hands them to $function"
	exit
fi
echo "$handed events handed to $function, $failed not"
[ "$failed" = 0 ]
