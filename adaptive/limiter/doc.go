// Package limiter limits the concurrent calls of a callee, and learns the limit from how calls end: additive
// increase, multiplicative decrease (AIMD).
//
// Every success adds 1 ÷ limit to the limit, so that it grows by about one for each round of calls. A failure of the
// callee reduces it by a fifth, at most once a second, and never below one call at a time. A callee that breaks down
// therefore receives only single calls within seconds, and its load returns as fast as it responds. Refused work is
// deferred: a caller that waits comes back through the same limiter, so a herd cannot knock the callee down again.
//
// There are three layers:
//
//   - [State] is a plain value with the time handed in; [State.Allow] and [State.Record] follow single calls.
//   - [State.Advance] does the same for the sums of many calls that other processes made, for a limit shared through a
//     database; [Share] is the part of the calls that a process may then admit.
//   - [Limiter] is a State with a mutex and a clock. [Pacer] spreads deferred calls evenly.
//
// A limiter never waits and never retries.
package limiter
