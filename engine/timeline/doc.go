// Package timeline turns the history of an execution into what people ask about it: which states were visited, each
// attempt and each wait with its own begin and end, what is going on now, when the next attempt comes and when it gives
// up. The console draws it, and the command line prints it.
//
// It reads histories of executions that have ended or are under way, from the engine or from AWS. It does no I/O,
// evaluates no definition and never decides what happens next.
package timeline
