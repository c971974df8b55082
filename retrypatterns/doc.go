// Package retrypatterns holds the retry table of the CSV system and everything that can be computed from it:
//
//   - the four retry patterns and the map from error name to pattern,
//   - the Retry rows of each state, every row marked as taken from the source
//     design or added to it ([DefaultTable]),
//   - compiling a state's rows to an Amazon States Language Retry array
//     ([Compile]), with a note wherever ASL cannot express a row,
//   - delays, jitter and schedules ([Policy], [Schedule], [Explain]),
//   - classification of an HTTP status, network error, gRPC code, SQLSTATE,
//     SQLite code, AWS error code or, last, a message to a named error
//     ([Classify] and its siblings).
//
// Step Functions decides by error names, so all names with which the CSV system's Lambdas fail are constants of this
// package.
//
// The package never reads a clock, sleeps, draws random numbers itself, does I/O or keeps state: random numbers come
// from the caller, and all tables are returned as copies.
package retrypatterns

//go:generate go test . -run TestDocsAreCurrent -update
