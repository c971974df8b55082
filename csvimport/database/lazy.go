package database

import (
	"context"

	"stepback/csvimport"
)

// Lazy is a store that is opened by the first call that needs it. Lambda functions use it because of the way an
// unreachable database is reported. With Lazy, the invocation fails with a named error, which is retried.
// Otherwise, the start of the process would fail, which has no error name.
type Lazy struct {
	address string
	slot    chan csvimport.Store // holds the store, or nil until it is open
}

// NewLazy returns a Lazy for a database address. It does not open it.
func NewLazy(address string) *Lazy {
	l := &Lazy{address: address, slot: make(chan csvimport.Store, 1)}
	l.slot <- nil
	return l
}

// store opens the database if it is not open yet. If that fails, the next call tries again.
func (l *Lazy) store(ctx context.Context) (csvimport.Store, error) {
	select {
	case s := <-l.slot:
		var err error
		if s == nil {
			s, err = Open(ctx, l.address)
		}
		l.slot <- s
		return s, err
	case <-ctx.Done():
		return nil, csvimport.AsFailure(ctx.Err())
	}
}

// Apply implements csvimport.Store.
func (l *Lazy) Apply(ctx context.Context, run csvimport.Run, row int64, inc csvimport.Increment) (csvimport.Outcome,
	error) {
	s, err := l.store(ctx)
	if err != nil {
		return "", err
	}
	return s.Apply(ctx, run, row, inc)
}

// ApplyBatch implements csvimport.Store.
func (l *Lazy) ApplyBatch(ctx context.Context, run csvimport.Run, rows []csvimport.Row) ([]csvimport.Answer, error) {
	s, err := l.store(ctx)
	if err != nil {
		return nil, err
	}
	return s.ApplyBatch(ctx, run, rows)
}

// Settle implements csvimport.Store.
func (l *Lazy) Settle(ctx context.Context, run csvimport.Run, rows []int64) ([]csvimport.Outcome, error) {
	s, err := l.store(ctx)
	if err != nil {
		return nil, err
	}
	return s.Settle(ctx, run, rows)
}

// Export implements csvimport.Store.
func (l *Lazy) Export(ctx context.Context, visit func(csvimport.User) error) error {
	s, err := l.store(ctx)
	if err != nil {
		return err
	}
	return s.Export(ctx, visit)
}

// Close closes the database if it was opened.
func (l *Lazy) Close() error {
	s := <-l.slot
	l.slot <- nil
	if s == nil {
		return nil
	}
	return s.Close()
}
