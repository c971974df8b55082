package lambda

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"CreateEventSourceMapping": "only SQS queues and DynamoDB streams; no tumbling windows, " +
		"one batch of a stream at a time",
	"UpdateEventSourceMapping":        "as CreateEventSourceMapping",
	"PutRuntimeManagementConfig":      "stored; runtimes are the machine's interpreters",
	"PutFunctionRecursionConfig":      "stored; recursive loops are not detected",
	"AddPermission":                   "evaluated only with `serve --enforce-iam`",
	"AddLayerVersionPermission":       "stored; never evaluated",
	"CreateFunctionUrlConfig":         "responses are not streamed; with AWS_IAM the signature is not checked",
	"UpdateFunctionUrlConfig":         "as CreateFunctionUrlConfig",
	"PutProvisionedConcurrencyConfig": "no process is started in advance",
	"CreateFunction": "no container images, VPC, file systems or code signing; SnapStart is " +
		"stored without effect",
	"PutFunctionEventInvokeConfig": "buckets cannot be destinations",
	"UpdateFunctionConfiguration":  "as CreateFunction",
}

// accepted lists the members of requests that have no effect, and why.
var accepted = map[string]map[string]string{
	"CheckpointDurableExecution": {
		"Updates.ChainedInvokeOptions.XAmznTraceId": "a chained invocation belongs to the execution's trace",
	},
}
