// Package sns is the embedded SNS of the laptop: standard and FIFO topics, subscriptions of SQS queues, Lambda
// functions, HTTP endpoints and mail addresses, filter policies, raw messages, dead-letter queues and batches, over
// SNS's Query protocol with its limits and error codes.
//
// What has been answered is not lost: a message is in the subscribed queues when Publish answers, and for all other
// subscriptions it is on the disk until it is delivered, after failures by the delivery policy (package backoff) on a
// clock.Clock. After a crash a message may come twice; queues that are subscribed to a FIFO topic get it once and in
// order. Mails come into an inbox on this machine. Messages are signed with a key that is made here, whose certificate
// is served at SigningCertURL. The messages of topics without subscriptions are kept in a file of JSON Lines, where a
// person or a test can read what would have been sent.
//
// It sends no mail and no SMS, knows no mobile push, no archives and no data protection, evaluates no policies and
// encrypts nothing.
package sns
