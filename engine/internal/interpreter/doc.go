// Package interpreter runs state machines as a pure function: its input is an execution and one signal, its output
// history and effects. Time, randomness and the results of tasks arrive in signals; timers, task invocations and Map
// Runs are returned as effects for the surrounding shell to perform. The package never reads a clock, draws a random
// number, starts a goroutine or does I/O, so that the same signals always give the same history. Tests, replay after
// a crash and virtual time depend on that.
package interpreter
