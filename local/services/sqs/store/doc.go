// Package store keeps the queues and messages of the embedded SQS in a Pebble store in a directory. Changes are applied
// in the order of their coming, and those of many clients that come while the disk is busy are synced together.
//
// It interprets nothing: what a queue's record says is the service's business. The directory is made when the first
// change is, so that an SQS that nobody uses costs nothing.
package store
