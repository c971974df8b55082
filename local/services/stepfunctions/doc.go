// Package stepfunctions implements the API of AWS Step Functions (2016-11-23) over the embedded engine: state
// machines, their versions, aliases and tags, executions and their histories, and Map Runs, each with the service's
// validation, errors, idempotency and pagination. It does not interpret state machines itself. Operations that it
// does not implement are answered as AWS answers unknown ones.
//
// The operations are in the packages statemachines, executions, activities, teststate and tags. This package joins them
// and stores state machines and activities, in memory or as documents.
package stepfunctions
