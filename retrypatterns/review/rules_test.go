package review_test

import (
	"slices"
	"strings"
	"testing"

	"stepback/asl"
	"stepback/retrypatterns/review"
)

// quiet is a retrier about which no rule reports anything.
const quiet = `{"ErrorEquals": ["Busy"], "IntervalSeconds": 5, "MaxAttempts": 5, "JitterStrategy": "FULL"}`

// golden holds, for each rule, definitions in which it finds something, and similar ones in which it finds nothing.
// Each is a state X in a machine; further members and options of the machine come first if they matter.
var golden = map[asl.Code]struct {
	options   review.Options
	bad, good []string
}{
	"RETRIER_NEVER_MATCHES": {
		bad: []string{
			task(queue + `, "Retry": [` + quiet + `, ` + quiet + `]`),
			task(queue + `, "Retry": [{"ErrorEquals": ["States.Runtime"]}]`),
			task(queue + `, "Retry": [{"ErrorEquals": ["States.HeartbeatTimeout"]}], "TimeoutSeconds": 9`),
			task(`"Resource": "arn:aws:states:::dynamodb:putItem", "Retry": [{"ErrorEquals": ["DynamoDb.ThrottlingException"]}]`),
			task(`"Resource": "arn:aws:states:::aws-sdk:sns:publish", "Retry": [{"ErrorEquals": ["SNS.AmazonSNSException"]}]`),
			task(`"Resource": "arn:aws:states:::states:startExecution.sync:2", "Retry": [{"ErrorEquals": ["OutOfStock"]}]`),
		},
		good: []string{
			task(queue + `, "Retry": [` + quiet + `, {"ErrorEquals": ["States.ALL"]}]`),
			task(`"Resource": "arn:aws:states:::aws-sdk:dynamodb:putItem", "Retry": [{"ErrorEquals": ["DynamoDb.DynamoDbException"]}]`),
			task(`"Resource": "arn:aws:states:::s3:getObject", "Retry": [{"ErrorEquals": ["S3.SdkClientException"]}]`),
		},
	},
	"PERMANENT_ERROR_RETRIED": {
		bad: []string{
			task(queue + `, "Retry": [{"ErrorEquals": ["States.Permissions"]}]`),
			task(queue + `, "Retry": [{"ErrorEquals": ["Busy", "States.ParameterPathFailure"]}]`),
			task(queue + `, "Retry": [{"ErrorEquals": ["DynamoDb.ValidationException"]}]`),
			task(queue + `, "Retry": [{"ErrorEquals": ["Lambda.InvalidParameterValueException"]}]`),
		},
		good: []string{
			task(queue + `, "Retry": [{"ErrorEquals": ["States.Permissions"], "MaxAttempts": 0}]`),
			task(queue + `, "Retry": [{"ErrorEquals": ["DynamoDb.ConditionalCheckFailedException", "Sqs.ServiceUnavailable"]}]`),
			task(queue + `, "Retry": [{"ErrorEquals": ["ValidationException", "Ours.Odd"]}]`),
		},
	},
	"EVERY_ERROR_RETRIED": {
		bad: []string{
			task(queue + `, "Retry": [{"ErrorEquals": ["States.ALL"]}]`),
			task(queue + `, "Retry": [{"ErrorEquals": ["States.TaskFailed"]}]`),
		},
		good: []string{
			task(queue + `, "Retry": [{"ErrorEquals": ["Refused"], "MaxAttempts": 0}, {"ErrorEquals": ["States.ALL"]}]`),
			caught("Park", task(sqs+`, "Retry": [{"ErrorEquals": ["States.ALL"]}]`)),
		},
	},
	"LAMBDA_FAULTS_NOT_RETRIED": {
		bad: []string{
			task(function), task(`"Resource": "arn:aws:lambda:us-east-1:123456789012:function:f"`),
			task(function + `, "Retry": [{"ErrorEquals": ["Lambda.ServiceException"]}]`),
		},
		good: []string{task(function + `, "Retry": [` + faults + `]`), task(queue)},
	},
	"SERVICE_FAULTS_NOT_RETRIED": {
		bad: []string{
			task(`"Resource": "arn:aws:states:::dynamodb:putItem"`),
			task(`"Resource": "arn:aws:states:::aws-sdk:s3:getObject", "Retry": [` + quiet + `]`),
		},
		good: []string{
			task(`"Resource": "arn:aws:states:::dynamodb:putItem", "Retry": [
				{"ErrorEquals": ["DynamoDB.ProvisionedThroughputExceededException", "DynamoDB.SdkClientException"]}]`),
			task(`"Resource": "arn:aws:states:::sqs:sendMessage", "Retry": [{"ErrorEquals": ["States.TaskFailed"]}]`),
		},
	},
	"HTTP_CODES": {
		bad: []string{
			task(endpoint + `, "Retry": [{"ErrorEquals": ["States.Http.StatusCode.404"]}, ` + passing + `]`),
			task(endpoint + `, "Retry": [{"ErrorEquals": ["States.Http.StatusCode.503"]}]`),
		},
		good: []string{task(endpoint + `, "Retry": [` + passing + `]`)},
	},
	"NO_JITTER": {
		bad:  []string{task(queue + `, "Retry": [{"ErrorEquals": ["Busy"]}]`)},
		good: []string{task(queue + `, "Retry": [` + quiet + `, {"ErrorEquals": ["No"], "MaxAttempts": 0}]`)},
	},
	"FIXED_INTERVAL": {
		bad:  []string{task(queue + `, "Retry": [{"ErrorEquals": ["Busy"], "BackoffRate": 1}]`)},
		good: []string{task(queue + `, "Retry": [{"ErrorEquals": ["Busy"], "BackoffRate": 1, "MaxAttempts": 1}]`)},
	},
	"NO_MAX_DELAY": {
		bad: []string{task(queue + `, "Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 13}]`)},
		good: []string{
			task(queue + `, "Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 13, "MaxDelaySeconds": 300}]`),
		},
	},
	"TOO_MANY_RETRIES": {
		bad:  []string{task(queue + `, "Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 101}]`)},
		good: []string{task(queue + `, "Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 100}]`)},
	},
	"CAP_BELOW_INTERVAL": {
		bad: []string{task(queue + `, "Retry": [{"ErrorEquals": ["B"], "IntervalSeconds": 60, "MaxDelaySeconds": 61},
			{"ErrorEquals": ["C"], "IntervalSeconds": 60, "MaxDelaySeconds": 60}]`)},
		good: []string{task(queue + `, "Retry": [{"ErrorEquals": ["B"], "IntervalSeconds": 6, "MaxDelaySeconds": 60}]`)},
	},
	"ZERO_ON_ALL": {
		bad: []string{task(queue + `, "Retry": [` + quiet + `, {"ErrorEquals": ["States.ALL"], "MaxAttempts": 0}]`)},
		good: []string{
			task(queue + `, "Retry": [{"ErrorEquals": ["No"], "MaxAttempts": 0}, {"ErrorEquals": ["States.ALL"]}]`),
		},
	},
	"THROTTLE_BACKOFF_SHORT": {
		bad: []string{task(queue + `, "Retry": [{"ErrorEquals": ["Lambda.TooManyRequestsException"], "MaxAttempts": 2}]`)},
		good: []string{
			task(queue + `, "Retry": [{"ErrorEquals": ["Lambda.TooManyRequestsException"], "MaxAttempts": 6}]`),
			task(queue + `, "Retry": [{"ErrorEquals": ["States.DataLimitExceeded"], "MaxAttempts": 1}]`),
		},
	},
	"FULL_JITTER_TOO_SHORT": {
		bad: []string{
			task(queue + `, "Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 2, "JitterStrategy": "FULL"}]`),
		},
		good: []string{
			task(queue + `, "Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 2}]`),
			task(queue + `, "Retry": [` + quiet + `]`),
		},
	},
	"NO_TIMEOUT": {
		bad: []string{
			task(`"Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken"`),
			task(`"Resource": "arn:aws:states:us-east-1:123456789012:activity:a"`),
			task(`"Resource": "arn:aws:states:::glue:startJobRun.sync"`), task(endpoint),
		},
		good: []string{
			task(`"Resource": "arn:aws:states:::glue:startJobRun.sync", "TimeoutSeconds": 900`), task(function),
			task(`"Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken", "HeartbeatSeconds": 900`),
		},
	},
	"TIMEOUT_RETRIED_BLIND": {
		bad: []string{task(function + `, "TimeoutSeconds": 9, "Retry": [{"ErrorEquals": ["States.ALL"]}]`)},
		good: []string{
			task(function + `, "TimeoutSeconds": 9, "Retry": [{"ErrorEquals": ["States.Timeout"], "MaxAttempts": 1}]`),
			task(function + `, "Retry": [{"ErrorEquals": ["States.ALL"]}]`),
		},
	},
	"TASKFAILED_MISSES_TIMEOUT": {
		bad: []string{task(queue + `, "TimeoutSeconds": 9, "Retry": [{"ErrorEquals": ["States.TaskFailed"]}]`)},
		good: []string{
			task(queue + `, "Retry": [{"ErrorEquals": ["States.TaskFailed"]}]`),
			task(queue + `, "TimeoutSeconds": 9, "Retry": [{"ErrorEquals": ["States.TaskFailed"]},
				{"ErrorEquals": ["States.Timeout"], "MaxAttempts": 0}]`),
		},
	},
	"FUNCTION_TIMEOUT_MISSED": {
		bad: []string{task(function + `, "TimeoutSeconds": 9, "Retry": [{"ErrorEquals": ["States.Timeout"]}]`)},
		good: []string{task(function + `, "TimeoutSeconds": 9, "Retry": [
			{"ErrorEquals": ["States.Timeout", "Sandbox.Timedout", "Lambda.Unknown"]}]`)},
	},
	"HEARTBEAT_NAME": {
		bad: []string{
			task(queue + `, "HeartbeatSeconds": 9, "Retry": [{"ErrorEquals": ["States.HeartbeatTimeout"]}]`),
			task(queue + `, "HeartbeatSeconds": 9, "Catch": [{"ErrorEquals": ["States.HeartbeatTimeout"], "Next": "Z"}]`),
		},
		good: []string{task(queue + `, "HeartbeatSeconds": 9, "Retry": [
			{"ErrorEquals": ["States.HeartbeatTimeout", "States.Timeout"]}]`)},
	},
	"NOT_IDEMPOTENT_RETRIED": {
		bad: []string{
			task(sqs + `, "Retry": [{"ErrorEquals": ["States.ALL"]}]`),
			task(`"Resource": "arn:aws:states:::glue:startJobRun.sync", "Parameters": {"JobName": "j"}, "TimeoutSeconds": 9,
				"Retry": [{"ErrorEquals": ["States.Timeout"]}]`),
			task(`"Resource": "arn:aws:states:::dynamodb:updateItem", "Parameters": {"TableName": "t", "Key": {},
				"UpdateExpression": "SET n = n + :one"}, "Retry": [{"ErrorEquals": ["States.TaskFailed"]}]`),
			task(`"Resource": "arn:aws:states:::http:invoke", "Parameters": {"Method": "POST", "ApiEndpoint": "https://a"},
				"Retry": [{"ErrorEquals": ["States.Http.Socket"]}]`),
		},
		good: []string{
			task(sqs + `, "Retry": [{"ErrorEquals": ["Sqs.ThrottlingException"]}]`), task(sqs),
			caught("Park", task(sqs+`, "Retry": [{"ErrorEquals": ["States.ALL"]}]`)), // a parking queue
			task(`"Resource": "arn:aws:states:::sqs:sendMessage", "Parameters": {"QueueUrl": "https://sqs/1/orders-dlq", "MessageBody": "b"},
				"Retry": [{"ErrorEquals": ["States.ALL"]}]`),
			task(`"Resource": "arn:aws:states:::ecs:runTask.sync", "Parameters": {"TaskDefinition": "d",
				"ClientToken.$": "$.id"}, "Retry": [{"ErrorEquals": ["States.ALL"]}]`),
			task(`"Resource": "arn:aws:states:::dynamodb:updateItem", "Parameters": {"TableName": "t", "Key": {},
				"UpdateExpression": "SET n = :n"}, "Retry": [{"ErrorEquals": ["States.TaskFailed"]}]`),
		},
	},
	"EXPRESS_TWICE": {
		options: review.Options{Express: true},
		bad: []string{
			task(sqs), task(`"Resource": "arn:aws:states:::states:startExecution", "Parameters": {"StateMachineArn": "a"}`),
		},
		good: []string{
			task(`"Resource": "arn:aws:states:::dynamodb:putItem"`),
			task(`"Resource": "arn:aws:states:::states:startExecution", "Parameters": {"StateMachineArn": "a", "Name.$": "$.id"}`),
		},
	},
	"CHILD_NAME_REUSED": {
		bad: []string{
			task(`"Resource": "arn:aws:states:::states:startExecution", "Parameters": {"StateMachineArn": "a", "Name": "n"},
				"Retry": [{"ErrorEquals": ["States.ALL"]}]`),
			task(`"Resource": "arn:aws:states:::states:startExecution", "Parameters": {"StateMachineArn": "a"},
				"Retry": [{"ErrorEquals": ["States.ALL"]}]`),
		},
		good: []string{
			task(`"Resource": "arn:aws:states:::states:startExecution", "Parameters": {"StateMachineArn": "a",
				"Name.$": "$.id"}, "Retry": [{"ErrorEquals": ["States.ALL"]}]`),
		},
	},
	"MAP_RETRIED_WHOLE": {
		bad: []string{inMap(`"Retry": [`+quiet+`], `, task(queue))},
		good: []string{
			inMap(`"Retry": [{"ErrorEquals": ["States.ItemReaderFailed"]}], `, task(queue)),
			task(queue + `, "Retry": [` + quiet + `]`),
		},
	},
	"TOLERANCE_RETRIED": {
		bad:  []string{inMap(`"Retry": [{"ErrorEquals": ["States.ExceedToleratedFailureThreshold"]}], `, task(queue))},
		good: []string{inMap(`"Retry": [{"ErrorEquals": ["States.ItemReaderFailed"]}], `, task(queue))},
	},
	"HIDDEN_LAYERS": {
		bad: []string{
			task(function + `, "Parameters": {"FunctionName": "f", "InvocationType": "Event"}`),
			task(function + `, "Parameters": {"FunctionName": "f:live", "DurableExecutionName.$": "$.id"}, "Retry": [` + quiet + `]`),
			task(`"Resource": "arn:aws:states:::states:startExecution.sync:2", "Parameters": {"StateMachineArn": "a"},
				"Retry": [{"ErrorEquals": ["States.TaskFailed"], "MaxAttempts": 5}]`),
		},
		good: []string{task(function + `, "Parameters": {"FunctionName": "f"}, "Retry": [` + quiet + `]`)},
	},
	"RETRIES_MULTIPLY": {
		bad:  []string{inMap(`"Retry": [`+quiet+`], `, task(queue+`, "Retry": [`+quiet+`]`))},
		good: []string{inMap(``, task(queue+`, "Retry": [`+quiet+`]`))},
	},
	"RETRIES_OUTLAST_EXECUTION": {
		options: review.Options{Express: true},
		bad: []string{
			task(queue + `, "Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 9}]`),
			task(queue + `, "TimeoutSeconds": 60, "Retry": [` + quiet + `]`),
		},
		good: []string{task(queue + `, "TimeoutSeconds": 9, "Retry": [` + quiet + `]`)},
	},
	"HISTORY_LIMIT": {
		bad: []string{inMap(`"Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 99}], `,
			task(queue+`, "Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 99}]`))},
		good: []string{inMap(`"Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 80}], `,
			task(queue+`, "Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 90}]`))},
	},
	"METASTABLE_ABOVE": {
		options: review.Options{Rate: 20, Capacity: 25},
		bad: []string{
			task(queue + `, "Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 4}]`),
			inMap(`"MaxConcurrency": 100, `, task(queue+`, "TimeoutSeconds": 2`)),
			inMap(``, task(queue+`, "TimeoutSeconds": 2`)),
			inMap(`"MaxConcurrency": 2, `, task(queue+`, "Retry": [`+quiet+`]`)),
			inMap(`"MaxConcurrency": 1, `, task(queue+`, "Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 1}]`)),
		},
		good: []string{
			`{"Type": "Map", "QueryLanguage": "JSONata", "Items": [], "End": true, "ItemProcessor": {"StartAt": "Y", "States": {"Y": ` +
				task(queue+`, "Retry": [`+quiet+`]`) + `}}}`,
			task(queue), task(queue + `, "Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 0}]`),
			inMap(`"MaxConcurrency": 40, `, task(queue+`, "TimeoutSeconds": 2`)),
		},
	},
	"RETRY_OUTLIER": {
		bad:  []string{three(`, "Retry": [`+quiet+`]`, `, "Retry": [`+quiet+`]`, ``)},
		good: []string{three(`, "Retry": [`+quiet+`]`, ``, ``)},
	},
	"CATCH_NEVER_MATCHES": {
		bad: []string{
			task(queue + `, "Catch": [{"ErrorEquals": ["States.Runtime"], "Next": "Z"}]`),
			task(`"Resource": "arn:aws:states:::dynamodb:getItem", "Catch": [{"ErrorEquals": ["DynamoDb.ThrottlingException"], "Next": "Z"}]`),
			task(queue + `, "Catch": [{"ErrorEquals": ["A"], "Next": "Z"}, {"ErrorEquals": ["A", "B"], "Next": "Z"}]`),
		},
		good: []string{
			task(queue + `, "Catch": [{"ErrorEquals": ["A"], "Next": "Z"}, {"ErrorEquals": ["States.ALL"], "Next": "Z"}]`),
		},
	},
	"DATA_LIMIT_NOT_CAUGHT": {
		bad: []string{
			inMap(`"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Z"}], `, task(queue)),
			`{"Type": "Parallel", "End": true, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Z"}], "Branches": [
				{"StartAt": "Y", "States": {"Y": ` + task(queue) + `}}]}`,
			task(`"Resource": "arn:aws:states:::aws-sdk:s3:getObject", "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Z"}]`),
		},
		good: []string{
			inMap(`"Catch": [{"ErrorEquals": ["States.DataLimitExceeded"], "Next": "Z"},
				{"ErrorEquals": ["States.ALL"], "Next": "Z"}], `, task(queue)),
			inMap(`"ResultPath": null, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Z"}], `, task(queue)),
		},
	},
	"EXHAUSTED_NOT_CAUGHT": {
		bad: []string{inMap(``, task(queue+`, "Retry": [`+quiet+`]`))},
		good: []string{
			task(queue + `, "Retry": [` + quiet + `]`),
			inMap(``, `{"Type": "Task", "End": true, `+queue+`, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Park"}]}, "Park": `+
				task(sqs+`, "Retry": [`+quiet+`]`)),
			`{"Type": "Map", "End": true, "ToleratedFailurePercentage": 5, "ItemProcessor": {
				"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
				"StartAt": "Y", "States": {"Y": ` + task(queue+`, "Retry": [`+quiet+`]`) + `}}}`,
		},
	},
	"RETRIED_NOT_CAUGHT": {
		bad: []string{
			task(queue+`, "Retry": [`+quiet+`], "Catch": [{"ErrorEquals": ["CardDeclined"], "Next": "Release room"}]`) +
				`, "Release room": ` + task(queue+`, "Retry": [`+quiet+`]`),
			task(queue+`, "Retry": [{"ErrorEquals": ["States.ALL"]}], "Catch": [{"ErrorEquals": ["Busy"], "Next": "Undo"}]`) +
				`, "Undo": ` + task(queue+`, "Retry": [`+quiet+`]`),
			// Another state's catcher leads to a compensation, this one's errors do not.
			`{"Type": "Task", "Next": "W", ` + queue + `, "Retry": [` + quiet + `]}, "W": {"Type": "Task", "End": true, ` + queue +
				`, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "RefundCard"}]}, "RefundCard": ` + task(queue+`, "Retry": [`+quiet+`]`),
		},
		good: []string{
			task(queue + `, "Retry": [` + quiet + `]`),                                                        // fails the execution, as the definition without a Catch says
			task(queue + `, "Retry": [` + quiet + `], "Catch": [{"ErrorEquals": ["NoAnswer"], "Next": "Z"}]`), // there is nothing to undo
			task(queue + `, "Retry": [` + quiet + `], "Catch": [{"ErrorEquals": ["Busy"], "Next": "Z"}]`),
			task(queue + `, "Retry": [` + quiet + `], "Catch": [{"ErrorEquals": ["States.TaskFailed"], "Next": "Z"}]`),
			task(queue + `, "Retry": [{"ErrorEquals": ["No"], "MaxAttempts": 0}], "Catch": [{"ErrorEquals": ["Busy"], "Next": "Z"}]`),
			`{"Type": "Parallel", "End": true, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Z"}], "Branches": [
				{"StartAt": "Y", "States": {"Y": ` + task(queue+`, "Retry": [`+quiet+`], "Catch": [{"ErrorEquals": ["A"], "Next": "Y2"}]`) +
				`, "Y2": {"Type": "Succeed"}}}]}`,
			inMap(`"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Z"}], `, task(queue+`, "Retry": [`+quiet+`]`)),
		},
	},
	"UNPROTECTED_COMPENSATION": {
		bad: []string{
			caught("Refund", task(queue)), caught("Undo reservation", task(queue)), caught("roll_back", task(queue)),
			caught("Tidy", task(`"Resource": "arn:aws:states:::aws-sdk:mailmanager:deleteAddressList"`)), caught("Tidy", task(function)),
			caught("Refund", task(queue+`, "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 0}]`)),
			`{"Type": "Task", "Next": "CancelOrder", ` + queue + `}, "CancelOrder": ` + task(queue),
		},
		good: []string{
			caught("Refund", task(queue+`, "Retry": [`+quiet+`]`)),
			caught("Refund", task(queue+`, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Z"}]`)),
			caught("Tell", task(sqs)), caught("Tell", task(`"Resource": "arn:aws:states:::sns:publish", "Parameters": {}`)),
			caught("Cancelled", `{"Type": "Fail"}`), caught("Refund", `{"Type": "Pass", "End": true}`),
			`{"Type": "Task", "Next": "NotifyCancelled", ` + queue + `}, "NotifyCancelled": ` + task(queue),
		},
	},
	"CATCH_LOOP_RETRIES_FOREVER": {
		bad: []string{`{"Type": "Task", ` + queue +
			`, "End": true, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "X"}]}`},
		good: []string{task(queue + `, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Z"}]`)},
	},
	"IGNORE_UNCLEAR": {
		bad: []string{
			task(queue + `, "Comment": "stepback:ignore NO_JITTER"`),
			task(queue + `, "Comment": "stepback:ignore NO_SUCH why"`),
			task(queue + `, "Comment": "stepback:ignore NO_JITTER one caller only"`),
		},
		good: []string{
			task(queue + `, "Comment": "stepback:ignore NO_JITTER one caller only", "Retry": [{"ErrorEquals": ["Busy"]}]`),
		},
	},
}

