// Package deadline refuses calls that cannot end in time, before they are begun: a call that is cut off costs its
// callee as much as one that succeeds.
//
// [Times] learns how long calls take and gives percentiles; [Check] compares the expected time with the time left in
// a context; [Within] returns a context with a margin for the callee, so that some time is left to report an orderly
// error; [Retry] reports whether a wait and another attempt still fit.
//
// The package never makes a call and never waits.
package deadline
