// Package faultscenario rehearses failures: the import's real state machine, functions, guards and controller on the
// embedded platform, in virtual time, while something breaks on purpose.
//
// [All] holds the scenarios by name. Each runs by itself, in a directory that is removed afterwards, and comes back
// with a [Report]: a timeline of what happened when, and checks that pass or do not. All of them check that nothing was
// lost or counted twice, and that every retry waited as its row of the retry table says.
//
// The package says what must hold; how things are made to hold is not its business. It never touches a service outside
// the process.
package faultscenario
