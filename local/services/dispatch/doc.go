// Package dispatch delivers accepted letters at least once: each is stored until its target has it, retried with
// back-off on the clock if that may help, and otherwise sent to a dead-letter queue. EventBridge's targets and
// Scheduler's share it, with the retry policy that both have.
//
// Letters for which Accept has returned nil are delivered even after kill -9. The package does not know rules or
// schedules; its owner provides the function that delivers a letter to its target.
package dispatch
