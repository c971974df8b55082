// Package queue is the state machine of one SQS queue, standard or FIFO: which message can be received at a given
// instant, which is hidden until when, in which order groups are handed out, which message was sent before, and which
// has been received too often.
//
// It is pure: every call is given the time, in milliseconds since 1970 (UTC), and times of one queue never go back. It
// knows no bodies, no disk, no network and no clock, and it is for one goroutine at a time.
package queue
