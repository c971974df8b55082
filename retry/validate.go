package retry

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// The largest values that Step Functions accepts in a retrier.
const (
	MaxIntervalSeconds = 99_999_999
	MaxRetryAttempts   = 99_999_999
	MaxDelaySeconds    = 31_622_400
)

// Validate returns nil if Step Functions could execute the policy, and otherwise all its [Policy.Problems], joined.
func (p Policy) Validate() error {
	found := p.Problems()
	problems := make([]error, len(found))
	for i, problem := range found {
		problems[i] = problem
	}
	return errors.Join(problems...)
}

// Problems returns an error for each number that has no counterpart in Step Functions. A number that can be
// rounded, such as half a second, is no problem, because compiling to ASL rounds it.
func (p Policy) Problems() []*PolicyError {
	var found []*PolicyError
	report := func(field, value, want string) { found = append(found, &PolicyError{field, value, want}) }
	if p.MaxAttempts < 0 || p.MaxAttempts > MaxRetryAttempts {
		report("MaxAttempts", strconv.Itoa(p.MaxAttempts), "0 to 99999999")
	}
	if !p.Jitter.known() {
		report("JitterStrategy", string(p.Jitter), "NONE, FULL, PARTIAL, DECORRELATED or PROPORTIONAL")
	}
	if p.JitterFactor < 0 || p.JitterFactor > 1 || math.IsNaN(p.JitterFactor) {
		report("JitterFactor", fmt.Sprint(p.JitterFactor), "0 to 1")
	}
	if p.MaxAttempts == 0 {
		return found // without a retry the delays do not matter
	}
	if p.Interval <= 0 || p.Interval > MaxIntervalSeconds*time.Second {
		report("IntervalSeconds", p.Interval.String(), "more than 0 and at most 99999999 seconds")
	}
	if p.MaxDelay > 0 && p.Interval > (MaxDelaySeconds-1)*time.Second {
		report("IntervalSeconds", p.Interval.String(), "less than 31622400 seconds, the longest cap, or no cap")
	}
	if !(p.Rate >= 1) || math.IsInf(p.Rate, 1) { // the negation also matches NaN
		report("BackoffRate", fmt.Sprint(p.Rate), "a finite number from 1.0")
	}
	if p.MaxDelay < 0 || p.MaxDelay > 0 && p.MaxDelay <= p.Interval {
		report("MaxDelaySeconds", p.MaxDelay.String(), "more than IntervalSeconds, or 0 for no cap")
	}
	return found
}

// PolicyError reports a number of a policy that Step Functions would refuse.
type PolicyError struct {
	Field string // the field, by its ASL name
	Value string // the value
	Want  string // what is accepted
}

// Error names the field, the value and what is accepted.
func (e *PolicyError) Error() string {
	return fmt.Sprintf("retry policy: %s is %s; want %s", e.Field, e.Value, e.Want)
}
