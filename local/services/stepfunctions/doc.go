// Package stepfunctions answers the API of AWS Step Functions (2016-11-23) over the embedded engine: state machines,
// their versions, aliases and tags, executions and their histories, and Map Runs, each with the service's validation,
// errors, idempotency and pagination. It interprets no state machine itself, and answers operations that it does not
// have as AWS does unknown ones.
package stepfunctions
