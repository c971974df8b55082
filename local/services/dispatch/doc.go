// Package dispatch delivers letters that have been accepted, at least once: each is kept until its target has it, tried
// again with back-off on the clock when that may help, and sent to a dead-letter queue when it does not. EventBridge's
// targets and Scheduler's share it, with the retry policy that both have.
//
// What Accept has returned for is delivered also after kill -9. The package knows no rules and no schedules; how a
// letter reaches its target is a function of its owner's.
package dispatch
