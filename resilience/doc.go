// Package resilience protects calls to other services with the same policies, error classification and delay arithmetic
// as the state machine (package retry).
//
// [Do] calls an operation and repeats it by a policy. An [Executor] holds everything that protects the calls to one
// service and is shared by all of these calls. The layers nest in this order; each is present only if it is
// configured:
//
//	bulkhead → circuit breaker → retry (budget, deadline) → limiter → attempt timeout → hedge → the operation
//
// The error's class decides whether the operation is repeated. A transient error is repeated; an unknown outcome only
// if the operation is idempotent ([WithIdempotent]); a conflict only if the operation begins with the read
// ([WithRepeatConflicts]); a permanent or unclassified error never. All waits come from [retry.Policy]; a server's
// Retry-After can lengthen one, never shorten it.
//
// The package never retries an error that it has not classified, never starts a retry that cannot end before the
// context's deadline, never swallows a panic, and leaves no goroutine behind. It links no metrics, tracing, HTTP or
// gRPC library: sub-packages do ([stepback/resilience/httpclient], [stepback/resilience/grpcretry],
// [stepback/resilience/sqlretry], [stepback/resilience/resilienceprom], [stepback/resilience/resilienceotel],
// [stepback/resilience/idempotency]).
package resilience