const (
	endpoint = `"Resource": "arn:aws:states:::http:invoke"`
	sqs      = `"Resource": "arn:aws:states:::sqs:sendMessage", "Parameters": {"QueueUrl": "q", "MessageBody": "b"}`
	passing  = `{"ErrorEquals": ["States.Http.StatusCode.429", "States.Http.StatusCode.503", "States.Http.Socket"],
		"IntervalSeconds": 5, "MaxAttempts": 5, "JitterStrategy": "FULL"}`
)

// three returns states that have the same callee, one after another.
func three(a, b, c string) string {
	next := func(to, members string) string {
		return `{"Type": "Task", "Next": "` + to + `", ` + queue + members + `}`
	}
	return next("V", a) + `, "V": ` + next("W", b) + `, "W": ` + next("Z", c)
}

// caught returns a task whose catcher leads to another state, and that state.
func caught(name, state string) string {
	return `{"Type": "Task", "End": true, ` + queue + `, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "` + name + `"}]}, "` +
		name + `": ` + state
}

func codes(t *testing.T, state string, o review.Options) []asl.Code {
	t.Helper()
	definition := `{"StartAt": "X", "States": {"X": ` + state +
		`, "Z": {"Type": "Succeed"}, "T": {"Type": "Choice", "Choices": [
		{"Variable": "$.a", "IsNull": true, "Next": "X"}], "Default": "Z"}}}`
	definition = strings.Replace(definition, `"StartAt": "X"`, `"StartAt": "T"`, 1)
	m, found := asl.Parse(definition)
	if m == nil {
		t.Fatalf("not valid: %v\n%s", found, definition)
	}
	report := review.Definition(definition, m, o)
	all := make([]asl.Code, len(report.Findings))
	for i, f := range report.Findings {
		all[i] = f.Code
	}
	return all
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, rule := range review.Rules() {
		t.Run(string(rule.Code), func(t *testing.T) {
			t.Parallel()
			g, ok := golden[rule.Code]
			if !ok || len(g.bad) == 0 || len(g.good) == 0 {
				t.Fatal("has no definitions that show it")
			}
			if rule.Title == "" || rule.Why == "" {
				t.Error("does not explain itself")
			}
			for _, state := range g.bad {
				if got := codes(t, state, g.options); !slices.Contains(got, rule.Code) {
					t.Errorf("not found: %v in %s", got, state)
				}
			}
			for _, state := range g.good {
				if got := codes(t, state, g.options); slices.Contains(got, rule.Code) {
					t.Errorf("found in %s", state)
				}
			}
		})
	}
}

