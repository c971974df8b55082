package statemachine

import (
	"fmt"
	"math"
	"slices"
	"time"

	"stepback/retry"
	"stepback/retrypatterns"
)

// ExpressLimit is how long an EXPRESS execution may take.
const ExpressLimit = 5 * time.Minute

// checkExpress refuses EXPRESS children whose longest Retry does not fit into the time that they have: that of
// ApplyBatch, and then that of ProcessSingleUserRecord as many times in a row as the rows of a batch follow each other.
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

// longest is the longest that one retrier of a state can take, and its first error: its waits without jitter, and,
// where it is for a state that times out, the timeouts.
func longest(s retrypatterns.StateRetries) (time.Duration, string) {
	var most time.Duration
	var name string
	for _, r := range s.Rows {
		var total time.Duration
		for n := range r.Policy.MaxAttempts {
			total += r.Policy.Delay(n+1, nil) // the longest
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
