package sqs

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"AddPermission": "kept, and evaluated for nobody",
	"CreateQueue": "encryption settings and `FifoThroughputLimit` are kept without effect: messages are not " +
		"encrypted, nothing is throttled; policies are evaluated for nobody",
	"SetQueueAttributes": "as CreateQueue",
}
