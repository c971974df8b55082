package statemachine

import (
	"fmt"
	"math"
	"slices"
	"time"

	"stepback/retry"
	"stepback/retrypatterns"
)

// ExpressLimit is the maximum duration of an EXPRESS execution.
const ExpressLimit = 5 * time.Minute

// checkExpress rejects EXPRESS child executions if their longest retries do not fit into ExpressLimit. The longest
// retries are those of ApplyBatch, followed by those of ProcessSingleUserRecord. The latter are counted as many
// times as rows of a batch are processed one after another.
func (o Options) checkExpress(table retrypatterns.Table) error {
	if !o.Express {
		return nil
	}
	state, _ := table.State(ProcessSingleUserRecord)
	row, rowError := longest(state)
	turns := int(math.Ceil(float64(o.BatchSize) / float64(o.BatchConcurrency)))
	if o.single() {
		turns = 1
	}
	total := time.Duration(turns) * row
	said := fmt.Sprintf("%d × %s of %s (%s)", turns, row, ProcessSingleUserRecord, rowError)
	if o.Shape == Bulk {
		state, _ := table.State(ApplyBatch)
		batch, batchError := longest(state)
		total += batch
		said += fmt.Sprintf(" and %s of %s (%s)", batch, ApplyBatch, batchError)
	}
	if total > ExpressLimit {
		return fmt.Errorf("EXPRESS children have %s, and the longest Retry takes %s: %s; take STANDARD children, "+
			"smaller batches, more rows at once, or a table with shorter retries (retrypatterns.ExpressTable)",
			ExpressLimit, total, said)
	}
	return nil
}

// longest returns the longest time that a retrier of a state can take, and that retrier's first error. It counts the
// waits without jitter and, for retriers of timeouts, the timeouts.
func longest(s retrypatterns.StateRetries) (time.Duration, string) {
	var most time.Duration
	var name string
	for _, r := range s.Rows {
		var total time.Duration
		for n := range r.Policy.MaxAttempts {
			total += r.Policy.Delay(n+1, nil) // without jitter, which is the longest
		}
		if slices.Contains(r.Errors, retry.StatesTimeout) {
			total += time.Duration(r.Policy.MaxAttempts+1) * s.Timeout
		}
		if total > most {
			most, name = total, r.Errors[0]
		}
	}
	return most.Round(time.Second), name
}
