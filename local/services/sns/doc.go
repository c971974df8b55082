// Package sns is the embedded SNS: standard and FIFO topics, subscriptions of SQS queues, Lambda functions, HTTP
// endpoints and mail addresses, filter policies, raw message delivery, dead-letter queues and batches, over SNS's
// Query protocol with its limits and error codes.
//
// An acknowledged message is never lost. When Publish returns, the message is in the subscribed queues. For all
// other subscriptions it stays on disk until it is delivered; failures are retried by the delivery policy (package
// backoff) on a clock.Clock. After a crash a message may be delivered twice, but queues subscribed to a FIFO topic
// receive it once and in order. Mails go to an inbox on this machine. Messages are signed with a locally generated
// key, whose certificate is served at SigningCertURL. Messages to topics without subscriptions are written to a
// file of JSON Lines, where a developer or a test can read what would have been sent.
//
// It sends no mail and no SMS, and supports no mobile push, no archives and no data protection. It evaluates no
// policies and encrypts nothing.
package sns
