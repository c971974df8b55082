#!/usr/bin/env bash
# Deploys the CSV import to an AWS-compatible endpoint: ENDPOINT, or LocalStack by default. The functions use the PostgreSQL
# server at DATABASE_HOST (default postgres), DATABASE_PORT (5432), with DATABASE_USER and DATABASE_PASSWORD (stepback) and
# DATABASE_NAME (csvimport). CDKFLAGS is passed to cdk deploy; --method=direct deploys without change sets.
# If the endpoint is stepback serve, serve.sh creates the same resources with the AWS command line instead of CDK.
set -euo pipefail
source "$(dirname "$0")/endpoint.sh"

case "$(uname -m)" in
	arm64 | aarch64) goarch=arm64 architecture=arm64 ;;
	*) goarch=amd64 architecture=x86_64 ;;
esac
make -C "$root" --no-print-directory lambdas-for GOARCH="$goarch" LAMBDA_OUT=dist/local
if stepback_serves; then
	source "$root/localstack/serve.sh"
	exit
fi
make -C "$root" --no-print-directory cdk/node_modules

secret=stepback-local-database
value=$(printf '{"username":"%s","password":"%s","host":"%s","port":"%s","dbname":"%s","sslmode":"disable"}' \
	"${DATABASE_USER:-stepback}" "${DATABASE_PASSWORD:-stepback}" "${DATABASE_HOST:-postgres}" "${DATABASE_PORT:-5432}" "${DATABASE_NAME:-csvimport}")
if aws secretsmanager describe-secret --secret-id "$secret" >/dev/null 2>&1; then
	aws secretsmanager put-secret-value --secret-id "$secret" --secret-string "$value" >/dev/null
else
	aws secretsmanager create-secret --name "$secret" --secret-string "$value" >/dev/null
fi
arn=$(aws secretsmanager describe-secret --secret-id "$secret" --query ARN --output text)
account=$(aws sts get-caller-identity --query Account --output text)

cd "$root/cdk"
# Keep the CDK command line's account cache apart from that of real accounts.
CDK_HOME=$(mktemp -d)
export CDK_HOME
trap 'rm -rf "$CDK_HOME"' EXIT
context=(-c "localSecret=$arn" -c "localArchitecture=$architecture" -c bootstraps=../dist/local)
CI=true node_modules/.bin/cdk bootstrap "aws://$account/$AWS_REGION" --no-notices "${context[@]}"
# shellcheck disable=SC2086 # CDKFLAGS is a list of words
CI=true node_modules/.bin/cdk deploy "$STACK" --no-notices --require-approval never "${context[@]}" ${CDKFLAGS:-}

# LocalStack supports dashboards in CloudWatch but not in CloudFormation.
cd "$root"
aws cloudwatch put-dashboard --dashboard-name CSV-Processing-Retry-Monitor-local \
	--dashboard-body "$(go run ./cmd/stepback dashboard body --state-machine csv-import-local --files-machine csv-import-local-files --region "$AWS_REGION" --account "$account")" >/dev/null
echo "stepback dashboard render --endpoint $AWS_ENDPOINT_URL --name CSV-Processing-Retry-Monitor-local -o retry.png"
