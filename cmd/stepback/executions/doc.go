// Package executions inspects and controls Step Functions through its API, whether the endpoint is a server of this
// project, LocalStack or AWS. It lists executions by status, error and time, finds them by name, follows histories
// and log groups, starts, stops and redrives executions, and reports for waiting tasks.
//
// It calls the operations by AWS's model of the service and nothing else, and prints nothing. Where the API has no
// filter (for an error, or for executions that wait for a retry), it filters descriptions and histories itself.
package executions
