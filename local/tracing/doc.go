// Package tracing creates the AWS X-Ray segments that Step Functions and Lambda send on AWS: one for each execution
// of a traced state machine, with its states and tasks inside, and two for each traced invocation of a function. It
// also provides the daemon that receives the functions' own segments, by UDP on this machine only.
//
// Traced work never waits: segments are stored in the background, within limits, and dropped beyond them. Child
// executions of Map Runs are not traced.
package tracing
