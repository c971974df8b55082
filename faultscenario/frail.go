package faultscenario

import (
	"context"
	"time"

	"stepback/csvimport"
	"stepback/retrylab/draw"
)

// frail is a database that fails when the scenario says so. Which calls fail depends on the seed, the row and the
// number of its call, and on nothing else.
type frail struct {
	csvimport.Store
	stage *stage
}

// What the random numbers are for.
const (
	forFailure draw.Purpose = iota + 1
	forCommitted
)

// Apply implements csvimport.Store.
func (f *frail) Apply(ctx context.Context, run csvimport.Run, row int64, inc csvimport.Increment) (csvimport.Outcome,
	error) {
	s := f.stage
	at, nth, down := s.call(row)
	if s.lasts > 0 && s.clock.IsVirtual() {
		if err := s.clock.Sleep(ctx, s.lasts); err != nil {
			return "", err
		}
	}
	if down == nil || draw.Float(s.seed, forFailure, uint64(row), nth) >= down.share {
		return f.Store.Apply(ctx, run, row, inc)
	}
	s.mu.Lock()
	s.failed++
	s.mu.Unlock()
	if draw.Float(s.seed, forCommitted, uint64(row), nth) < down.committed {
		if _, err := f.Store.Apply(ctx, run, row, inc); err != nil {
			return "", err
		}
	}
	return "", csvimport.Fail(down.error, "the scenario's database fails at %s", at.Round(time.Second))
}

// call counts a call of the database and tells the outage that it falls into, if any.
func (s *stage) call(row int64) (at time.Duration, nth uint64, down *outage) {
	at = s.since()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[row]++
	s.times = append(s.times, at)
	for i := range s.outages {
		if o := &s.outages[i]; at >= o.from && at < o.to {
			down = o
		}
	}
	return at, uint64(s.calls[row]), down
}
