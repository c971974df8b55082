// Package storetest contains the test suite for implementations of shared.Store. It is for tests only.
package storetest

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"stepback/adaptive/limiter"
	"stepback/adaptive/shared"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// Run runs the suite; open returns a store that shares nothing with those of other calls.
func Run(t *testing.T, open func(t *testing.T) shared.Store) {
	t.Helper()
	t.Run("counters add up", func(t *testing.T) { t.Parallel(); addsUp(t, open(t)) })
	t.Run("a record is replaced once", func(t *testing.T) { t.Parallel(); replacedOnce(t, open(t)) })
	t.Run("nothing is lost in a race", func(t *testing.T) { t.Parallel(); race(t, open(t)) })
}

func add(t *testing.T, s shared.Store, callee string, tally limiter.Tally) (shared.Record, limiter.Tally) {
	t.Helper()
	record, sum, err := s.Add(t.Context(), callee, tally)
	if err != nil {
		t.Fatal(err)
	}
	return record, sum
}

func addsUp(t *testing.T, s shared.Store) {
	if record, sum := add(t, s, "db", limiter.Tally{}); text(t, record) != text(t, shared.Record{}) ||
		sum != (limiter.Tally{}) {
		t.Errorf("a callee without calls has %+v, %+v", record, sum)
	}
	one := limiter.Tally{Asked: 5, Admitted: 4, Successes: 2, Failures: 1, Busy: 3 * time.Second}
	add(t, s, "db", one)
	add(t, s, "other", one)
	_, sum := add(t, s, "db", one)
	if want := (limiter.Tally{Asked: 10, Admitted: 8, Successes: 4, Failures: 2, Busy: 6 * time.Second}); sum != want {
		t.Errorf("counters are %+v, want %+v", sum, want)
	}
}

func replacedOnce(t *testing.T, s shared.Store) {
	p := shared.Callee()
	_, sum := add(t, s, "db", limiter.Tally{Asked: 40, Admitted: 40, Failures: 40})
	next := shared.Record{}.Advance(&p, sum, noon)
	for i, want := range []bool{true, false} {
		if won, err := s.Replace(t.Context(), "db", next, sum); err != nil || won != want {
			t.Errorf("replacing, time %d: %v, %v; want %v", i+1, won, err, want)
		}
	}
	record, sum := add(t, s, "db", limiter.Tally{Asked: 1})
	if text(t, record) != text(t, next) || sum != (limiter.Tally{Asked: 1}) {
		t.Errorf("record is %s\nwant %s\nand counters %+v, want 1 asked", text(t, record), text(t, next), sum)
	}
	if won, err := s.Replace(t.Context(), "db", record.Advance(&p, sum, noon.Add(time.Second)), sum); err != nil ||
		!won {
		t.Errorf("the next version: %v, %v", won, err)
	}
}

func race(t *testing.T, s shared.Store) {
	p := shared.Callee()
	const processes, rounds = 4, 10
	var all sync.WaitGroup
	taken := make([]limiter.Tally, processes)
	for i := range processes {
		all.Go(func() {
			for range rounds {
				record, sum, err := s.Add(t.Context(), "db", limiter.Tally{Asked: 1, Successes: 1})
				if err != nil {
					t.Error(err)
					return
				}
				won, err := s.Replace(t.Context(), "db", record.Advance(&p, sum, noon), sum)
				if err != nil {
					t.Error(err)
				}
				if won {
					taken[i] = taken[i].Plus(sum)
				}
			}
		})
	}
	all.Wait()
	record, left := add(t, s, "db", limiter.Tally{})
	for _, x := range taken {
		left = left.Plus(x)
	}
	if want := (limiter.Tally{Asked: processes * rounds, Successes: processes * rounds}); left != want ||
		record.Version < 1 {
		t.Errorf("taken and left are %+v in version %d, want %+v", left, record.Version, want)
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
