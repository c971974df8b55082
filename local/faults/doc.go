// Package faults makes functions fail on purpose, so that a person can watch how a state machine retries: a given share
// of a state's invocations suffers a given error, hangs, crashes or is throttled.
//
// Whether an invocation suffers depends on nothing but the seed, the fault, the state, the payload and the number of
// the attempt. The order in which invocations run has no part in it, so a seed gives the same faults on every machine
// and at every concurrency.
//
// The package stands between an engine and the functions. It never retries, keeps no time, and does not touch an
// invocation that no fault befalls.
package faults
