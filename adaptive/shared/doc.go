// Package shared has many processes share one breaker and one limiter for each callee.
//
// A Lambda environment serves one call at a time, so that a breaker of its own learns next to nothing. Here every
// process adds what it saw to the callee's counters in a [Store], once or so a second ([Gate]), and reads back what
// all of them know. The first to find a second over turns the counters into the next [Record] under a condition, so
// that every outcome counts once however many processes race; what they lose is a write and not a decision.
//
// Between two readings a process goes by what it read last: a closed circuit admits the share of its calls that the
// limit has room for, an open one refuses without asking, and a probe of a half-open circuit is taken by a write of
// its own, so that there are never more of them than the policy allows.
//
// A store that cannot be reached must not stop the work: the gate then fails open, admits everything, and tells
// [Config.Unavailable].
package shared
