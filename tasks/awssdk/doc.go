// Package awssdk performs tasks that call AWS services: any action of any service, according to the API models.
// Parameters become the input of an operation, its output becomes a result, and errors are named as Step Functions
// names them. It knows no action by name except the few optimized ones, which are rows of a table. The models also
// determine, without a call, whether parameters fit an action and whether a mocked result could be its response.
//
// It never calls AWS on its own: a service is called at the endpoint configured for it (Endpoints) or not at all, and
// only once per task, because retrying is left to the state machine.
package awssdk
