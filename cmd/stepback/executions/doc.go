// Package executions looks into Step Functions and acts on it through its API, wherever that is: a server of this
// project, LocalStack or AWS. It lists executions by state, error and time, finds them by a name, follows histories and
// log groups, starts, stops and redrives, and reports for tasks that wait.
//
// It talks to the operations by AWS's model of the service and to nothing else, and prints nothing. What the API cannot
// select (an error, those that wait for a retry), it selects itself, from descriptions and histories.
package executions
