package faultscenario

import (
	"context"
	"time"

	"stepback/adaptive/lab/draw"
	"stepback/csvimport"
	"stepback/retry"
)

// frail is a database that fails as the scenario specifies. Whether a call fails depends only on the seed, the row
// and the number of the call for this row.
type frail struct {
	csvimport.Store
	stage *stage
}

// The purposes for which random numbers are drawn.
const (
	forFailure draw.Purpose = iota + 1
	forCommitted
)

// Apply implements csvimport.Store.
func (f *frail) Apply(ctx context.Context, run csvimport.Run, row int64, inc csvimport.Increment) (csvimport.Outcome,
	error) {
	lost, err := f.stage.suffer(ctx, row)
	if err != nil && !lost {
		return "", err
	}
	outcome, applied := f.Store.Apply(ctx, run, row, inc)
	if applied != nil || !lost {
		return outcome, applied
	}
	return "", err
}

// ApplyBatch implements csvimport.Store. The whole batch succeeds or fails with its first row.
func (f *frail) ApplyBatch(ctx context.Context, run csvimport.Run, rows []csvimport.Row) ([]csvimport.Answer, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	lost, err := f.stage.suffer(ctx, rows[0].Number)
	if err != nil && !lost {
		return nil, err
	}
	answers, applied := f.Store.ApplyBatch(ctx, run, rows)
	if applied != nil || !lost {
		return answers, applied
	}
	return nil, err
}

// suffer waits for the duration of a call and returns the call's error, if any. lost is true if the work is done
// although the call fails.
func (s *stage) suffer(ctx context.Context, row int64) (lost bool, err error) {
	at, nth, down := s.call(row)
	defer s.ended()
	if s.tooMany(at) {
		return false, csvimport.Fail(retry.TooManyRequestsError, "the scenario's database serves %d calls at a time",
			s.crowded)
	}
	if s.lasts > 0 && s.clock.IsVirtual() {
		if err := s.clock.Sleep(ctx, s.lasts); err != nil {
			return false, err
		}
	}
	if down == nil || draw.Float(s.seed, forFailure, uint64(row), nth) >= down.share {
		return false, nil
	}
	s.mu.Lock()
	s.failed++
	s.mu.Unlock()
	return draw.Float(s.seed, forCommitted, uint64(row), nth) < down.committed,
		csvimport.Fail(down.error, "the scenario's database fails at %s", at.Round(time.Second))
}

// tooMany reports whether the database refuses a call, because in its brown-out more calls are running than it can
// serve.
func (s *stage) tooMany(at time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	refuses := s.crowded > 0 && at >= brownFrom && at < brownTo && s.running > s.crowded
	if refuses {
		s.failed++
	}
	return refuses
}

func (s *stage) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
}

// call counts a call of the database, and returns its time, its number among the calls for the row, and the outage
// that it falls into, or nil.
func (s *stage) call(row int64) (at time.Duration, nth uint64, down *outage) {
	at = s.since()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[row]++
	s.running++
	s.times = append(s.times, at)
	for i := range s.outages {
		if o := &s.outages[i]; at >= o.from && at < o.to {
			down = o
		}
	}
	return at, uint64(s.calls[row]), down
}
