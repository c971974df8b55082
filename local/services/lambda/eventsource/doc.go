// Package eventsource is Lambda's event source mappings: what reads queues of SQS and streams of DynamoDB, hands what
// comes to functions in batches, and goes by what they answer.
//
// Of a queue, messages that a function has handled are deleted; the others become visible again after the queue's
// visibility timeout. Of a stream, batches come in order; one that fails is tried again, split in two, or given up, as
// the mapping says, and how far a mapping has come is on the disk before it goes on. After kill -9 everything is
// handled at least once.
//
// Mappings that have nothing to do cost no time: they wait for what comes, on the clock. The package knows how Lambda's
// API words mappings, and nothing of HTTP.
package eventsource
