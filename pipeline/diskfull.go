package pipeline

import (
	"context"

	"stepback/csvimport"
	"stepback/csvimport/sqlitestore"
)

// roomy is a store that tells when its disk is full before anybody sees the failure. The journal, which has room set aside, would
// otherwise keep records as dead-lettered that only want room.
type roomy struct {
	csvimport.Store
	full func() // may be nil
}

// Apply implements csvimport.Store.
func (s roomy) Apply(ctx context.Context, file csvimport.Source, row int64, inc csvimport.Increment) (csvimport.Outcome, error) {
	outcome, err := s.Store.Apply(ctx, file, row, inc)
	s.check(err)
	return outcome, err
}

// Settle implements csvimport.Store.
func (s roomy) Settle(ctx context.Context, file csvimport.Source, rows []int64) ([]csvimport.Outcome, error) {
	outcomes, err := s.Store.Settle(ctx, file, rows)
	s.check(err)
	return outcomes, err
}

func (s roomy) check(err error) {
	if err != nil && s.full != nil && sqlitestore.IsDiskFull(err) {
		s.full()
	}
}
