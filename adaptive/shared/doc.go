// Package shared lets many processes share one breaker and one limiter for each callee.
//
// A Lambda environment serves one call at a time, so a separate breaker in each would learn next to nothing. Here
// every process adds its observations to the callee's counters in a [Store] about once a second ([Gate]), and reads
// back the shared state. The first process to find that a second has passed turns the counters into the next [Record]
// with a conditional write. Every outcome therefore counts once, however many processes race; a process that loses
// the race loses a write, not a decision.
//
// Between two reads a process uses what it read last. A closed circuit admits the share of its calls that the limit
// allows; an open one refuses without accessing the store. A probe of a half-open circuit is taken by a separate
// write, so that there are never more probes than the policy allows.
//
// An unreachable store must not stop the work: the gate then fails open, admits everything, and calls
// [Config.Unavailable].
package shared
