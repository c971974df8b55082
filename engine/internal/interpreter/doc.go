// Package interpreter runs state machines as a pure function. Its input is an execution and one signal; its output
// is history and effects. Time, random numbers and the results of tasks arrive in signals. Timers, task invocations
// and Map Runs are returned as effects, which the surrounding shell performs.
//
// The package never reads a clock, draws a random number, starts a goroutine or does I/O, so that the same signals
// always give the same history. Tests, replay after a crash and virtual time depend on that.
package interpreter
