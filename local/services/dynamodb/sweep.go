package dynamodb

import (
	"encoding/binary"
	"time"

	"stepback/engine/clock"
	"stepback/local/services/documents"
)

// sweepPause is the minimum time between two sweeps.
const sweepPause = time.Second

// sweepBy schedules a sweep at a time in milliseconds, unless an earlier one is already scheduled. The caller holds
// mu.
func (s *Service) sweepBy(at int64) {
	at = max(at, s.last+sweepPause.Milliseconds())
	if s.sweepAt != 0 && s.sweepAt <= at || s.ctx.Err() != nil {
		return
	}
	s.stopTimer()
	s.sweepAt = at
	s.sweeping.Add(1)
	s.timer = s.clock.ScheduleInBackground(time.UnixMilli(at), clock.AlarmFunc(func() {
		s.underWay.Add(1)
		s.clock.Hold() // so that virtual time waits for the sweep
		go func() {
			defer s.sweeping.Done()
			defer s.clock.Release()
			defer s.underWay.Done()
			s.sweep()
		}()
	}))
}

// stopTimer cancels the next sweep. The caller holds mu.
func (s *Service) stopTimer() {
	if s.timer != nil && s.timer.Stop() {
		s.sweeping.Done()
	}
}

// sweep deletes expired data: items, stream records, tokens of transactions.
func (s *Service) sweep() {
	s.oneSweep.Lock()
	defer s.oneSweep.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	s.sweepAt = 0
	var tables []*table
	for _, t := range s.tables {
		if t.TimeToLive != "" {
			tables = append(tables, t)
		}
	}
	s.mu.Unlock()
	next := int64(0)
	soonest := func(due int64, err error) {
		if err != nil {
			s.opts.Log.Error("a sweep of the tables failed", "error", err)
		} else if due != 0 && (next == 0 || due < next) {
			next = due
		}
	}
	for _, t := range tables {
		soonest(s.sweepItems(t))
	}
	soonest(s.sweepStreams())
	soonest(s.sweepTokens())
	s.mu.Lock()
	defer s.mu.Unlock()
	if next != 0 {
		s.sweepBy(next)
	}
}

// sweepTokens deletes expired tokens of transactions.
func (s *Service) sweepTokens() (due int64, err error) {
	err = s.change(func(now int64, b *documents.Batch) error {
		return s.store.Each(key(tokenKey), func(k, value []byte) error {
			if len(value) < 8 {
				return nil
			}
			until := int64(binary.BigEndian.Uint64(value)) + tokenLife.Milliseconds()
			switch {
			case until <= now:
				b.Unset(k)
			case due == 0 || until < due:
				due = until
			}
			return nil
		})
	})
	return due, err
}
