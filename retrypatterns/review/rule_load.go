package review

import (
	"math"
	"slices"
	"strconv"

	"stepback/asl"
	"stepback/asl/source"
	"stepback/jsonvalue"
)

var metastable = Rule{
	Code: "METASTABLE_ABOVE", Severity: asl.SeverityWarning,
	Title: "retries that can keep an outage alive",
	Why: "While a callee is down, each piece of work calls it 1 + MaxAttempts times. If the rate of new work times " +
		"that number is more than the callee can handle, one outage becomes endless: the retries alone keep it " +
		"overloaded. It is safe if rate × (1 + MaxAttempts) ≤ capacity; inside a Map, each execution is as many pieces of work as " +
		"the Map has items (of an unknown number, as many as it runs at once), and MaxConcurrency ≤ capacity × TimeoutSeconds " +
		"must hold too (Metastable Failures in the Wild, OSDI 2022; `stepback lab`). Needs --capacity, and --rate for the " +
		"executions that start each second.",
	check: func(s *subject) {
		o := s.r.options
		if s.Type != asl.Task || o.Capacity <= 0 || s.callee() == "" {
			return
		}
		attempts := times(s.around, 1+s.most())
		work := "" // of an execution, if it is more than one call
		if s.mapping != nil {
			s.crowded()
			if work = ", each with " + number(s.width) + " items"; s.width == 1 {
				work = ""
			} else if _, known := items(s.mapping); !known {
				work += " at once"
			}
		}
		calls := float64(attempts) * s.width
		safe := o.Capacity / calls
		switch {
		case attempts <= 1 || calls == 0 || o.Rate > 0 && o.Rate <= safe:
		case o.Rate > 0:
			s.found(s.in(source.Member("Retry")), nil,
				"fewer retries, or a limit in front of the callee (stepback lab shows both)",
				"at %g a second%s, %d attempts are up to %s calls a second, but the callee can handle %g: an outage may never end. "+
					"Safe up to %.3g a second, %.3g %% of the capacity", o.Rate, work, attempts, decimal(o.Rate*calls), o.Capacity, safe,
				100*safe/o.Capacity)
		default:
			s.found(s.in(source.Member("Retry")), nil, "give --rate for a verdict",
				"%d attempts%s are safe up to %.3g executions a second, %.3g %% of the capacity; above that, an outage may never end",
				attempts, work, safe, 100*safe/o.Capacity)
		}
	},
}

// decimal formats a number without an exponent.
func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// The number of items that a Map runs at once without a MaxConcurrency (Developer Guide, Map state).
const (
	inlineConcurrency      = 40
	distributedConcurrency = 10_000
)

// items returns how many calls of a state inside a Map one execution makes, attempts not counted: the number of items
// or batches. If the definition does not give their number, known is false and the result is how many run at once.
func items(s *asl.State) (n float64, known bool) {
	m := s.Map
	switch {
	case m.Items != nil && m.Items.Kind() == jsonvalue.Array:
		n, known = float64(m.Items.Len()), true
	case m.Reader != nil && literal(m.Reader.MaxItems) > 0:
		n, known = literal(m.Reader.MaxItems), true
	}
	if known {
		if m.Batcher != nil {
			n = math.Ceil(n / max(1, literal(m.Batcher.MaxItemsPerBatch)))
		}
		return n, true
	}
	switch most := concurrency(s); {
	case most > 0:
		return most, false
	case m.Distributed:
		return distributedConcurrency, false
	default:
		return inlineConcurrency, false
	}
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
func concurrency(s *asl.State) float64 { return literal(s.Map.MaxConcurrency) }

// literal returns the value of a field that is a number in the definition; 0 if it is missing or computed.
func literal(x asl.Scalar) float64 {
	if x.Literal == nil || x.Literal.Kind() != jsonvalue.Number {
		return 0
	}
	return x.Literal.Float()
}

func number(f float64) string { return jsonvalue.OfInt(int64(min(f, math.MaxInt32))).JSON() }

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
