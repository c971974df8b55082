// Package queue is the state machine of a single SQS queue, standard or FIFO. It determines which messages can be
// received at a given time, until when messages are hidden, the order of message groups, which messages are
// duplicates, and which have been received too often.
//
// It is pure: the time is passed to every call, in milliseconds since 1970 (UTC), and must not go backwards for a
// queue. It knows no bodies, no disk, no network and no clock, and must not be used concurrently.
package queue
