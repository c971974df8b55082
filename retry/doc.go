// Package retry contains the vocabulary of retries that the libraries of this project share:
//
//   - delays, jitter and schedules ([Policy], [Jitter], [Schedule]), ready-made policies ([Presets]) and policies by
//     error name ([Rule]),
//   - the classification of errors ([Classify]): what failed, by a name, and whether repeating it can help,
//   - the error names that stand for kinds of failures ([TimeoutError], [CircuitOpen], …).
//
// [Classify] recognises any Go error. [ClassifyHTTP], [ClassifyGRPC], [ClassifySQLState], [ClassifySQLite],
// [ClassifyAWS] and [ClassifyMessage] are for callers that have a status, a code or a text and no error value.
//
// The package never reads a clock, sleeps, draws random numbers itself, does I/O or keeps state: random numbers come
// from the caller, and tables are returned as copies. It imports nothing of the project. Package retrypatterns has the
// patterns and the retry tables of state machines.
package retry
