// Package faults makes tasks fail on purpose, to show how a state machine retries: a given share of a state's
// function invocations, or service calls, fails with a given error, hangs, crashes or is throttled.
//
// Whether an invocation is affected depends only on the seed, the fault, the state, the payload and the number of the
// attempt. Members of the payload named run, startTime and attempt, which differ from run to run, do not count. The
// order of invocations does not matter, so a seed produces the same faults on every machine and at every concurrency.
//
// The package sits between an engine and the callees of its tasks. It never retries, keeps no time, and does not
// touch invocations that no fault affects.
package faults
