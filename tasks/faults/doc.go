// Package faults makes tasks fail on purpose, so that a person can watch how a state machine retries: a given share of
// a state's invocations of a function, or calls of a service, suffers a given error, hangs, crashes or is throttled.
//
// Whether an invocation suffers depends on nothing but the seed, the fault, the state, the payload and the number of
// the attempt. Members of the payload that are called run, startTime and attempt, which tell one run from the next, do
// not count. The order in which invocations run has no part in it, so a seed gives the same faults on every machine
// and at every concurrency.
//
// The package stands between an engine and what its tasks call. It never retries, keeps no time, and does not touch an
// invocation that no fault befalls.
package faults
