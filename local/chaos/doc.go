// Package chaos has services of a platform fail while it runs: a share of the requests for an action is throttled,
// refused, delayed, never answered, cut off, or carried out in part. Faults are added, listed and lifted at any time.
//
// A fault is written SERVICE:ACTION:ERROR:RATE, with the words of package faults (hang, crash, throttle, names of
// errors), or SERVICE:ACTION:latency:TIME. Service and action may be patterns with *. Whether the nth request that a
// fault applies to suffers depends on its seed, its text and n alone.
//
// Errors are answered in the protocol of the request and in the form in which SDKs retry them. Faults of services that
// aws/server answers come after a request was read and checked; those of others (S3) before it. Times are those of the
// platform's clock. Faults are in memory: they end with the process.
//
// Where state machines call functions without the Lambda API, faults of lambda:Invoke befall them as well. What one
// embedded service hands to another (an event to a queue) is no request, and suffers nothing.
package chaos
