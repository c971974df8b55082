// Package faultscenario rehearses failures: the import's real state machine, functions, guards and controller run on
// the embedded platform, in virtual time, while something breaks on purpose.
//
// [All] holds the scenarios by name. Each runs by itself, in a directory that is removed afterwards, and returns a
// [Report]: a timeline of what happened, and checks that pass or fail. All of them check that nothing was lost or
// counted twice, and that every retry waited as its row of the retry table specifies.
//
// The package defines what must hold, not how the system achieves it. It never touches a service outside the process.
package faultscenario
