// Package dispatch delivers accepted letters at least once: each is stored until its target has it, retried with
// back-off on the clock if that may help, and otherwise sent to a dead-letter queue. EventBridge's targets, Scheduler's
// and the subscriptions of log groups share it, with the retry policy that all of them have. A target that hangs delays
// its own letters alone (package lanes).
//
// Letters for which Accept has returned nil are delivered even after kill -9. The package does not know rules or
// schedules; its owner provides the function that delivers a letter to its target.
package dispatch
