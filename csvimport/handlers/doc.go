// Package handlers turns the three steps into Lambda handlers. A handler decodes the event, runs the step, encodes
// a failure under its name, and writes one log line.
//
// The functions can be passed to lambda.NewHandler, and also run inside another process. They use the clients that
// they are given for their whole lifetime, and create none per call.
package handlers
