package postgresstore

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"stepback/csvimport"
	"stepback/retry"
)

// server replaces the database: it records transactions and holds them until it is released.
type server struct {
	hold chan struct{} // closed to release transactions; nil never holds them

	mu           sync.Mutex
	transactions [][]int64 // the rows of each transaction
	runs         map[int64]string
	fail         func(rows []csvimport.Row, whole bool) error
}

func (s *server) carryOut(ctx context.Context, run csvimport.Run, rows []csvimport.Row, whole bool) ([]csvimport.Answer,
	error) {
	var numbers []int64
	s.mu.Lock()
	for _, r := range rows {
		numbers = append(numbers, r.Number)
		s.runs[r.Number] = run.Name
	}
	s.transactions = append(s.transactions, numbers)
	s.mu.Unlock()
	if s.hold != nil {
		select {
		case <-s.hold:
		case <-ctx.Done():
			return nil, failure("apply a batch", ctx.Err())
		}
	}
	if s.fail != nil {
		if err := s.fail(rows, whole); err != nil {
			return nil, err
		}
	}
	answers := make([]csvimport.Answer, len(rows))
	for i, r := range rows {
		answers[i].Outcome = csvimport.Outcome(rune('a' + r.Number%26)) // identifies the row of the answer
	}
	return answers, nil
}

// oneRow applies a batch of one row and checks that it gets its own answer.
func oneRow(t *testing.T, ctx context.Context, c *combiner, run string, n int64) error { //nolint:revive // t first, as usual
	t.Helper()
	got, err := c.apply(ctx, csvimport.Run{Name: run}, []csvimport.Row{{Number: n}})
	if err == nil && (len(got) != 1 || got[0].Outcome != csvimport.Outcome(rune('a'+n%26))) {
		t.Errorf("row %d is answered %+v", n, got)
	}
	return err
}

// TestBatchesShareTransactions: batches that arrive while two leaders run transactions are combined, by run.
func TestBatchesShareTransactions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{hold: make(chan struct{}), runs: map[int64]string{}}
		c := newCombiner(s.carryOut)
		var all sync.WaitGroup
		for n := range int64(60) {
			all.Go(func() {
				if err := oneRow(t, t.Context(), c, []string{"r", "q"}[n%2], n); err != nil {
					t.Error(err)
				}
			})
			if n < 2 {
				synctest.Wait() // two transactions of one row
			}
		}
		synctest.Wait()
		close(s.hold)
		all.Wait()
		if len(s.transactions) != 4 || len(s.transactions[2]) != 29 || len(s.transactions[3]) != 29 {
			t.Errorf("transactions of rows %v, want one for each of the first two, and one for the rest of each run",
				s.transactions)
		}
		for n, run := range s.runs {
			if run != []string{"r", "q"}[n%2] {
				t.Errorf("row %d was applied for run %s", n, run)
			}
		}
		if c.leaders != 0 || len(c.waiting) != 0 {
			t.Errorf("%d lead and %d wait when all is done", c.leaders, len(c.waiting))
		}
	})
}

// TestOneBatchFailsAlone: of batches that share a transaction only the one at fault fails, while a lost connection
// fails all of them at once.
func TestOneBatchFailsAlone(t *testing.T) {
	t.Parallel()
	gone := csvimport.Fail(retry.DatabaseConnectionError, "gone")
	for name, c := range map[string]struct {
		err          error
		failed       int
		transactions int // after the first two
	}{
		"a deadlock":  {csvimport.Fail(retry.DeadlockException, "deadlock"), 1, 1 + 10},
		"no room":     {errOverflow, 1, 1 + 10 + 1},
		"no database": {gone, 10, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &server{hold: make(chan struct{}), runs: map[int64]string{}}
				s.fail = func(rows []csvimport.Row, whole bool) error {
					for _, r := range rows {
						if r.Number == 7 && (whole || !errors.Is(c.err, errOverflow)) {
							return c.err
						}
						if r.Number == 7 {
							return csvimport.Fail(retry.ValidationError, "row by row")
						}
					}
					return nil
				}
				combined := newCombiner(s.carryOut)
				var all sync.WaitGroup
				var mu sync.Mutex
				failed := 0
				for n := range int64(12) {
					all.Go(func() {
						if err := oneRow(t, t.Context(), combined, "r", (n+10)%12); err != nil {
							mu.Lock()
							failed++
							mu.Unlock()
						}
					})
					if n < 2 {
						synctest.Wait()
					}
				}
				synctest.Wait()
				close(s.hold)
				all.Wait()
				if failed != c.failed || len(s.transactions) != 2+c.transactions {
					t.Errorf("%d batches failed, in %d transactions; want %d in %d", failed, len(s.transactions), c.failed,
						2+c.transactions)
				}
			})
		})
	}
}

// TestThoseWhoLeaveTakeNothingWithThem: batches whose callers give up are not applied, and another caller takes over
// their lead.
func TestThoseWhoLeaveTakeNothingWithThem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{hold: make(chan struct{}), runs: map[int64]string{}}
		c := newCombiner(s.carryOut)
		var all sync.WaitGroup
		impatient, leave := context.WithCancel(t.Context())
		for n := range int64(20) {
			ctx := t.Context()
			if n >= 2 && n < 12 {
				ctx = impatient
			}
			all.Go(func() {
				if err := oneRow(t, ctx, c, "r", n); (err != nil) != (ctx == impatient) {
					t.Errorf("row %d: %v", n, err)
				}
			})
			if n < 2 {
				synctest.Wait()
			}
		}
		synctest.Wait()
		leave()
		synctest.Wait()
		close(s.hold)
		all.Wait()
		for n := range s.runs {
			if n >= 2 && n < 12 {
				t.Errorf("row %d was applied, which nobody waited for", n)
			}
		}
		if c.leaders != 0 || len(c.waiting) != 0 || len(s.runs) != 10 {
			t.Errorf("%d lead, %d wait, %d rows were applied", c.leaders, len(c.waiting), len(s.runs))
		}
	})
}
