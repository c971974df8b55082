// Package budget bounds retries by the traffic: a retry costs tokens that first attempts and successes earn. A callee
// that fails altogether then receives the ordinary traffic and a little more, and not a multiple of it.
//
// [Policy] covers the usual token buckets (AWS SDK, gRPC, Brooker's) and budgets over a window (Finagle, Linkerd, the
// source's); [Throttle] is the client-side throttling of the SRE book, which refuses first attempts too.
//
// A budget is a plain value with the time handed in; [Budget] wraps one with a mutex and a clock. It never waits: in
// a workflow a refusal is reported by the error name RetryBudgetExhausted, which means to wait and come back at a
// bounded rate, not to give up.
package budget
