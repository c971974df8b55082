package pipeline

import (
	"context"

	"stepback/csvimport"
	"stepback/csvimport/sqlitestore"
	"stepback/outbox"
)

// roomy is a store that reports a full disk at once, before the error has consequences elsewhere. Otherwise the
// journal, which has reserved disk space, would record rows as dead-lettered that only need disk space.
type roomy struct {
	csvimport.Store
	full func() // may be nil
}

// Apply implements csvimport.Store.
func (s roomy) Apply(ctx context.Context, run csvimport.Run, row int64, inc csvimport.Increment) (csvimport.Outcome,
	error) {
	outcome, err := s.Store.Apply(ctx, run, row, inc)
	s.check(err)
	return outcome, err
}

// ApplyBatch implements csvimport.Store.
func (s roomy) ApplyBatch(ctx context.Context, run csvimport.Run, rows []csvimport.Row) ([]csvimport.Answer, error) {
	answers, err := s.Store.ApplyBatch(ctx, run, rows)
	s.check(err)
	return answers, err
}

// Settle implements csvimport.Store.
func (s roomy) Settle(ctx context.Context, run csvimport.Run, rows []int64) ([]csvimport.Outcome, error) {
	outcomes, err := s.Store.Settle(ctx, run, rows)
	s.check(err)
	return outcomes, err
}

// Conclude implements csvimport.Concluder.
func (s roomy) Conclude(ctx context.Context, run csvimport.Run, c csvimport.Conclusion, messages []outbox.Message) error {
	err := csvimport.Conclude(ctx, s.Store, run, c, messages)
	s.check(err)
	return err
}

func (s roomy) check(err error) {
	if err != nil && s.full != nil && sqlitestore.IsDiskFull(err) {
		s.full()
	}
}
