package sqs

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"AddPermission": "evaluated only with `serve --enforce-iam`",
	"CreateQueue": "encryption settings and `FifoThroughputLimit` are stored; messages are not encrypted, " +
		"nothing is throttled; policies are evaluated only with `serve --enforce-iam`",
	"SetQueueAttributes": "as CreateQueue",
}
