package lambda

// partly says what operations that are served do not do.
var partly = map[string]string{
	"CreateEventSourceMapping": "queues of SQS and streams of DynamoDB only; no tumbling windows, " +
		"one batch of a stream at a time",
	"UpdateEventSourceMapping": "as CreateEventSourceMapping",
	"AddPermission":            "kept, and evaluated for nobody",
	"CreateFunction": "no layers, container images, VPC, file systems and code signing; tracing and SnapStart are " +
		"kept without effect",
	"PutFunctionEventInvokeConfig": "buckets are no destinations",
	"UpdateFunctionConfiguration":  "as CreateFunction",
}
