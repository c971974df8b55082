// Package eventqueue stores asynchronous invocations of Lambda functions until they have ended. An event that
// Accept has accepted is on disk. It is retried after a function error (one minute and two minutes later) and while
// the function is throttled. Its result is sent to the destinations until they have received it. An accepted event
// is handled at least once, even after kill -9. Events of a function start in the order in which they were
// accepted, and a function that hangs delays no others (package lanes).
//
// All waits use the clock. The package knows neither functions nor destinations: its owner passes one function that
// invokes the Lambda function of an event, and one that reports the event's end.
package eventqueue
