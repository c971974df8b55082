package engine

import (
	"cmp"
	"slices"

	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/startorder"
	"stepback/engine/journal"
)

// Retry is a state of an execution that failed and waits to be run again: which attempt is next, when, which one is the
// last, and what the state failed with. Last tells when the last attempt begins at the earliest that can be foreseen.
type Retry = interpreter.Retry

// entries are a run in all lists that its execution is in.
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

// awaitRetry notes that the timer of an ID delays a retry.
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

// retried notes that the timer of an ID delays a retry no more.
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

// forgetRetries notes that the run waits for no retry any more.
func (r *run) forgetRetries() {
	r.mu.Lock()
	some := len(r.retries) > 0
	r.retries = nil
	r.mu.Unlock()
	if some {
		r.engine.retrying.Delete(r.entries()...)
	}
}

// waitingRetries copies what the run waits for, the next one first.
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

// Retries returns the states of an execution that wait to be run again, the next one first; none when there are none or
// the execution is not under way. Pending tells more, and asks the worker that has the execution.
func (e *Engine) Retries(arn string) []*Retry {
	if r := e.running(arn); r != nil {
		return r.waitingRetries()
	}
	return nil
}
