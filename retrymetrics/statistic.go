package retrymetrics

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Datapoint is the value of a statistic over one period.
type Datapoint struct {
	Start time.Time
	Value float64
}

// Statistic evaluates a statistic of a series over periods, as CloudWatch does: periods start at multiples of their
// length, and a period without data has no datapoint.
func Statistic(all []Point, s Series, stat Stat, period time.Duration) ([]Datapoint, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if period <= 0 {
		return nil, fmt.Errorf("a period of %v: it must be positive", period)
	}
	found := map[int64]*sample{}
	for i := range all {
		p := &all[i]
		if !s.Matches(p) {
			continue
		}
		at := startOf(p.Start.UnixNano(), period)
		if found[at] == nil {
			found[at] = &sample{}
		}
		found[at].add(p)
	}
	out := make([]Datapoint, 0, len(found))
	for at, f := range found {
		v, err := f.statistic(stat)
		if err != nil {
			return nil, err
		}
		out = append(out, Datapoint{time.Unix(0, at).UTC(), v})
	}
	slices.SortFunc(out, func(a, b Datapoint) int { return a.Start.Compare(b.Start) })
	return out, nil
}

// sample holds the values published in one period.
type sample struct {
	values []weighted
	n      int64
	sum    float64
}

type weighted struct {
	v float64
	n int64
}

func (s *sample) add(p *Point) {
	for i, v := range p.Values {
		s.values = append(s.values, weighted{v, p.Counts[i]})
		s.n += p.Counts[i]
		s.sum += v * float64(p.Counts[i])
	}
}

func (s *sample) statistic(stat Stat) (float64, error) {
	switch stat {
	case Sum:
		return s.sum, nil
	case Average:
		return s.sum / float64(s.n), nil
	case Maximum:
		return s.percentile(1), nil
	case P50:
		return s.percentile(0.5), nil
	case P99:
		return s.percentile(0.99), nil
	default:
		return 0, fmt.Errorf("statistic %q is not Sum, Average, Maximum, p50 or p99", stat)
	}
}

// percentile returns the smallest value that is at least as large as a share q of all values.
func (s *sample) percentile(q float64) float64 {
	slices.SortFunc(s.values, func(a, b weighted) int {
		if a.v < b.v {
			return -1
		}
		return 1
	})
	need := int64(math.Ceil(q * float64(s.n)))
	for _, w := range s.values {
		need -= w.n
		if need <= 0 {
			return w.v
		}
	}
	return math.NaN()
}
