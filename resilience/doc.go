// Package resilience protects calls to other services by the same policies, classification and delay arithmetic that
// drive the state machine (package retry).
//
// [Do] calls an operation and repeats it by a policy. An [Executor] holds everything that protects the calls to one
// service and is shared by all of them. The layers nest in this order, each of them only where it is asked for:
//
//	bulkhead → circuit breaker → retry (budget, deadline) → attempt timeout → hedge → the operation
//
// What is repeated follows from the error's class: a transient error is repeated; an unknown outcome only where the
// operation is idempotent ([WithIdempotent]); a conflict only where the operation begins with the read
// ([WithRepeatConflicts]); a permanent error and an error that nothing is known about never. The waits come from
// [retry.Policy] and from nowhere else; a server's Retry-After can lengthen one, never shorten it.
//
// The package never retries before it has classified, never starts a retry that cannot end before the context's
// deadline, never swallows a panic, and leaves no goroutine behind. It links no metrics, tracing, HTTP or gRPC library:
// sub-packages do ([stepback/resilience/httpclient], [stepback/resilience/grpcretry], [stepback/resilience/sqlretry],
// [stepback/resilience/resilienceprom], [stepback/resilience/resilienceotel], [stepback/resilience/idempotency]).
package resilience
