// Package sqs is the embedded SQS of the laptop: standard and FIFO queues with the whole API of Amazon SQS, over AWS
// JSON 1.0 with the error codes that clients of the older Query protocol read. The order and visibility of messages is
// package queue's, the disk package store's; this package gives both the time, wakes polls that wait, and speaks AWS's
// words.
//
// What has been answered is on the disk: sent messages, deletions, what is in flight and until when, duplicates of the
// last five minutes, tasks that move messages. Only that a message of a standard queue was received may be answered
// some milliseconds earlier: after a crash in between it is received once more. Time is that of a clock.Clock, so that
// virtual and scaled time drive delays, visibility, retention and long polls.
//
// It evaluates no policies: they are checked to be JSON and kept. It encrypts nothing, throttles nothing, and lets a
// queue be made again at once after its deletion, where AWS has one wait for a minute. The Query protocol itself, which
// SDKs spoke until 2023, is not served.
package sqs
