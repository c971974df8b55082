// Package deadline refuses calls that cannot end in time, before they are begun: a call that is cut off costs its
// callee as much as one that succeeds.
//
// [Times] learns how long calls take and gives percentiles; [Check] compares the expected time with what is left of a
// context; [Within] hands a context with a margin to the callee, so that something is left to report an orderly error;
// [Retry] tells whether a wait and another attempt still fit.
//
// It never makes a call and never waits.
package deadline
