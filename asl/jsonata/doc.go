// Package jsonata evaluates JSONata 2.0.6 expressions over the engine's JSON tree: compile once, evaluate many times,
// from any number of goroutines. Results, error codes and messages are those of the reference implementation; the
// option StepFunctions adds the extensions of AWS Step Functions.
//
// It reads no clock, no random source and nothing outside of its Env, never changes the values passed to it, and
// bounds the depth, the work and the size of the result of every evaluation (Limits). It does not know about states
// and fields: the caller decides which bindings an expression sees and how its result is used.
package jsonata
