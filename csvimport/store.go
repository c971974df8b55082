package csvimport

import "context"

// Outcome is what became of one row. Every row ends in exactly one.
type Outcome string

// The four outcomes, as they are spelled in results and summaries.
const (
	Applied        Outcome = "applied"        // counted by this run, by whichever of its attempts
	AlreadyApplied Outcome = "alreadyApplied" // counted by another run before
	Rejected       Outcome = "rejected"       // breaks a business rule; never counted
	DeadLettered   Outcome = "deadLettered"   // retries exhausted or not worthwhile; never counted
)

// Run is the import of one version of a file by one execution.
type Run struct {
	File Source
	// Name tells the execution from every other, also from one of the same name in another place. A run without a name
	// recognises nothing as its own: what it finds counted counts as another's.
	Name string
}

// Increment is what one record adds to one user.
type Increment struct {
	UserID     string
	LoginCount int64 // ≥ 0
	PostCount  int64 // ≥ 0
}

// Row is one record of a file: its number, from 0, and what it adds.
type Row struct {
	Number    int64
	Increment Increment
}

// Answer is what became of one row of a batch: its outcome, or the failure of that row alone.
type Answer struct {
	Outcome Outcome // Applied or AlreadyApplied; empty when Err is set
	Err     error   // a *Failure
}

// User is a row of the users table.
type User struct {
	UserID     string
	LoginCount int64
	PostCount  int64
}

// Store is the database of user counters. All methods may be called concurrently. Errors are *Failure with a name of
// the error → pattern map.
//
// Every implementation passes the suite in package storetest.
type Store interface {
	// Apply adds inc to its user and records the row's idempotency key (file and row number) with the run in one
	// transaction, and answers after that transaction is durable. Of all calls with the same key, whether repeated,
	// concurrent, or after a crash, one counts; it and every other call of its run are answered Applied, those of other
	// runs AlreadyApplied.
	//
	// Any error means that either nothing happened or the outcome is unknown; in both cases the same call may be
	// repeated safely. Permanent errors: InvalidInput when the key was used with other values, RetryNotWorthwhile when
	// Settle has closed the row, ValidationError when a counter would exceed 9223372036854775807.
	Apply(ctx context.Context, run Run, row int64, inc Increment) (Outcome, error)

	// ApplyBatch is Apply for several rows, all in one transaction, with one answer for each of them, in order. A row
	// that Apply would refuse for good has that failure in its answer and does not keep the others from being counted.
	//
	// Any error of the batch means for all its rows what an error of Apply means for one.
	ApplyBatch(ctx context.Context, run Run, rows []Row) ([]Answer, error)

	// Settle decides rows whose outcome is unknown, in one transaction: each is Applied if the run has counted it,
	// AlreadyApplied if another run has, else it becomes DeadLettered and its key is claimed, so that an attempt which
	// is still running somewhere can no longer count it. The result has one outcome for each of rows, in order.
	// Settling a row again gives the same answer.
	Settle(ctx context.Context, run Run, rows []int64) ([]Outcome, error)

	// Export calls visit for each user in the order of the user id's bytes, over one consistent state of the table.
	Export(ctx context.Context, visit func(User) error) error

	// Close waits for what is running and closes the database.
	Close() error
}
