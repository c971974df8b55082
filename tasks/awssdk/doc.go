// Package awssdk carries out tasks that call AWS services, through the real clients of the AWS SDK for Go and one
// generic path: the action is found by its name, parameters and results are shaped by reflection, errors are named as
// Step Functions names them. It knows services as rows of a table and no action by name but the few optimized ones,
// which are rows of a second table.
//
// It never calls AWS unasked: a service is reached at the endpoint that was set for it (Endpoints) or not at all, and
// is called once per task, since retrying is the state machine's business.
package awssdk
