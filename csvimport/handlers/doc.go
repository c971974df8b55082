// Package handlers turns the three steps into Lambda handlers: they decode the event, run the step, encode a failure
// under its name, and write one log line.
//
// The functions can be passed to lambda.NewHandler, and also run inside another process. They use the clients they
// are given for their whole lifetime and create none per call.
package handlers
