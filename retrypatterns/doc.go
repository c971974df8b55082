// Package retrypatterns has the retry table of the design and everything that follows from it by arithmetic alone:
//
//   - the four retry patterns and the map from error name to pattern ([Patterns], [ErrorPatterns]),
//   - retry tables ([Table]): the Retry rows of each state of a machine, every row marked as taken from the source
//     design or added to it,
//   - compiling a state's rows to an Amazon States Language Retry array ([Table.Compile]), with a note wherever ASL
//     cannot say what the row says,
//   - what a Retry array can do ([Table.Explain], [ExplainRetriers]).
//
// Policies, jitter, error names and the classification of errors are in package retry; the table of the CSV import is
// in package statemachine.
//
// The package never reads a clock, sleeps, draws a random number of its own, does I/O or keeps state: all its tables
// are handed out as copies.
package retrypatterns
