# Sourced by the other scripts: sets the AWS-compatible endpoint, region and test credentials. ENDPOINT and AWS_REGION override
# the defaults.
export AWS_ENDPOINT_URL="${ENDPOINT:-http://localhost:4566}"
export AWS_REGION="${AWS_REGION:-us-east-1}" AWS_DEFAULT_REGION="${AWS_REGION:-us-east-1}"
# A custom endpoint must never see the credentials of a real account.
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_EC2_METADATA_DISABLED=true
unset AWS_PROFILE AWS_SESSION_TOKEN
export AWS_PAGER=""
STACK=stepback-local
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

prefix=csv-import-local

# stepback_serves succeeds if the endpoint is stepback serve.
stepback_serves() { curl --silent --fail --output /dev/null "$AWS_ENDPOINT_URL/_stepback/health"; }

# output prints an output of the deployed stack. serve.sh deploys without a stack, so at stepback serve it prints the same resource.
output() {
	if stepback_serves; then
		case "$1" in
			InputBucketName) echo "$prefix-input" ;;
			ResultBucketName) echo "$prefix-results" ;;
			StateMachineArn) aws stepfunctions list-state-machines --query "stateMachines[?name=='$prefix'].stateMachineArn" --output text ;;
			FilesStateMachineArn) aws stepfunctions list-state-machines --query "stateMachines[?name=='$prefix-files'].stateMachineArn" --output text ;;
		esac
		return
	fi
	aws cloudformation describe-stacks --stack-name "$STACK" --output text \
		--query "Stacks[0].Outputs[?OutputKey=='$1'].OutputValue"
}
