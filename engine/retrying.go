package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/startorder"
	"stepback/engine/journal"
)

// Retry is a state of an execution that failed and waits for its retrier's delay.
type Retry struct {
	// ID identifies the retry within its execution, for RetryNow.
	ID int64
	// State is the name of the state. Error and Cause are what its latest attempt failed with.
	State, Error, Cause string
	// Attempt is the number of the attempt that comes next. The state's first run is attempt 1, so that Attempt is at
	// least 2. LastAttempt is the number of the attempt after which the retrier gives up.
	Attempt, LastAttempt int64
	// Failed is when the latest attempt failed, Next when the next one begins.
	Failed, Next time.Time

	waiting interpreter.Retry // which computes Last
}

func retryOf(r *interpreter.Retry) *Retry {
	return &Retry{
		ID: r.ID, State: r.State, Error: r.Error, Cause: r.Cause, Attempt: r.Attempt, LastAttempt: r.LastAttempt,
		Failed: r.Failed, Next: r.Next, waiting: *r,
	}
}

// Last returns when the last attempt begins if every attempt fails at once with the same error and jitter draws the
// longest delays. It begins later when attempts take their time. If there are more than a thousand attempts, Last
// returns the time of the thousandth.
func (r *Retry) Last() time.Time { return r.waiting.Last() }

// entries returns the entries of a run, one for each list that contains its execution.
func (r *run) entries() []startorder.Entry[*run] {
	lists := journal.ListsOf(&r.record)
	entries := make([]startorder.Entry[*run], len(lists))
	for i, list := range lists {
		entries[i] = startorder.Entry[*run]{
			List: journal.ListID(list), Start: r.record.Start.UnixNano(), ARN: r.record.ARN, Value: r,
		}
	}
	return entries
}

// addRetry records that the timer with this ID delays a retry.
func (r *run) addRetry(id int64, waiting *interpreter.Retry) {
	retry := retryOf(waiting)
	r.mu.Lock()
	first := len(r.retries) == 0
	if r.retries == nil {
		r.retries = map[int64]*Retry{}
	}
	r.retries[id] = retry
	r.mu.Unlock()
	if first {
		r.engine.retrying.Put(r.entries()...)
	}
}

// removeRetry records that the timer with this ID no longer delays a retry.
func (r *run) removeRetry(id int64) {
	r.mu.Lock()
	_, was := r.retries[id]
	delete(r.retries, id)
	none := was && len(r.retries) == 0
	r.mu.Unlock()
	if was {
		r.engine.holds.forget(heldRetry{r, id})
	}
	if none {
		r.engine.retrying.Delete(r.entries()...)
	}
}

// forgetRetries records that the run no longer waits for any retry.
func (r *run) forgetRetries() {
	r.mu.Lock()
	forgotten := r.retries
	some := len(forgotten) > 0
	r.retries = nil
	r.mu.Unlock()
	for id := range forgotten {
		r.engine.holds.forget(heldRetry{r, id})
	}
	if some {
		r.engine.retrying.Delete(r.entries()...)
	}
}

// waitingRetries returns a copy of the retries that the run waits for, the next one first.
func (r *run) waitingRetries() []*Retry {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.retries) == 0 {
		return nil
	}
	found := make([]*Retry, 0, len(r.retries))
	for _, retry := range r.retries {
		found = append(found, retry)
	}
	slices.SortFunc(found, func(a, b *Retry) int {
		return cmp.Or(a.Next.Compare(b.Next), cmp.Compare(a.State, b.State))
	})
	return found
}

// Retries returns the states of an execution that are waiting to be retried, the next one first. It returns nil if
// there are none or the execution is not running. Pending reports more, but has to ask the worker that has the
// execution. Errors are those of ctx and the journal, and ErrClosed, while executions are recovered in the background.
func (e *Engine) Retries(ctx context.Context, arn string) ([]*Retry, error) {
	e.mu.Lock()
	r, waits := e.runs[arn], e.dormant[arn] != nil // dormant executions wait for no retry
	e.mu.Unlock()
	if r == nil && !waits {
		var err error
		if r, err = e.find(ctx, arn); err != nil {
			return nil, err
		}
	}
	if r == nil {
		return nil, nil
	}
	return r.waitingRetries(), nil
}

// retriesInMemory returns the retries of an execution like Retries, but none if the execution is not in memory.
func (e *Engine) retriesInMemory(arn string) []*Retry {
	if r := e.running(arn); r != nil {
		return r.waitingRetries()
	}
	return nil
}
