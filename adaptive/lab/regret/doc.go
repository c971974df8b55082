// Package regret draws scenarios at random, and measures the regret of a policy in them: by how much the best of other
// policies does better. A policy that adapts must do no harm where doing nothing, retrying, or a limiter alone
// suffices.
//
// Regret in success is what the best of the others saves more, if the 95 % interval of the paired difference excludes
// 0. Regret in latency and money is the ratio to the cheapest of the others that save as much: those from which the
// policy's success does not differ by more than the interval, or that save more. Where no other policy saves as much,
// there is none.
package regret
