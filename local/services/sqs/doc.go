// Package sqs is the embedded SQS: standard and FIFO queues with the whole API of Amazon SQS. It serves AWS JSON
// 1.0, with the error codes that clients of the older Query protocol read, and the Query protocol itself, which
// SDKs used until 2023 (see API). Package queue determines the order and visibility of messages, and package store
// the disk format. This package provides the time to both, wakes waiting polls, and implements AWS's wording.
//
// Everything is on disk before it is acknowledged: sent messages, deletions, which messages are in flight and until
// when, duplicates of the last five minutes, and message move tasks. The only exception is the receipt of a message
// from a standard queue, which may be acknowledged some milliseconds earlier. After a crash in between, the message
// is received once more. Time comes from a clock.Clock, so virtual and scaled time drive delays, visibility,
// retention and long polls.
//
// Policies are stored, and checked to be JSON, but not evaluated. Nothing is encrypted or throttled. A queue can be
// recreated immediately after its deletion, for which AWS requires a wait of a minute.
package sqs
