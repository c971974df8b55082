#!/usr/bin/env bash
# Calls every operation of Step Functions, and some of Lambda and CloudWatch Logs, with the AWS CLI. run.sh calls it.
# Usage: operations.sh DIR
set -euo pipefail
work=$1
called=$work/awscli-operations
: >"$called"

role=arn:aws:iam::000000000000:role/r
states=arn:aws:states:us-east-1:000000000000
pass='{"StartAt":"P","States":{"P":{"Type":"Pass","Result":{"a":1},"End":true}}}'
wait='{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":3600,"End":true}}}'
fail='{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"E","Cause":"C"}}}'

sfn() {
	echo "$1" >>"$called"
	aws stepfunctions "$@" --output text
}

# is WANT COMMAND… fails unless the command prints WANT; tabs and line ends count as spaces.
is() {
	local want=$1 got
	shift
	got=$("$@" | tr '\t\n' '  ' | sed 's/ *$//')
	[ "$got" = "$want" ] || { echo "$*: got \"$got\", want \"$want\"" >&2; exit 1; }
}

# refused CODE COMMAND… fails unless the command fails with this error code.
refused() {
	local code=$1 got
	shift
	if got=$("$@" 2>&1); then
		echo "$*: succeeded with $got, want $code" >&2
		exit 1
	fi
	[[ $got == *"($code)"* ]] || { echo "$*: $got, want $code" >&2; exit 1; }
}

# eventually WANT COMMAND… repeats is up to 50 times until it succeeds.
eventually() {
	local want=$1 i
	for i in $(seq 50); do
		(is "$@") 2>/dev/null && return
	done
	is "$@"
}

is "$states:stateMachine:cli" sfn create-state-machine --name cli --definition "$pass" --role-arn $role --tags key=k,value=v --query stateMachineArn
refused StateMachineAlreadyExists sfn create-state-machine --name cli --definition "$wait" --role-arn $role
m=$states:stateMachine:cli
is "ACTIVE STANDARD OFF" sfn describe-state-machine --state-machine-arn $m --query '[status, type, loggingConfiguration.level]'
is OK sfn validate-state-machine-definition --definition "$pass" --query result
is "$m:1" sfn publish-state-machine-version --state-machine-arn $m --query stateMachineVersionArn
is "$m:2" sfn update-state-machine --state-machine-arn $m --definition "$wait" --publish --query stateMachineVersionArn
is "$m:2 $m:1" sfn list-state-machine-versions --state-machine-arn $m --query 'stateMachineVersions[].stateMachineVersionArn'
is "$m:live" sfn create-state-machine-alias --name live --routing-configuration "stateMachineVersionArn=$m:1,weight=100" --query stateMachineAliasArn
is "100" sfn describe-state-machine-alias --state-machine-alias-arn $m:live --query 'routingConfiguration[].weight'
sfn update-state-machine-alias --state-machine-alias-arn $m:live --description changed >/dev/null
is "$m:live" sfn list-state-machine-aliases --state-machine-arn $m --query 'stateMachineAliases[].stateMachineAliasArn'
refused ConflictException sfn delete-state-machine-version --state-machine-version-arn $m:1

x=$states:execution:cli:x
is "$x" sfn start-execution --state-machine-arn $m:live --name x --input '{"b":2}' --query executionArn
eventually 'SUCCEEDED {"a":1}' sfn describe-execution --execution-arn $x --query '[status, output]'
is "1 2 3 4" sfn get-execution-history --execution-arn $x --page-size 1 --query 'events[].id'
is "cli" sfn describe-state-machine-for-execution --execution-arn $x --query name
refused ExecutionAlreadyExists sfn start-execution --state-machine-arn $m --name x
is "$states:execution:cli:y" sfn start-execution --state-machine-arn $m --name y --query executionArn
sfn stop-execution --execution-arn $states:execution:cli:y --error E --cause C >/dev/null
is "ABORTED E C" sfn describe-execution --execution-arn $states:execution:cli:y --query '[status, error, cause]'
is "y x" sfn list-executions --state-machine-arn $m --page-size 1 --query 'executions[].name'
refused InvalidArn sfn stop-execution --execution-arn nonsense
refused ValidationException sfn list-executions --state-machine-arn $m --map-run-arn $states:mapRun:m/L:u

is "$states:stateMachine:cli-express" sfn create-state-machine --name cli-express --type EXPRESS --definition "$pass" --role-arn $role --query stateMachineArn
is 'SUCCEEDED {"a":1}' sfn start-sync-execution --state-machine-arn $states:stateMachine:cli-express --query '[status, output]'
is "SUCCEEDED 1" sfn test-state --definition '{"Type":"Pass","Result":1,"End":true}' --query '[status, output]'

is "$states:activity:cli" sfn create-activity --name cli --query activityArn
a=$states:activity:cli
is cli sfn describe-activity --activity-arn $a --query name
is cli sfn list-activities --query "activities[?name=='cli'].name"
sfn create-state-machine --name cli-work --role-arn $role --definition \
	'{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"'$a'","End":true}}}' >/dev/null
