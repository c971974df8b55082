package limiter

import (
	"errors"
	"fmt"
	"time"
)

// Policy defines how the limit changes.
type Policy struct {
	// Initial is the initial limit in concurrent calls; between Min and Max.
	Initial float64
	// Min and Max bound the limit; Min is at least 1.
	Min, Max float64
	// Increase is the amount by which the limit grows after as many successes as the limit: each success adds
	// Increase ÷ limit. It is above 0, usually 1.
	Increase float64
	// Decrease is the smallest factor applied to the limit at a time; above 0 and below 1. The decrease is in
	// proportion to what the failures cost (as that of DCTCP to the marked packets): if a share x of the time that
	// calls took was lost to failures of calls admitted while at least half of the limit was in use (see [Lost]), the
	// factor is 1 − x/2, but at least Decrease. Failures while less is in use do not depend on the limit, and
	// lower it only if nothing succeeds: five calls or more failed, and no other ended.
	Decrease float64
	// DecreaseEvery is the minimum time between two decreases: the calls that ended in between are judged together.
	DecreaseEvery time.Duration
	// PermitTimeout is the time for which an admitted call without an outcome counts as under way; it may count up
	// to a quarter longer. It is at least 4 ns.
	PermitTimeout time.Duration
}

// Standard returns the policy for a callee of unknown capacity: it starts at 20 concurrent calls, grows to at most
// 1,000, and multiplies the limit by 0.8 to 1 once a second, depending on the share of failures.
func Standard() Policy {
	return Policy{
		Initial: 20, Min: 1, Max: 1000, Increase: 1, Decrease: 0.8, DecreaseEvery: time.Second,
		PermitTimeout: time.Minute,
	}
}

// Validate returns an error for each field that is out of range, all joined.
func (p Policy) Validate() error {
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf("limiter: "+format, args...))
		}
	}
	check(p.Min >= 1, "Min is %v; it must be at least 1", p.Min)
	check(p.Max >= p.Min && p.Max <= 1e6, "Max is %v; it must be between Min and 1,000,000", p.Max)
	check(p.Initial >= p.Min && p.Initial <= p.Max, "Initial is %v; it must be between Min and Max", p.Initial)
	check(p.Increase > 0 && p.Increase <= 1e6, "Increase is %v; it must be above 0 and at most 1,000,000", p.Increase)
	check(p.Decrease > 0 && p.Decrease < 1, "Decrease is %v; it must be above 0 and below 1", p.Decrease)
	check(p.DecreaseEvery >= 0, "DecreaseEvery is %v; it must be 0 or more", p.DecreaseEvery)
	check(p.PermitTimeout >= epochs-1, "PermitTimeout is %v; it must be at least %d ns", p.PermitTimeout, epochs-1)
	return errors.Join(problems...)
}