// TestFix applies fixes until none is left, and reviews the result again.
func TestFix(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt": "X", "States": {
  "X": {
    "Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}, "TimeoutSeconds": 9,
    "Retry": [
      {
        "ErrorEquals": ["States.Timeout"], "BackoffRate": 1,
        "MaxAttempts": 2
      },
      {"ErrorEquals": ["States.Timeout"]},
      {"ErrorEquals": ["A"], "MaxAttempts": 13, "JitterStrategy": "NONE"}
    ],
    "End": true
  }
}}`
	text := definition
	for range 5 {
		m, found := asl.Parse(text)
		if m == nil {
			t.Fatalf("mended to something invalid: %v\n%s", found, text)
		}
		report := review.Definition(text, m, review.Options{})
		fixed, mended := review.Fix(text, report.Findings)
		if mended == 0 {
			break
		}
		text = fixed
	}
	const want = `{"StartAt": "X", "States": {
  "X": {
    "Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}, "TimeoutSeconds": 9,
    "Retry": [
      {"ErrorEquals": ["Lambda.ServiceException", "Lambda.AWSLambdaException", "Lambda.SdkClientException", ` +
		`"Lambda.ClientExecutionTimeoutException", "Lambda.TooManyRequestsException"], "IntervalSeconds": 1, ` +
		`"MaxAttempts": 6, "BackoffRate": 2, "MaxDelaySeconds": 60, "JitterStrategy": "FULL"},
      {
        "IntervalSeconds": 4,
        "JitterStrategy": "FULL",
        "ErrorEquals": ["States.Timeout", "Sandbox.Timedout", "Lambda.Unknown"], "BackoffRate": 2,
        "MaxAttempts": 2
      },
      {"MaxDelaySeconds": 300, "ErrorEquals": ["A"], "MaxAttempts": 13, "JitterStrategy": "FULL"}
    ],
    "End": true
  }
}}`
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// TestFixesContradictNothing applies the fixes of all definitions above until none is left: the result has no finding
// that another fix could repair, and no finding of a rule that had found nothing before.
func TestFixesContradictNothing(t *testing.T) {
	t.Parallel()
	blind := task(function + `, "TimeoutSeconds": 9, "Retry": [{"ErrorEquals": ["Busy", "States.Timeout"], "MaxAttempts": 4, "JitterStrategy": "FULL"}]`)
	states := []string{blind,
		task(function + `, "TimeoutSeconds": 9, "HeartbeatSeconds": 5, "Retry": [{"ErrorEquals": ["States.HeartbeatTimeout"], "MaxAttempts": 5}]`),
		inMap(`"Retry": [`+quiet+`], `, task(function)),
		task(queue + `, "Retry": [{"ErrorEquals": ["Busy"], "BackoffRate": 1, "IntervalSeconds": 60, "MaxAttempts": 4}]`),
		task(queue + `, "Retry": [{"ErrorEquals": ["Busy"], "IntervalSeconds": 600, "MaxAttempts": 13}]`),
	}
	for _, g := range golden {
		states = slices.Concat(states, g.bad, g.good)
	}
	for _, state := range states {
		for _, limit := range []string{"", `"TimeoutSeconds": 300, `} {
			definition := `{"StartAt": "T", ` + limit + `"States": {"X": ` + state + `, "Z": {"Type": "Succeed"}, "T": {"Type": "Choice",
				"Choices": [{"Variable": "$.a", "IsNull": true, "Next": "X"}], "Default": "Z"}}}`
			review1 := func(text string) (review.Report, map[asl.Code]bool) {
				m, found := asl.Parse(text)
				if m == nil {
					t.Fatalf("fixed to something invalid: %v\n%s", found, text)
				}
				report := review.Definition(text, m, review.Options{})
				codes := map[asl.Code]bool{}
				for _, f := range report.Findings {
					codes[f.Code] = true
				}
				return report, codes
			}
			report, before := review1(definition)
			text, after := definition, before
			for range 10 {
				fixed, n := review.Fix(text, report.Findings)
				if n == 0 {
					break
				}
				text = fixed
				report, after = review1(text)
			}
			if _, n := review.Fix(text, report.Findings); n > 0 {
				t.Errorf("fixes follow one another for ever:\n%s", text)
			}
			for code := range after {
				if !before[code] && code != "EXHAUSTED_NOT_CAUGHT" && code != "RETRIED_NOT_CAUGHT" { // they ask for a Catch beside each Retry
					t.Errorf("fixes lead to %s:\n%s\n%s", code, definition, text)
				}
			}
		}
	}
	text := machine("", blind)
	for range 5 {
		text, _ = review.Fix(text, opinion(t, text, false).Findings)
	}
	const want = `{"ErrorEquals": ["States.Timeout", "Sandbox.Timedout", "Lambda.Unknown"], "IntervalSeconds": 5, "MaxAttempts": 2, ` +
		`"BackoffRate": 2, "JitterStrategy": "FULL"}, {"ErrorEquals": ["Busy"], "MaxAttempts": 4, "JitterStrategy": "FULL"}]`
	if !strings.Contains(text, want) {
		t.Errorf("%s", text)
	}
}

func TestRuleNamed(t *testing.T) {
	t.Parallel()
	if r, ok := review.RuleNamed("no_jitter"); !ok || r.Code != "NO_JITTER" {
		t.Errorf("%v, %v", r.Code, ok)
	}
	if _, ok := review.RuleNamed("NO_SUCH"); ok {
		t.Error("there is a rule NO_SUCH")
	}
}