for report in success failure; do
	sfn start-execution --state-machine-arn $states:stateMachine:cli-work --name $report >/dev/null
	token=$(sfn get-activity-task --activity-arn $a --worker-name w --query taskToken)
	sfn send-task-heartbeat --task-token "$token"
	if [ $report = success ]; then
		sfn send-task-success --task-token "$token" --task-output '"done"'
	else
		sfn send-task-failure --task-token "$token" --error E --cause C
	fi
done
eventually "SUCCEEDED" sfn describe-execution --execution-arn $states:execution:cli-work:success --query status
eventually "FAILED E" sfn describe-execution --execution-arn $states:execution:cli-work:failure --query '[status, error]'
sfn delete-activity --activity-arn $a

sfn create-state-machine --name cli-map --role-arn $role --definition '{"StartAt":"M","States":{"M":{"Type":"Map","Label":"L","MaxConcurrency":1,
	"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":3600,"End":true}}},"End":true}}}' >/dev/null
sfn start-execution --state-machine-arn $states:stateMachine:cli-map --name x --input '[1,2]' >/dev/null
eventually 1 sfn list-map-runs --execution-arn $states:execution:cli-map:x --query 'length(mapRuns)'
run=$(sfn list-map-runs --execution-arn $states:execution:cli-map:x --query 'mapRuns[0].mapRunArn')
sfn update-map-run --map-run-arn "$run" --max-concurrency 2
eventually "RUNNING 2 2" sfn describe-map-run --map-run-arn "$run" --query '[status, maxConcurrency, itemCounts.running]'
sfn stop-execution --execution-arn $states:execution:cli-map:x >/dev/null

sfn create-state-machine --name cli-fail --definition "$fail" --role-arn $role >/dev/null
sfn start-execution --state-machine-arn $states:stateMachine:cli-fail --name x >/dev/null
eventually REDRIVABLE sfn describe-execution --execution-arn $states:execution:cli-fail:x --query redriveStatus
sfn redrive-execution --execution-arn $states:execution:cli-fail:x >/dev/null
eventually "FAILED 1" sfn describe-execution --execution-arn $states:execution:cli-fail:x --query '[status, redriveCount]'

sfn tag-resource --resource-arn $m --tags key=a,value=b
sfn untag-resource --resource-arn $m --tag-keys k
is "a b" sfn list-tags-for-resource --resource-arn $m --query 'tags[].[key, value]'

printf 'def handler(event, context):\n    print("got", event)\n    return event["n"] * 2\n' >"$work/main.py"
(cd "$work" && python3 -m zipfile -c function.zip main.py)
is "cli" aws lambda create-function --function-name cli --runtime python3.12 --handler main.handler --role $role --zip-file "fileb://$work/function.zip" \
	--query FunctionName --output text
aws lambda wait function-active-v2 --function-name cli
aws lambda invoke --function-name cli --payload '{"n":21}' "$work/answer" >/dev/null
is 42 cat "$work/answer"
is "1" aws logs filter-log-events --log-group-name /aws/lambda/cli --filter-pattern got --query 'length(events)' --output text
aws lambda delete-function --function-name cli >/dev/null
aws logs create-log-group --log-group-name /aws/vendedlogs/states/cli
sfn create-state-machine --name cli-logs --definition "$fail" --role-arn $role --logging-configuration \
	'level=ERROR,destinations=[{cloudWatchLogsLogGroup={logGroupArn=arn:aws:logs:us-east-1:000000000000:log-group:/aws/vendedlogs/states/cli:*}}]' >/dev/null
sfn start-execution --state-machine-arn $states:stateMachine:cli-logs >/dev/null
eventually 2 aws logs filter-log-events --log-group-name /aws/vendedlogs/states/cli --log-stream-name-prefix states/ --query 'length(events)' --output text

sfn delete-state-machine-alias --state-machine-alias-arn $m:live
sfn delete-state-machine-version --state-machine-version-arn $m:1
for name in cli cli-express cli-work cli-map cli-fail cli-logs; do
	sfn delete-state-machine --state-machine-arn $states:stateMachine:$name
done
eventually "" sfn list-state-machines --query "stateMachines[?starts_with(name, 'cli')].name"

all=$({ aws stepfunctions nonsense 2>&1 || true; } | sed '1,/valid choices/d' | tr -s ' |' '\n' | grep -- - | sort -u)
[ "$(wc -l <<<"$all")" -gt 30 ] || { echo "cannot parse the list of commands of the AWS CLI: $all" >&2; exit 1; }
missing=$(comm -23 <(echo "$all") <(sort -u "$called"))
[ -z "$missing" ] || { echo "not called: $missing" >&2; exit 1; }
echo "  $(aws --version | cut -d' ' -f1): $(sort -u "$called" | wc -l) operations of Step Functions, and Lambda, CloudWatch Logs: ok"
