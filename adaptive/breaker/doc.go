// Package breaker implements a circuit breaker: it stops calling a callee that fails, waits, and then lets calls
// through again a few at a time.
//
// The machine has three circuits. Closed admits every call and watches how they end. Open admits none until
// [Policy.OpenFor] has passed. HalfOpen admits probes by slow start: one at a time, then two, four and so on up to
// [Policy.HalfOpenConcurrency]. Enough successes close the circuit; a run of failures opens it again.
//
// There are two layers:
//
//   - [State] is a plain value moved by [State.Allow] and [State.Record] with the time handed in. It holds no pointer,
//     reads no clock and draws no random number, so it can be copied, compared, stored as JSON, shared through a
//     database and driven in simulated time.
//   - [Breaker] guards a State with a mutex and a clock, notifies listeners, and runs calls with a fallback ([Do]).
//
// A breaker never retries and never waits; the refused caller decides what to do. In a workflow the refusal is
// reported by the error name CircuitOpen, which means: wait, and come back at a bounded rate.
package breaker
