package lambda

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"CreateEventSourceMapping": "queues of SQS and streams of DynamoDB only; no tumbling windows, " +
		"one batch of a stream at a time",
	"UpdateEventSourceMapping":        "as CreateEventSourceMapping",
	"PutRuntimeManagementConfig":      "kept: runtimes are the machine's interpreters",
	"PutFunctionRecursionConfig":      "kept: recursive loops are not looked for",
	"AddPermission":                   "kept, and evaluated for nobody",
	"AddLayerVersionPermission":       "kept, and evaluated for nobody",
	"CreateFunctionUrlConfig":         "answers are not streamed; of AWS_IAM the signature is not checked",
	"UpdateFunctionUrlConfig":         "as CreateFunctionUrlConfig",
	"PutProvisionedConcurrencyConfig": "no process is started in advance",
	"CreateFunction": "no container images, VPC, file systems and code signing; SnapStart is " +
		"kept without effect",
	"PutFunctionEventInvokeConfig": "buckets are no destinations",
	"UpdateFunctionConfiguration":  "as CreateFunction",
}
