// Package handlers makes the three steps Lambda handlers: decode the event, do the step, encode a failure under its
// name, write one log line.
//
// The functions fit lambda.NewHandler, in a Lambda function as well as inside another process; they keep their clients
// for as long as they live and make none for a call.
package handlers
