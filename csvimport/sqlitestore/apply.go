package sqlitestore

import (
	"context"

	"stepback/csvimport"
)

// applyTask is one Apply. Its own refusals (a reused key, a closed row, a full counter) are part of its result and
// leave the group's transaction whole.
type applyTask struct {
	run     csvimport.Run
	row     int64
	inc     csvimport.Increment
	outcome csvimport.Outcome
	refusal error
	err     error
	done    chan struct{}
}

// Apply implements csvimport.Store.
func (s *Store) Apply(ctx context.Context, run csvimport.Run, row int64, inc csvimport.Increment) (csvimport.Outcome,
	error) {
	t := &applyTask{run: run, row: row, inc: inc, done: make(chan struct{})}
	if err := s.do(ctx, t, t.done); err != nil {
		return "", err
	}
	if t.err != nil {
		return "", t.err
	}
	return t.outcome, nil
}

func (t *applyTask) answer(err error) {
	if t.err = t.refusal; err != nil {
		t.err = failure("apply a record", err)
	}
	close(t.done)
}

func (t *applyTask) apply(w *writer) error {
	t.outcome, t.refusal = "", nil
	n, err := w.number(t.run)
	if err != nil {
		return err
	}
	fingerprint := t.inc.Fingerprint()
	claimed, err := w.change(w.stmts.claim, n.file, t.row, fingerprint, n.run)
	if err != nil {
		return err
	}
	if claimed == 0 {
		return t.repeat(w, n, fingerprint)
	}
	counted, err := w.change(w.stmts.increment, t.inc.UserID, t.inc.LoginCount, t.inc.PostCount)
	if err != nil {
		return err
	}
	if counted == 0 {
		t.refusal = csvimport.CounterOverflow(t.inc)
		_, err = w.change(w.stmts.unclaim, n.file, t.row)
		return err
	}
	t.outcome = csvimport.Applied
	return nil
}

// repeat decides what a key that is there already means.
func (t *applyTask) repeat(w *writer, n numbers, fingerprint int64) error {
	row, err := w.findRow(n.file, t.row)
	if err != nil {
		return err
	}
	switch row.fingerprint {
	case nil:
		t.refusal = csvimport.RowClosed(t.run.File, t.row)
	case fingerprint:
		t.outcome = row.outcome(n)
	default:
		t.refusal = csvimport.KeyReused(t.run.File, t.row)
	}
	return nil
}
