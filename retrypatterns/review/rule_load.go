package review

import (
	"math"
	"slices"

	"stepback/asl"
	"stepback/asl/source"
	"stepback/jsonvalue"
)

var metastable = Rule{
	Code: "METASTABLE_ABOVE", Severity: asl.SeverityWarning,
	Title: "retries that can keep an outage alive",
	Why: "While a callee is down, each piece of work calls it 1 + MaxAttempts times. If the rate of new work times " +
		"that number is more than the callee can handle, one outage becomes endless: the retries alone keep it " +
		"overloaded. It is safe if rate × (1 + MaxAttempts) ≤ capacity, and for a Map if MaxConcurrency ≤ capacity × " +
		"TimeoutSeconds (Metastable Failures in the Wild, OSDI 2022; `stepback lab`). Needs --capacity, and --rate for " +
		"the work that starts each second.",
	check: func(s *subject) {
		o := s.r.options
		if s.Type != asl.Task || o.Capacity <= 0 || s.callee() == "" {
			return
		}
		attempts := times(s.around, 1+mostRetries(s.State))
		if s.mapping != nil {
			s.crowded()
			return
		}
		safe := o.Capacity / float64(attempts)
		switch {
		case attempts <= 1 || o.Rate > 0 && o.Rate <= safe:
		case o.Rate > 0:
			s.found(s.in(source.Member("Retry")), nil,
				"fewer retries, or a limit in front of the callee (stepback lab shows both)",
				"at %g a second, %d attempts are up to %g calls a second, but the callee can handle %g: an outage may never end. "+
					"Safe up to %.3g a second, %.0f %% of the capacity", o.Rate, attempts, o.Rate*float64(attempts),
				o.Capacity, safe, 100*safe/o.Capacity)
		default:
			s.found(s.in(source.Member("Retry")), nil, "give --rate for a verdict",
				"%d attempts are safe up to %.3g a second, %.0f %% of the capacity; above that, an outage may never end",
				attempts, safe, 100*safe/o.Capacity)
		}
	},
}

// crowded reports a Map whose iterations wait for the callee longer than their timeout.
func (s *subject) crowded() {
	limit, timeout := concurrency(s.mapping), timeout(s.State).Seconds()
	room := math.Floor(s.r.options.Capacity * timeout)
	switch {
	case timeout == 0:
	case limit == 0:
		s.found(s.in(source.Member("TimeoutSeconds")), nil, "give the Map a MaxConcurrency of "+number(room),
			"the enclosing Map has no MaxConcurrency; more than %s concurrent calls take longer than their timeout of %gs",
			number(room), timeout)
	case limit > room:
		s.found(s.in(source.Member("TimeoutSeconds")), nil, "a MaxConcurrency of at most "+number(room),
			"the Map's MaxConcurrency %s is more than the %s calls that fit into a timeout of %gs", number(limit),
			number(room), timeout)
	}
}

// concurrency returns the literal MaxConcurrency of a Map; 0 if it has none.
func concurrency(s *asl.State) float64 {
	v := s.Map.MaxConcurrency.Literal
	if v == nil || v.Kind() != jsonvalue.Number {
		return 0
	}
	return v.Float()
}

func number(f float64) string { return jsonvalue.OfInt(int64(min(f, math.MaxInt32))).JSON() }

// mostRetries returns the maximum number of retries for a single error that does not go away.
func mostRetries(s *asl.State) int64 {
	var most int64
	for i := range s.Retry {
		most = max(most, s.Retry[i].MaxAttempts)
	}
	return most
}

// coherent is the share of the states with the same callee that counts as a convention; peers is the minimum number
// of such states.
const (
	coherent = 2.0 / 3
	peers    = 3
)

var retryOutlier = Rule{
	Code: "RETRY_OUTLIER", Severity: asl.SeverityAdvice,
	Title: "an error is retried everywhere except here",
	Why: "If two thirds of the states that make the same call retry an error, the state that does not was probably " +
		"forgotten (WASABI, SOSP 2024, found real bugs in this way).",
	check: func(s *subject) {
		others := s.r.callers[s.callee()]
		if s.callee() == "" || len(others) < peers {
			return
		}
		counts := map[string]int{}
		for _, o := range others {
			seen := map[string]bool{}
			for i := range o.Retry {
				if o.Retry[i].MaxAttempts == 0 {
					continue
				}
				for _, name := range o.Retry[i].ErrorEquals {
					if !seen[name] {
						seen[name] = true
						counts[name]++
					}
				}
			}
		}
		var missing []string
		for name, n := range counts {
			if i, _ := s.retrierOf(name); i < 0 && float64(n) >= coherent*float64(len(others)) {
				missing = append(missing, name)
			}
		}
		slices.Sort(missing)
		for _, name := range missing {
			s.found(s.in(source.Member("Retry")), nil, "retry it here too, or say why not",
				"%d of %d states that call %s retry %s; this one does not", counts[name], len(others), s.callee(), name)
		}
	},
}
