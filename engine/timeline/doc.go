// Package timeline converts the history of an execution to the answers that users look for: which states were
// visited, each attempt and each wait with its start and end, what is happening now, when the next attempt comes and
// when the state gives up. The console draws it, and the command line prints it. An operation of a durable function's
// execution is a visit, and each attempt of a STEP an attempt.
//
// It reads histories of ended and running executions, from the engine or from AWS. It does no I/O, evaluates no
// definition and never decides what happens next.
package timeline
