// Package durable implements the state machine of one durable execution of AWS Lambda: the operations that the
// function has checkpointed, the timers and callbacks that they wait for, and the history that
// GetDurableExecutionHistory returns. It is pure: Execution.Apply takes a Command and the time, and returns the events
// that the command produced. It does no I/O and reads no clock. The same commands at the same times always produce the
// same state, so a journal that keeps the commands can rebuild an execution after a crash.
//
// The owner of an Execution invokes the function, keeps the timer (Execution.Next), and commits each command before it
// acknowledges it.
package durable
