// Package awssdk carries out tasks that call AWS services, any action of all of them, by their models: parameters
// become the input of an operation, its output becomes a result, and errors are named as Step Functions names them. It
// knows no action by name but the few optimized ones, which are rows of a table. The models also say, without a call,
// whether parameters fit an action and whether a mocked result could be its answer.
//
// It never calls AWS unasked: a service is reached at the endpoint that was set for it (Endpoints) or not at all, and
// is called once per task, since retrying is the state machine's business.
package awssdk
