// Package runner runs Lambda functions on the laptop and answers an Invoke call as the Lambda service does: with the
// function's payload, with a function error whose errorType is the one that the Go runtime or the service would report,
// or with a service error under Lambda's own code.
//
// A function runs either in this process (Function.Handler) or as the very bootstrap binary that AWS gets
// (Function.Command), a child process that speaks the Lambda Runtime API. The two share everything but that; one test
// suite holds for both.
//
// The package retries nothing: asynchronous invocations are those of package eventqueue. It does not limit memory, and
// it knows nothing of deployment packages, aliases or the API's configuration: that is what package functions is for.
package runner
