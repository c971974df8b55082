// Package aggregate is the AggregateResults step: it reads what the distributed Map wrote, accounts for every row of
// the file, and leaves a summary, the dead letters and a corrections file in S3.
//
// It reads every object as a stream and keeps half a byte per row. A row whose outcome is not known from the results is
// settled in the database before it is reported, so that a row handed to a person can no longer be counted by an
// attempt that is still running. Repeating the step gives the same summary.
//
// It never guesses: results that contradict each other, or do not add up to the file's rows, are AggregateMismatch.
package aggregate
