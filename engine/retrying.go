package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/startorder"
	"stepback/engine/journal"
)

// errNotWaiting says that a retry has begun already.
var errNotWaiting = errors.New("engine: no retry is waited for")

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

// retried notes that the timer of an ID delays a retry no more, and reports whether it did.
func (r *run) retried(id int64) bool {
	r.mu.Lock()
	_, was := r.retries[id]
	delete(r.retries, id)
	none := was && len(r.retries) == 0
	r.mu.Unlock()
	if none {
		r.engine.retrying.Delete(r.entries()...)
	}
	return was
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
// the execution is not under way.
func (e *Engine) Retries(arn string) []*Retry {
	if r := e.running(arn); r != nil {
		return r.waitingRetries()
	}
	return nil
}

// RetryNow has the states of an execution that wait for a retry run again at once, without the rest of their delays, and
// returns how many they were when that is durable. It changes neither which attempt it is nor the delays that follow.
// Its errors are ErrNoExecution, that of the context, ErrClosed and those of the journal; an execution that has ended
// retries nothing.
func (e *Engine) RetryNow(ctx context.Context, arn string) (int, error) {
	r := e.running(arn)
	if r == nil {
		_, err := e.DescribeExecution(ctx, arn)
		return 0, err
	}
	r.mu.Lock()
	ids := make([]int64, 0, len(r.retries))
	for id := range r.retries {
		ids = append(ids, id)
	}
	r.mu.Unlock()
	slices.Sort(ids)
	n := 0
	for _, id := range ids {
		err := r.ask(ctx, interpreter.Signal{Kind: interpreter.TimerFired, ID: id}, func(x *interpreter.Execution) error {
			if !x.Delays(id) {
				return errNotWaiting
			}
			return nil
		})
		switch {
		case err == nil:
			n++
		case errors.Is(err, ErrTaskTimedOut): // the execution has ended
			return n, nil
		case !errors.Is(err, errNotWaiting):
			return n, err
		}
	}
	return n, nil
}
