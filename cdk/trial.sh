#!/usr/bin/env bash
# Tests a deployment of the stack stg to an AWS-compatible endpoint: bootstrap, deploy, deploy again (expects no changes), diff
# (expects none), comparison of the deployed definition with the golden one, destroy. ENDPOINT is the endpoint; if it is not set,
# the script starts and stops moto_server (pip install 'moto[server]'). Needs the AWS command line. It does not access a real account.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
moto=
tidy() {
	if [ -n "$moto" ]; then kill "$moto" 2>/dev/null && wait "$moto" 2>/dev/null || true; fi
	rm -rf "$work"
}
trap tidy EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
command -v aws >/dev/null || fail "the AWS command line is not installed (pip install awscli)"

if [ -z "${ENDPOINT:-}" ]; then
	command -v moto_server >/dev/null || fail "moto_server is not installed (pip install 'moto[server]'); or set ENDPOINT"
	port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
	moto_server -p "$port" >"$work/moto.log" 2>&1 &
	moto=$!
	ENDPOINT=http://localhost:$port # not 127.0.0.1: moto would take its first part as a bucket name
fi
export AWS_ENDPOINT_URL=$ENDPOINT AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1 AWS_EC2_METADATA_DISABLED=true CI=true
# Credentials of a real account must never reach another endpoint.
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_PAGER=
unset AWS_PROFILE AWS_SESSION_TOKEN
curl --silent --fail --retry 60 --retry-delay 1 --retry-connrefused --output /dev/null "$ENDPOINT/" || true

account=123456789012 stack=stepback-stg
# moto cannot create Aurora, so the settings name an existing database by its secret.
mkdir "$work/settings"
for name in dev stg prod; do
	cat >"$work/settings/$name.json" <<-end
		{
			"account": "$account", "region": "us-east-1",
			"pages": { "endpoints": ["https://example.com/trial"] }, "notices": { "emails": ["trial@example.com"] },
			"database": { "secretArn": "arn:aws:secretsmanager:us-east-1:$account:secret:trial-AbCdEf" }
		}
	end
done
context=(-c "settings=$work/settings")
# Keep the CDK command line's account cache apart from that of real accounts, and its output apart from make synth's.
export CDK_HOME=$work/home
# cdk runs a CDK command, writes its output to a log, and prints the log if the command fails.
cdk() {
	node_modules/.bin/cdk "$@" --no-notices --output "$work/out" "${context[@]}" >"$work/log" 2>&1 || { cat "$work/log" && fail "cdk $1"; }
}
deploy() { cdk deploy "$stack" --require-approval never --method=direct --outputs-file "$work/outputs.json"; }
# output prints an output of the deployed stack. same succeeds if two files contain the same JSON.
output() { node -p 'JSON.parse(require("fs").readFileSync(process.argv[1]))[process.argv[2]][process.argv[3]]' "$work/outputs.json" "$stack" "$1"; }
same() {
	node -e 'const [a, b] = process.argv.slice(1).map(f => JSON.parse(require("fs").readFileSync(f)));
		process.exit(require("util").isDeepStrictEqual(a, b) ? 0 : 1)' "$1" "$2"
}

echo "== guard"
SETTINGS=$work/settings node guard.mjs stg
sed -i 's/"account": "'$account'"/"account": "999999999999"/' "$work/settings/prod.json"
SETTINGS=$work/settings node guard.mjs prod 2>"$work/log" && fail "a different account was not rejected"
cat "$work/log"
echo "== bootstrap"
cdk bootstrap "aws://$account/us-east-1"
echo "== deploy"
deploy
sed -n '/^Outputs:/,$p' "$work/log"
echo "== deploy again"
deploy
grep "(no changes)" "$work/log" || fail "the second deployment changed something"
sed -i 's/trial-AbCdEf/other-AbCdEf/' "$work/settings/stg.json"
SETTINGS=$work/settings node guard.mjs stg 2>"$work/log" && fail "a different database was not rejected"
cat "$work/log"
sed -i 's/other-AbCdEf/trial-AbCdEf/' "$work/settings/stg.json"
echo "== diff"
cdk diff "$stack" --fail --method=template
grep "There were no differences" "$work/log"
echo "== deployed definition and dashboard"
machine=$(output StateMachineArn)
aws stepfunctions describe-state-machine --state-machine-arn "$machine" --query definition --output text >"$work/definition.json"
same "$work/definition.json" ../statemachine/testdata/substitutions.golden.json || fail "the deployed definition differs from the golden one"
echo "the definition of $machine equals the golden one"
dashboard=$(output DashboardUrl)
aws cloudwatch get-dashboard --dashboard-name "${dashboard##*/}" --query DashboardName --output text
echo "== destroy, with an object in each bucket"
for bucket in "$(output InputBucketName)" "$(output ResultBucketName)"; do
	aws s3api put-object --bucket "$bucket" --key uploads/a.csv --body package.json >"$work/log"
done
./empty.sh "$stack"
test "$(aws s3api list-objects-v2 --bucket "$(output InputBucketName)" --query 'length(Contents || `[]`)')" = 0 || fail "the input bucket is not empty"
cdk destroy "$stack" --force
test "$(aws stepfunctions list-state-machines --query 'length(stateMachines)')" = 0 || fail "a state machine still exists"
echo "trial: bootstrap, deploy, deploy again, diff and destroy passed"
