// Package jsonata evaluates JSONata 2.0.6 expressions over the engine's JSON tree: compile once, evaluate many times,
// from any number of goroutines. Results, error codes and messages are those of the reference implementation, with the
// additions that AWS Step Functions makes behind the option StepFunctions.
//
// It reads no clock, no random source and nothing outside of its Env, never changes the values it is given, and bounds
// the depth, the work and the size of the result of every evaluation (Limits). It knows nothing of states and fields:
// which bindings an expression sees, and what its result is good for, is the caller's business.
package jsonata
