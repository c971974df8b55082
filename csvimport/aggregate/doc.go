// Package aggregate implements the AggregateResults step. It reads what the distributed Map wrote, accounts for every
// row of the file, and writes a summary, the dead letters and a corrections file to S3.
//
// It streams every object and stores half a byte per row. If the results do not tell a row's outcome, the row is
// settled in the database before it is reported, so that an attempt that is still running can no longer count a row
// that has been reported as failed. Repeating the step gives the same summary.
//
// It never guesses: it fails with AggregateMismatch if results contradict each other or do not add up to the file's
// rows.
package aggregate
