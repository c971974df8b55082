// Package sqs is the embedded SQS: standard and FIFO queues with the whole API of Amazon SQS, over AWS JSON 1.0 with
// the error codes that clients of the older Query protocol read, and over that protocol itself, which SDKs used until
// 2023 (see API). Package queue determines the order and visibility of messages, package store the disk format; this
// package provides the time to both, wakes waiting polls, and implements AWS's wording.
//
// Everything is on disk before it is acknowledged: sent messages, deletions, which messages are in flight and until
// when, duplicates of the last five minutes, and message move tasks. The only exception is the receipt of a message
// from a standard queue, which may be acknowledged some milliseconds earlier: after a crash in between, the message
// is received once more. Time comes from a clock.Clock, so virtual and scaled time drive delays, visibility,
// retention and long polls.
//
// It evaluates no policies: they are checked to be JSON and stored. It encrypts nothing, throttles nothing, and lets
// a queue be recreated immediately after its deletion, where AWS requires waiting for a minute.
package sqs
