package csvimport

import "context"

// Outcome is the final outcome of a row. Every row has exactly one.
type Outcome string

// The four outcomes, as they are spelled in results and summaries.
const (
	Applied        Outcome = "applied"        // counted by this run, in any of its attempts
	AlreadyApplied Outcome = "alreadyApplied" // already counted by another run
	Rejected       Outcome = "rejected"       // violates a business rule; never counted
	DeadLettered   Outcome = "deadLettered"   // retries exhausted or not worthwhile; never counted
)

// Run is the import of one version of a file by one execution.
type Run struct {
	File Source
	// Name identifies the execution, and distinguishes it from one with the same name elsewhere. If a run has no
	// name, none of the rows that are already counted belong to it: they belong to another run.
	Name string
}

// Increment is the amount that one record adds to one user.
type Increment struct {
	UserID     string
	LoginCount int64 // ≥ 0
	PostCount  int64 // ≥ 0
}

// Row is one record of a file: its number, from 0, and its increment.
type Row struct {
	Number    int64
	Increment Increment
}

// Answer is the result for one row of a batch: its outcome, or the failure of that row alone.
type Answer struct {
	Outcome Outcome // Applied or AlreadyApplied; empty if Err is set
	Err     error   // a *Failure
}

// User is a row of the users table.
type User struct {
	UserID     string
	LoginCount int64
	PostCount  int64
}

// Store is the database of user counters. All methods may be called concurrently. Errors are *Failure with a name
// from the error → pattern map.
//
// Every implementation passes the suite in package storetest.
type Store interface {
	// Apply adds inc to its user and records the row's idempotency key (file and row number) with the run, in one
	// transaction. It returns once that transaction is durable. It may be called several times with the same key,
	// repeatedly, concurrently and again after a crash; only one of these calls counts. That call and all others of
	// its run return Applied. Calls of other runs return AlreadyApplied.
	//
	// After any error, either nothing happened or the outcome is unknown; in both cases the call can be repeated
	// safely. Permanent errors are InvalidInput if the key was used with other values, RetryNotWorthwhile if Settle
	// has closed the row, and ValidationError if a counter would exceed 9223372036854775807.
	Apply(ctx context.Context, run Run, row int64, inc Increment) (Outcome, error)

	// ApplyBatch is like Apply, for several rows in one transaction. It returns one answer for each row, in order.
	// If Apply would refuse a row permanently, the row's answer holds that failure; the other rows are counted
	// nevertheless.
	//
	// If ApplyBatch returns an error, it means for all rows what an error of Apply means for one.
	ApplyBatch(ctx context.Context, run Run, rows []Row) ([]Answer, error)

	// Settle decides rows whose outcome is unknown, in one transaction. A row is Applied if the run has counted it,
	// and AlreadyApplied if another run has. Otherwise it becomes DeadLettered and its key is claimed, so that an
	// attempt that is still running can no longer count it. The result has one outcome for each of rows, in order.
	// Settling a row again gives the same outcome.
	Settle(ctx context.Context, run Run, rows []int64) ([]Outcome, error)

	// Export calls visit for each user in the order of the user id's bytes, over a consistent state of the table.
	Export(ctx context.Context, visit func(User) error) error

	// Close waits for running calls and closes the database.
	Close() error
}
