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

// Validate returns nil if the policy can be executed by a Go program, and otherwise a [*PolicyError] for each field
// that is out of range, all joined. Fields have their Go names. [Policy.Problems] checks the limits of Step Functions,
// which are narrower.
func (p Policy) Validate() error {
	var problems []error
	for _, found := range p.outOfRange() {
		problems = append(problems, found)
	}
	if p.MaxAttempts <= 0 { // without a retry the delays do not matter
		return errors.Join(problems...)
	}
	check := func(ok bool, field, value, want string) {
		if !ok {
			problems = append(problems, &PolicyError{field, value, want})
		}
	}
	check(p.Interval > 0, "Interval", p.Interval.String(), "more than 0")
	check(p.Rate >= 1 && !math.IsInf(p.Rate, 1), "Rate", fmt.Sprint(p.Rate), "a finite number from 1")
	check(p.MaxDelay == 0 || p.MaxDelay >= max(p.Interval, 0), "MaxDelay", p.MaxDelay.String(),
		"Interval ("+p.Interval.String()+") or more, or 0 for no cap")
	return errors.Join(problems...)
}

// outOfRange returns an error for each field that is out of range whether or not there are retries.
func (p Policy) outOfRange() []*PolicyError {
	var found []*PolicyError
	if p.MaxAttempts < 0 {
		found = append(found, &PolicyError{"MaxAttempts", strconv.Itoa(p.MaxAttempts), "0 or more"})
	}
	if !p.Jitter.known() {
		found = append(found, &PolicyError{"Jitter", strconv.Quote(string(p.Jitter)),
			"NONE, FULL, PARTIAL, DECORRELATED or PROPORTIONAL"})
	}
	if !(p.JitterFactor >= 0 && p.JitterFactor <= 1) { // the negation also matches NaN
		found = append(found, &PolicyError{"JitterFactor", fmt.Sprint(p.JitterFactor), "0 to 1"})
	}
	return found
}

// Problems returns an error for each number that has no counterpart in Step Functions, by the names of the Amazon
// States Language. A number that can be rounded, such as half a second, is no problem, because compiling to ASL rounds
// it.
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

// PolicyError reports a field of a policy that is out of range.
type PolicyError struct {
	Field string // the field, by its name in Go or, from [Policy.Problems], in the Amazon States Language
	Value string // the value
	Want  string // what is accepted
}

// Error names the field, the value and what is accepted.
func (e *PolicyError) Error() string {
	return fmt.Sprintf("retry policy: %s is %s; want %s", e.Field, e.Value, e.Want)
}
