# Sourced by deploy.sh: deploys the CSV import to stepback serve with the AWS command line. It creates two buckets, the topic
# of import results, the functions and the same state machines as on AWS, with the placeholders replaced by the ARNs and names.
# The database is DATABASE_URL if set, else the PostgreSQL server of DATABASE_HOST, else SQLite in .stepback/local-users.db.
command -v zip >/dev/null || { echo "zip is not installed; it is needed to package the functions" >&2 && exit 1; }
role=arn:aws:iam::000000000000:role/local
if [ -z "${DATABASE_URL:-}" ]; then
	if [ -n "${DATABASE_HOST:-}" ]; then
		DATABASE_URL="postgres://${DATABASE_USER:-stepback}:${DATABASE_PASSWORD:-stepback}@$DATABASE_HOST:${DATABASE_PORT:-5432}/${DATABASE_NAME:-csvimport}?sslmode=disable"
	else
		mkdir -p "$root/.stepback"
		DATABASE_URL="sqlite:$root/.stepback/local-users.db"
	fi
fi

for bucket in "$(output InputBucketName)" "$(output ResultBucketName)"; do
	aws s3api head-bucket --bucket "$bucket" >/dev/null 2>&1 || aws s3api create-bucket --bucket "$bucket" >/dev/null
done

# deploy_function NAME SECONDS VARIABLES creates a function, or updates its code and settings, and prints its ARN. SECONDS is the
# timeout and VARIABLES the environment as JSON.
deploy_function() {
	local name=$prefix-$1 code=$root/dist/local/$1.zip
	(cd "$root/dist/local/$1" && rm -f "$code" && zip -q -X "$code" bootstrap)
	if aws lambda get-function --function-name "$name" >/dev/null 2>&1; then
		aws lambda update-function-code --function-name "$name" --zip-file "fileb://$code" >/dev/null
		aws lambda update-function-configuration --function-name "$name" --timeout "$2" --environment "{\"Variables\":$3}" >/dev/null
	else
		aws lambda create-function --function-name "$name" --runtime provided.al2023 --handler bootstrap --role "$role" \
			--architectures "$architecture" --zip-file "fileb://$code" --timeout "$2" --environment "{\"Variables\":$3}" >/dev/null
	fi
	aws lambda get-function-configuration --function-name "$name" --query FunctionArn --output text
}
database="{\"DATABASE_URL\":\"$DATABASE_URL\"}"
validate=$(deploy_function validate 300 '{}')
process=$(deploy_function process 30 "$database")
aggregate=$(deploy_function aggregate 120 "$database")
files=$(deploy_function files 300 "{\"INPUT_BUCKET\":\"$(output InputBucketName)\",\"STATE_MACHINE\":\"$prefix-files\"}")

IFS=: read -r _ _ _ _ account _ <<<"$validate"
topic=$(aws sns create-topic --name "$prefix-imports" --query TopicArn --output text) # returns the existing topic if there is one
# deploy_machine NAME DEFINITION_FILE ARN creates a state machine, or updates the one that has the ARN, and prints its ARN.
deploy_machine() {
	local logging="{\"level\":\"ALL\",\"includeExecutionData\":true,\"destinations\":[{\"cloudWatchLogsLogGroup\":{\"logGroupArn\":\"arn:aws:logs:$AWS_REGION:$account:log-group:/aws/vendedlogs/states/$1:*\"}}]}"
	if [ -n "$3" ]; then
		aws stepfunctions update-state-machine --state-machine-arn "$3" --definition "file://$2" --logging-configuration "$logging" >/dev/null
		echo "$3"
		return
	fi
	aws stepfunctions create-state-machine --name "$1" --definition "file://$2" --role-arn "$role" \
		--logging-configuration "$logging" --query stateMachineArn --output text
}
definition=$(mktemp)
sed -e "s|\${ValidateFunctionArn}|$validate|; s|\${ProcessFunctionArn}|$process|; s|\${AggregateFunctionArn}|$aggregate|" \
	-e "s|\${ResultBucketName}|$(output ResultBucketName)|; s|\${NotificationTopicArn}|$topic|" \
	"$root/statemachine/testdata/substitutions.golden.json" >"$definition"
machine=$(deploy_machine "$prefix" "$definition" "$(output StateMachineArn)")
sed -e "s|\${FilesFunctionArn}|$files|; s|\${ImportStateMachineArn}|$machine|" \
	-e "s|\${ImportExecutionsArn}|${machine/:stateMachine:/:execution:}|" \
	-e "s|\${ResultBucketName}|$(output ResultBucketName)|; s|\${NotificationTopicArn}|$topic|" \
	"$root/statemachine/testdata/files.golden.json" >"$definition"
many=$(deploy_machine "$prefix-files" "$definition" "$(output FilesStateMachineArn)")
rm -f "$definition"
start=$(deploy_function start 30 "{\"STATE_MACHINE_ARN\":\"$machine\",\"FILES_STATE_MACHINE_ARN\":\"$many\"}")
echo "$machine"
echo "$many"
echo "$start"
