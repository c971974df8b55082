package postgresstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"stepback/csvimport"
	"stepback/internal/groupcommit"
	"stepback/retry"
)

const (
	// combinedRows is the maximum number of rows in a transaction. The more rows it has, the less often a user is
	// written.
	combinedRows = 10_000
	// transactions is the number of concurrent transactions: one is prepared while the server executes the other.
	// More transactions would wait for each other's users.
	transactions = 2
)

// combiner lets batches that are applied concurrently share transactions. It has no goroutine: the waiting callers
// run the transactions, each for all batches that fit into one.
type combiner struct {
	carryOut func(ctx context.Context, run csvimport.Run, rows []csvimport.Row, whole bool) ([]csvimport.Answer, error)

	mu      sync.Mutex
	waiting []*waiter
	leaders int // callers that are running transactions
}

// waiter is a batch that is waiting for its answers.
type waiter struct {
	ctx  context.Context //nolint:containedctx // the caller's, for the time of its call
	run  csvimport.Run
	rows []csvimport.Row

	lead    chan struct{} // tells the caller to run the next transaction
	done    chan struct{} // closed once the answers are set
	answers []csvimport.Answer
	err     error
}

func newCombiner(carryOut func(context.Context, csvimport.Run, []csvimport.Row, bool) ([]csvimport.Answer,
	error)) *combiner {
	return &combiner{carryOut: carryOut}
}

// apply applies a batch, possibly in one transaction with others. If ctx ends first, the outcome is unknown.
func (c *combiner) apply(ctx context.Context, run csvimport.Run, rows []csvimport.Row) ([]csvimport.Answer, error) {
	w := &waiter{ctx: ctx, run: run, rows: rows, lead: make(chan struct{}, 1), done: make(chan struct{})}
	c.mu.Lock()
	c.waiting = append(c.waiting, w)
	leads := c.leaders < transactions
	if leads {
		c.leaders++
	}
	c.mu.Unlock()
	if leads {
		c.gather()
		c.transact() //nolint:contextcheck // a transaction is for all who wait for it
	}
	defer c.leave(w)
	for {
		select {
		case <-w.done:
			return w.answers, w.err
		default:
		}
		select {
		case <-w.done:
		case <-w.lead:
			c.transact() //nolint:contextcheck // a transaction is for all who wait for it
		case <-ctx.Done():
			return nil, failure("apply a batch", ctx.Err())
		}
	}
}

// gather yields to callers that are about to submit batches, so that they can join the transaction. If there are
// none, it does not wait.
func (c *combiner) gather() {
	before := 0
	groupcommit.Await(func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		grew := len(c.waiting) > before
		before = max(before, len(c.waiting))
		return grew
	})
}

// leave withdraws a batch whose caller has given up. If that caller was chosen as the leader, leave chooses another
// one.
func (c *combiner) leave(w *waiter) {
	c.mu.Lock()
	for i, other := range c.waiting {
		if other == w {
			c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
			break
		}
	}
	c.mu.Unlock()
	select {
	case <-w.lead:
		c.passOn()
	default:
	}
}

// passOn makes the caller of the batch that has waited longest the leader. If no batch is waiting, there is one
// leader fewer.
func (c *combiner) passOn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.waiting {
		select {
		case w.lead <- struct{}{}:
			return
		default: // it has already been offered the lead
		}
	}
	c.leaders--
}

// transact runs the transaction of the batches that have waited longest, on behalf of the leading caller.
func (c *combiner) transact() {
	defer c.passOn()
	group := c.take()
	if len(group) == 0 {
		return
	}
	defer func() { // even after a panic no caller waits forever
		for _, w := range group {
			select {
			case <-w.done:
			default:
				w.answer(nil, csvimport.Fail(csvimport.UnexpectedError, "the transaction was abandoned"))
			}
		}
	}()
	c.settle(group)
}

// settle runs the transaction of a group and sets the answers.
func (c *combiner) settle(group []*waiter) {
	ctx, release := untilAllLeave(group)
	defer release()
	var rows []csvimport.Row
	for _, w := range group {
		rows = append(rows, w.rows...)
	}
	answers, err := c.carryOut(ctx, group[0].run, rows, true)
	switch {
	case err == nil:
		for _, w := range group {
			w.answer(answers[:len(w.rows):len(w.rows)], nil)
			answers = answers[len(w.rows):]
		}
	case len(group) > 1 && !isDatabaseError(err):
		for _, w := range group {
			c.settle([]*waiter{w})
		}
	case errors.Is(err, errOverflow):
		group[0].answer(c.carryOut(ctx, group[0].run, rows, false))
	default:
		for _, w := range group {
			w.answer(nil, err)
		}
	}
}

func (w *waiter) answer(answers []csvimport.Answer, err error) {
	w.answers, w.err = answers, err
	close(w.done)
}

// take removes the batch that has waited longest, and those of the same run that fit into a transaction with it.
func (c *combiner) take() []*waiter {
	c.mu.Lock()
	defer c.mu.Unlock()
	var group, rest []*waiter
	rows := 0
	for _, w := range c.waiting {
		fits := len(group) == 0 || w.run == group[0].run && rows+len(w.rows) <= combinedRows
		if !fits {
			rest = append(rest, w)
			continue
		}
		group, rows = append(group, w), rows+len(w.rows)
	}
	c.waiting = rest
	return group
}

// isDatabaseError reports whether an error concerns the database rather than one of the batches.
func isDatabaseError(err error) bool {
	var f *csvimport.Failure
	if !errors.As(err, &f) {
		return false
	}
	switch f.Name {
	case retry.DatabaseConnectionError, retry.TimeoutError:
		return true
	}
	return false
}

// untilAllLeave returns a context that ends when the contexts of all batches have ended.
func untilAllLeave(group []*waiter) (context.Context, func()) {
	if len(group) == 1 {
		return group[0].ctx, func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(group[0].ctx))
	var left atomic.Int64
	left.Store(int64(len(group)))
	stops := make([]func() bool, len(group))
	for i, w := range group {
		stops[i] = context.AfterFunc(w.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}
