package sqlitestore

import (
	"context"

	"stepback/csvimport"
)

type settleTask struct {
	file     csvimport.Source
	rows     []int64
	outcomes []csvimport.Outcome
	err      error
	done     chan struct{}
}

// Settle implements csvimport.Store.
func (s *Store) Settle(ctx context.Context, file csvimport.Source, rows []int64) ([]csvimport.Outcome, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	t := &settleTask{file: file, rows: append([]int64(nil), rows...), done: make(chan struct{})}
	if err := s.do(ctx, t, t.done); err != nil {
		return nil, err
	}
	return t.outcomes, t.err
}

func (t *settleTask) answer(err error) {
	if err != nil {
		t.outcomes, t.err = nil, failure("settle rows", err)
	}
	close(t.done)
}

func (t *settleTask) apply(w *writer) error {
	t.outcomes = t.outcomes[:0]
	file, err := w.fileID(t.file)
	if err != nil {
		return err
	}
	for _, row := range t.rows {
		claimed, err := w.change(w.stmts.claim, file, row, nil)
		if err != nil {
			return err
		}
		outcome := csvimport.DeadLettered
		if claimed == 0 {
			fingerprint, _, err := w.find(w.stmts.findRow, file, row)
			if err != nil {
				return err
			}
			if fingerprint != nil {
				outcome = csvimport.Applied
			}
		}
		t.outcomes = append(t.outcomes, outcome)
	}
	return nil
}
