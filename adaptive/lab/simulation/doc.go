// Package simulation carries out one scenario under one policy with one seed: a discrete-event simulation of
// records, retries, services with queues, and faults. [Run] returns what was measured.
//
// A record is one execution of a Task state. It calls a service, which answers, fails, or does not answer in time;
// its retriers say whether and when it calls again. Waits come from retry.Policy. Random numbers come from
// package draw, so that a record's attempt has the same fate under every policy. Time is virtual and counted in
// whole nanoseconds; the same input always gives the same result. The package does no I/O, starts no goroutines and
// reads no clock.
package simulation
