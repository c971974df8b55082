// Package budget bounds retries by the traffic: a retry is paid for with tokens that first attempts and successes
// earn, so that a callee which fails altogether is asked by the traffic itself and a little more, and not by a
// multiple of it.
//
// [Policy] covers the token buckets of the field (AWS SDK, gRPC, Brooker's) and budgets over a window (Finagle,
// Linkerd, the source's); [Throttle] is the client-side throttling of the SRE book, which refuses first attempts too.
//
// A budget is a plain value with the time handed in; [Budget] is one with a mutex and a clock. It never waits: in a
// workflow a refusal is the error name RetryBudgetExhausted, which means wait and come back paced, and not give up.
package budget
