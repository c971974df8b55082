// Package interpreter runs state machines as a pure function: an execution and one event in, history and effects out.
// Time, randomness and the results of tasks arrive inside events; timers, task invocations and Map Runs leave as
// effects for the shell around it to carry out. Nothing in here reads a clock, draws a number, starts a goroutine or
// does I/O, so the same events always give the same history, which is what tests, replay after a crash and virtual time
// stand on.
package interpreter
