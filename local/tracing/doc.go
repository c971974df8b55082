// Package tracing makes the segments of AWS X-Ray that Step Functions and Lambda send on AWS: one for each execution of
// a traced state machine with its states and tasks inside, two for each traced invocation of a function. Beside the
// functions it is the daemon that takes what they trace themselves, by UDP on this machine only.
//
// Whatever is traced never waits: segments are kept in the background, within bounds, and dropped above them. Child
// executions of Map Runs are not traced.
package tracing
