// Package tracing creates the AWS X-Ray segments that Step Functions and Lambda send on AWS. Each execution of a
// traced state machine gets one segment, which contains its states and tasks. Each traced invocation of a function
// gets two. The package also provides the daemon that receives the functions' own segments, by UDP on this machine
// only.
//
// Tracing never delays the traced work: segments are stored in the background, within limits, and dropped beyond
// them. Child executions of Map Runs are not traced.
package tracing
