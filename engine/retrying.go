package engine

import (
	"cmp"
	"slices"

	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/startorder"
	"stepback/engine/journal"
)

// Retry is a failed state of an execution that is waiting to be retried: its next attempt and the time of it, its
// last attempt, and the error. Last is the earliest time at which the last attempt can begin, as far as can be
// foreseen.
type Retry = interpreter.Retry

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

// awaitRetry records that the timer with this ID delays a retry.
func (r *run) awaitRetry(id int64, retry *Retry) {
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

// retried records that the timer with this ID no longer delays a retry.
func (r *run) retried(id int64) {
	r.mu.Lock()
	_, was := r.retries[id]
	delete(r.retries, id)
	none := was && len(r.retries) == 0
	r.mu.Unlock()
	if none {
		r.engine.retrying.Delete(r.entries()...)
	}
}

// forgetRetries records that the run no longer waits for any retry.
func (r *run) forgetRetries() {
	r.mu.Lock()
	some := len(r.retries) > 0
	r.retries = nil
	r.mu.Unlock()
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
// execution.
func (e *Engine) Retries(arn string) []*Retry {
	if r := e.running(arn); r != nil {
		return r.waitingRetries()
	}
	return nil
}
