// Package regret draws scenarios at random, and measures the regret of a policy in them: by how much the best of other
// policies does better. A policy that adapts must do no harm where doing nothing, retrying, or a limiter alone
// suffices.
//
// Regret in success is the share of records that the best of the other policies saves beyond those that the policy
// saves, if the 95 % interval of the paired difference excludes 0. Regret in latency and in money is the ratio to the
// cheapest of the other policies that save at least as much, within that interval. If no other policy does, the policy
// has no such regret.
package regret
