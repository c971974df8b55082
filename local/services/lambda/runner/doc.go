// Package runner runs Lambda functions and responds to an Invoke call as the Lambda service does: with the
// function's payload, with a function error whose errorType is the one that the Go runtime or the service would
// report, or with a service error under Lambda's own code.
//
// A function runs either in this process (Function.Handler) or as the same bootstrap binary that runs on AWS
// (Function.Command), a child process that uses the Lambda Runtime API. There is no other difference between the
// two; one test suite covers both.
//
// The package does not retry: package eventqueue handles asynchronous invocations. It knows nothing of deployment
// packages, aliases or the API's configuration: package functions does.
package runner
