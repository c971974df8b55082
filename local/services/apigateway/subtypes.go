package apigateway

import (
	"maps"
	"slices"
)

// subtype is an operation of another service that an integration calls.
type subtype struct {
	service, operation string
	required, allowed  []string
	// of builds the input of the call from the parameters; nil passes the parameters unchanged.
	of func(parameters map[string]any) map[string]any
}

var subtypes = map[string]subtype{
	"StepFunctions-StartExecution": {service: "sfn", operation: "StartExecution",
		required: []string{"StateMachineArn"}, allowed: []string{"Name", "Input", "Region", "TraceHeader"}},
	"StepFunctions-StartSyncExecution": {service: "sfn", operation: "StartSyncExecution",
		required: []string{"StateMachineArn"}, allowed: []string{"Name", "Input", "Region", "TraceHeader"}},
	"StepFunctions-StopExecution": {service: "sfn", operation: "StopExecution",
		required: []string{"ExecutionArn"}, allowed: []string{"Cause", "Error", "Region"}},
	"SQS-SendMessage": {service: "sqs", operation: "SendMessage", required: []string{"QueueUrl", "MessageBody"},
		allowed: []string{"DelaySeconds", "MessageAttributes", "MessageDeduplicationId", "MessageGroupId",
			"MessageSystemAttributes", "Region"}},
	"SQS-ReceiveMessage": {service: "sqs", operation: "ReceiveMessage", required: []string{"QueueUrl"},
		allowed: []string{"AttributeNames", "MaxNumberOfMessages", "MessageAttributeNames", "ReceiveRequestAttemptId",
			"VisibilityTimeout", "WaitTimeSeconds", "Region"}},
	"SQS-DeleteMessage": {service: "sqs", operation: "DeleteMessage", required: []string{"ReceiptHandle", "QueueUrl"},
		allowed: []string{"Region"}},
	"SQS-PurgeQueue": {service: "sqs", operation: "PurgeQueue", required: []string{"QueueUrl"}, allowed: []string{"Region"}},
	"EventBridge-PutEvents": {service: "eventbridge", operation: "PutEvents",
		required: []string{"Detail", "DetailType", "Source"},
		allowed:  []string{"Time", "EventBusName", "Resources", "Region", "TraceHeader"},
		of: func(entry map[string]any) map[string]any {
			return map[string]any{"Entries": []any{entry}}
		}},
}

func subtypeNames() []string { return slices.Sorted(maps.Keys(subtypes)) }
