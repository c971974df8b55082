// Package retrypatterns is the retry table of the CSV system and everything that follows from it by arithmetic alone:
//
//   - the four retry patterns and the map from error name to pattern,
//   - the Retry rows of each state, every row marked as taken from the source
//     design or added to it ([DefaultTable]),
//   - compiling a state's rows to an Amazon States Language Retry array
//     ([Compile]), with a note wherever ASL cannot say what the row says,
//   - delays, jitter and schedules ([Policy], [Schedule], [Explain]),
//   - classification of an HTTP status, network error, gRPC code, SQLSTATE,
//     SQLite code, AWS error code or, last, a message to a named error
//     ([Classify] and its siblings).
//
// Error names are what Step Functions decides by, so all names that the CSV system's Lambdas answer with are constants
// of this package.
//
// The package never reads a clock, sleeps, draws a random number of its own, does I/O or keeps state: random numbers
// come from the caller, and all its tables are handed out as copies.
package retrypatterns

//go:generate go test . -run TestDocsAreCurrent -update
