// Package eventsource implements Lambda's event source mappings: it reads SQS queues and DynamoDB streams, invokes
// functions with batches of records, and acts on their responses.
//
// From a queue, messages that a function has handled are deleted; the others become visible again after the queue's
// visibility timeout. From a stream, batches come in order. A failed batch is retried, split in two, or given up, as
// the mapping specifies. The position of a mapping is on disk before it moves on. After kill -9, everything is
// handled at least once.
//
// Idle mappings cost no time: they wait on the clock for new records. The package knows the wording of Lambda's API
// for mappings, but nothing of HTTP.
package eventsource
