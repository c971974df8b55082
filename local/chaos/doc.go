// Package chaos makes services of a running platform fail: a share of the requests for an action is throttled,
// refused, delayed, never answered, cut off, or carried out in part. Faults can be added, listed and lifted at any
// time.
//
// A fault is written SERVICE:ACTION:ERROR:RATE, with the words of package faults (hang, crash, throttle, error
// names), or SERVICE:ACTION:latency:TIME. Service and action may be patterns with *. Whether the nth request that a
// fault applies to is affected depends only on the fault's seed, its text and n.
//
// Errors are returned in the protocol of the request and in the form that SDKs retry. Faults of services implemented
// with aws/server apply after a request was read and checked; those of others (S3) before it. Times are those of the
// platform's clock. Faults are held in memory: they end with the process.
//
// Where state machines call functions without the Lambda API, faults of lambda:Invoke apply as well. A delivery from
// one embedded service to another (an event to a queue) is not a request, so faults do not apply to it.
package chaos
