package sqlitestore

import (
	"context"

	"stepback/csvimport"
	"stepback/csvimport/ledger"
)

type settleTask struct {
	run      csvimport.Run
	rows     []int64
	outcomes []csvimport.Outcome
	err      error
	done     chan struct{}
}

// Settle implements csvimport.Store.
func (s *Store) Settle(ctx context.Context, run csvimport.Run, rows []int64) ([]csvimport.Outcome, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	t := &settleTask{run: run, rows: append([]int64(nil), rows...), done: make(chan struct{})}
	if err := s.do(ctx, t, t.done); err != nil {
		return nil, err
	}
	return t.outcomes, t.err
}

func (t *settleTask) size() int { return len(t.rows) }

func (t *settleTask) answer(err error) {
	if err != nil {
		t.outcomes, t.err = nil, failure("settle rows", err)
	}
	close(t.done)
}

func (t *settleTask) apply(w *writer) error {
	t.outcomes = t.outcomes[:0]
	n, err := w.number(t.run)
	if err != nil {
		return err
	}
	for _, row := range t.rows {
		block, place, err := w.block(n.file, row)
		if err != nil {
			return err
		}
		entry := block.Block[place]
		if entry.Open() {
			entry = ledger.Closed()
			block.decide(place, entry)
		}
		t.outcomes = append(t.outcomes, entry.Outcome(n.run))
	}
	return nil
}
