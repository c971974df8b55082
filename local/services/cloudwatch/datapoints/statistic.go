package datapoints

import (
	"fmt"
	"math"
	"strconv"

	"stepback/internal/lazyregexp"
)

// Statistic is one of CloudWatch's statistics: SampleCount, Sum, Average, Minimum, Maximum, IQM, percentiles (p99.9),
// trimmed means (tm90, TM(10%:90%)), winsorized means (wm90), percentile ranks (PR(:300)), trimmed counts (tc90) and
// sums (ts90).
type Statistic struct {
	of func(*Summary) float64
}

// Of returns the value of the statistic; NaN if there is none.
func (s Statistic) Of(values *Summary) float64 {
	if values.Count == 0 {
		return math.NaN()
	}
	return s.of(values)
}

var (
	short = lazyregexp.New(`^(p|tm|wm|tc|ts)(\d{1,2}(?:\.\d{1,10})?|100)$`)
	long  = lazyregexp.New(`^(TM|WM|TC|TS|PR)\((-?[\d.]*)(%?):(-?[\d.]*)(%?)\)$`)
)

var simple = map[string]func(*Summary) float64{
	"SampleCount": func(s *Summary) float64 { return s.Count },
	"Sum":         func(s *Summary) float64 { return s.Sum },
	"Average":     (*Summary).Average,
	"Minimum":     func(s *Summary) float64 { return s.Min },
	"Maximum":     func(s *Summary) float64 { return s.Max },
	"IQM":         func(s *Summary) float64 { return trimmed("TM", s, s.Percentile(25), s.Percentile(75)) },
}

// ParseStatistic parses a statistic. The error names a text that is not one.
func ParseStatistic(text string) (Statistic, error) {
	if of, ok := simple[text]; ok {
		return Statistic{of}, nil
	}
	if m := short.FindStringSubmatch(text); m != nil {
		p, err := strconv.ParseFloat(m[2], 64)
		if err == nil {
			return Statistic{upTo(m[1], p)}, nil
		}
	}
	if m := long.FindStringSubmatch(text); m != nil && (m[2] != "" || m[4] != "") {
		low, high, ok := bound(m[2], m[3]), bound(m[4], m[5]), true
		for _, edge := range []string{m[2], m[4]} {
			if _, err := strconv.ParseFloat(edge, 64); edge != "" && err != nil {
				ok = false
			}
		}
		if ok {
			kind := m[1]
			return Statistic{func(s *Summary) float64 {
				return trimmed(kind, s, low(s, math.Inf(-1)), high(s, math.Inf(1)))
			}}, nil
		}
	}
	return Statistic{}, fmt.Errorf("%q is no statistic", text)
}

// upTo returns a statistic of the values up to a percentile.
func upTo(kind string, p float64) func(*Summary) float64 {
	if kind == "p" {
		return func(s *Summary) float64 { return s.Percentile(p) }
	}
	upper := map[string]string{"tm": "TM", "wm": "WM", "tc": "TC", "ts": "TS"}[kind]
	return func(s *Summary) float64 { return trimmed(upper, s, math.Inf(-1), s.Percentile(p)) }
}

// bound parses one end of a range, which is a value or a percentile. If text is empty, the returned function
// returns its argument none.
func bound(text, percent string) func(s *Summary, none float64) float64 {
	v, err := strconv.ParseFloat(text, 64)
	return func(s *Summary, none float64) float64 {
		switch {
		case err != nil:
			return none
		case percent != "":
			return s.Percentile(v)
		}
		return v
	}
}

// trimmed computes a statistic of the values between two bounds.
func trimmed(kind string, s *Summary, low, high float64) float64 {
	if len(s.Values) == 0 {
		return math.NaN()
	}
	cut := s.Between(low, high)
	switch kind {
	case "TC":
		return cut.Count
	case "TS":
		return cut.Sum
	case "PR":
		return 100 * cut.Count / s.Count
	case "WM":
		below, above := s.Between(math.Inf(-1), math.Nextafter(low, math.Inf(-1))),
			s.Between(math.Nextafter(high, math.Inf(1)), math.Inf(1))
		sum := cut.Sum
		if below.Count > 0 {
			sum += low * below.Count
		}
		if above.Count > 0 {
			sum += high * above.Count
		}
		return sum / s.Count
	}
	return cut.Average()
}
