// Package store stores the queues and messages of the embedded SQS in a Pebble store in a directory. Changes are
// applied in order of arrival, and those that arrive while the disk is busy are synced together.
//
// It interprets nothing: the content of a queue's record is up to the service. The directory is created with the
// first change, so that an unused SQS costs nothing.
package store
