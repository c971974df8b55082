// Package simulation runs one scenario under one policy with one seed: a discrete-event simulation of records,
// retries, services with queues, and faults. [Run] returns the measurements.
//
// A record is one execution of a Task state. It calls a service, which succeeds, fails, or does not respond in time;
// the record's retriers decide whether and when it calls again. Waits are computed by retry.Policy. Random
// numbers come from package draw, so a record's attempt draws the same numbers under every policy. Time is virtual
// and counted in whole nanoseconds; the same input always gives the same result. The package does no I/O, starts no
// goroutines and reads no clock.
package simulation
