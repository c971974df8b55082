// Package eventqueue stores asynchronous invocations of Lambda functions until they have ended. An event that Accept
// has taken is on disk. It is retried after a function error (one minute and two minutes later) and while the
// function is throttled, and its result is sent to destinations until they have it. An accepted event is handled at
// least once, even after kill -9. Events of a function start in the order in which they were accepted.
//
// All waits use the clock. The package knows neither functions nor destinations: its owner passes the functions that
// invoke an event's function and report its end.
package eventqueue
