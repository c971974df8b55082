package sqlitestore

import (
	"context"
	"slices"

	"stepback/csvimport"
	"stepback/csvimport/ledger"
)

// applyTask is a batch or a single row. If one of its rows is refused (different values, a closed row, a full
// counter), that is part of the answers and does not break the group's transaction.
type applyTask struct {
	run     csvimport.Run
	rows    []csvimport.Row
	answers []csvimport.Answer
	err     error
	done    chan struct{}
}

// Apply implements csvimport.Store.
func (s *Store) Apply(ctx context.Context, run csvimport.Run, row int64, inc csvimport.Increment) (csvimport.Outcome,
	error) {
	answers, err := s.ApplyBatch(ctx, run, []csvimport.Row{{Number: row, Increment: inc}})
	if err != nil {
		return "", err
	}
	return answers[0].Outcome, answers[0].Err
}

// ApplyBatch implements csvimport.Store.
func (s *Store) ApplyBatch(ctx context.Context, run csvimport.Run, rows []csvimport.Row) ([]csvimport.Answer, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	t := &applyTask{run: run, rows: slices.Clone(rows), answers: make([]csvimport.Answer, len(rows)),
		done: make(chan struct{})}
	if err := s.do(ctx, t, t.done); err != nil {
		return nil, err
	}
	return t.answers, t.err
}

func (t *applyTask) size() int { return len(t.rows) }

func (t *applyTask) answer(err error) {
	if err != nil {
		t.answers, t.err = nil, failure("apply records", err)
	}
	close(t.done)
}

func (t *applyTask) apply(w *writer) error {
	n, err := w.number(t.run)
	if err != nil {
		return err
	}
	for i := range t.rows {
		if t.answers[i], err = t.count(w, n, &t.rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// count counts a row if it is open, and returns the answer for it in any case.
func (t *applyTask) count(w *writer, n numbers, row *csvimport.Row) (csvimport.Answer, error) {
	block, place, err := w.block(n.file, row.Number)
	if err != nil {
		return csvimport.Answer{}, err
	}
	entry := block.Block[place]
	fingerprint := row.Increment.Fingerprint()
	if !entry.Open() {
		return entry.Repeat(n.run, t.run.File, row.Number, fingerprint), nil
	}
	counted, err := w.add(row.Increment)
	if err != nil {
		return csvimport.Answer{}, err
	}
	if !counted {
		return csvimport.Answer{Err: csvimport.CounterOverflow(row.Increment)}, nil
	}
	block.decide(place, ledger.Counted(n.run, fingerprint))
	return csvimport.Answer{Outcome: csvimport.Applied}, nil
}
