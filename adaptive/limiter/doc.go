// Package limiter limits the concurrent calls of a callee, and learns the limit from how calls end: additive
// increase, multiplicative decrease (AIMD).
//
// Every success adds 1 ÷ limit to the limit, so that it grows by about one for each round of calls. Failures of the
// callee reduce it once a second, by half of the share of time that they took but at most a fifth, and never below one
// call at a time. A callee that breaks down therefore receives only single calls within seconds, and its load returns
// as fast as it responds. Refused work is deferred: a caller that waits comes back through the same limiter, so a herd
// cannot knock the callee down again.
//
// Only calls that were made while the limit was in use move it, unless nothing succeeds at all. Errors that come by
// chance, whatever the load, leave it alone: fewer calls at a time would fail as often. A timeout, which holds the
// callee for nothing, counts in full. Of an error, only the time beyond that of a success does.
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
