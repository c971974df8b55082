package retrypatterns

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The limits of Step Functions.
const (
	maxIntervalSeconds = 99_999_999
	maxRetryAttempts   = 99_999_999
	maxDelaySeconds    = 31_622_400
	maxTimeoutSeconds  = 99_999_999
	maxNameLength      = 256
)

// RowError reports a value in a table that Step Functions would reject.
type RowError struct {
	State string // the state
	Row   int    // the row's number within the state, from 1; 0 for the state itself
	Field string // the field, by its ASL name
	Value string // the value
	Want  string // what is accepted
}

// Error names the place, the value and what is accepted.
func (e *RowError) Error() string {
	place := "state " + e.State
	if e.Row > 0 {
		place = fmt.Sprintf("%s, retry row %d", place, e.Row)
	}
	return fmt.Sprintf("%s: %s is %s; want %s", place, e.Field, e.Value, e.Want)
}

// Validate returns nil if every state of the table compiles to a Retry array that Step Functions accepts, otherwise
// all [RowError] values, joined.
func (t Table) Validate() error {
	var problems []error
	seen := make(map[string]bool, len(t.States))
	for _, s := range t.States {
		if seen[s.State] {
			problems = append(problems, &RowError{s.State, 0, "State", "listed twice", "one entry per state"})
		}
		seen[s.State] = true
		problems = append(problems, s.problems()...)
	}
	return errors.Join(problems...)
}

// problems checks the state's own fields and all its rows.
func (s StateRetries) problems() []error {
	var found []error
	report := func(field, value, want string) {
		found = append(found, &RowError{s.State, 0, field, value, want})
	}
	if s.State == "" {
		report("State", "empty", "a state's name")
	}
	if s.Timeout < time.Second || s.Timeout > maxTimeoutSeconds*time.Second || s.Timeout%time.Second != 0 {
		report("TimeoutSeconds", s.Timeout.String(), "whole seconds from 1 to 99999999")
	}
	if s.Heartbeat < 0 || s.Heartbeat >= s.Timeout || s.Heartbeat%time.Second != 0 {
		report("HeartbeatSeconds", s.Heartbeat.String(), "0 or whole seconds below TimeoutSeconds")
	}
	for i, row := range s.Rows {
		report := func(field, value, want string) {
			found = append(found, &RowError{s.State, i + 1, field, value, want})
		}
		row.checkErrors(i == len(s.Rows)-1, report)
		row.Policy.check(report)
	}
	return found
}

type reporter func(field, value, want string)

// checkErrors checks ErrorEquals; last is true if no row follows.
func (r Row) checkErrors(last bool, report reporter) {
	if len(r.Errors) == 0 {
		report("ErrorEquals", "empty", "at least one error name")
	}
	for _, name := range r.Errors {
		switch {
		case name == "" || len(name) > maxNameLength:
			report("ErrorEquals", fmt.Sprintf("a name of %d characters", len(name)), "names of 1 to 256 characters")
		case name == statesALL && (len(r.Errors) > 1 || !last):
			report("ErrorEquals", strings.Join(r.Errors, ", "), "States.ALL alone and in the last row only")
		}
	}
}

// check reports each number that has no counterpart in Step Functions. Numbers with a close counterpart, such as half
// a second, are left to compiling.
func (p Policy) check(report reporter) {
	if p.MaxAttempts < 0 || p.MaxAttempts > maxRetryAttempts {
		report("MaxAttempts", strconv.Itoa(p.MaxAttempts), "0 to 99999999")
	}
	if !p.Jitter.known() {
		report("JitterStrategy", string(p.Jitter), "NONE, FULL, PARTIAL, DECORRELATED or PROPORTIONAL")
	}
	if p.JitterFactor < 0 || p.JitterFactor > 1 || math.IsNaN(p.JitterFactor) {
		report("JitterFactor", fmt.Sprint(p.JitterFactor), "0 to 1")
	}
	if p.MaxAttempts == 0 {
		return // without retries the delays do not matter
	}
	if p.Interval <= 0 || p.Interval > maxIntervalSeconds*time.Second {
		report("IntervalSeconds", p.Interval.String(), "more than 0 and at most 99999999 seconds")
	}
	if p.MaxDelay > 0 && p.Interval > (maxDelaySeconds-1)*time.Second {
		report("IntervalSeconds", p.Interval.String(), "less than 31622400 seconds, the longest cap, or no cap")
	}
	if !(p.Rate >= 1) || math.IsInf(p.Rate, 1) { // the negation also matches NaN
		report("BackoffRate", fmt.Sprint(p.Rate), "a finite number from 1.0")
	}
	if p.MaxDelay < 0 || p.MaxDelay > 0 && p.MaxDelay <= p.Interval {
		report("MaxDelaySeconds", p.MaxDelay.String(), "more than IntervalSeconds, or 0 for no cap")
	}
}

// PolicyError reports a value in a single policy that the table would reject.
type PolicyError struct {
	Field string // the field, by its ASL name
	Value string // the value
	Want  string // what is accepted
}

// Error names the field, the value and what is accepted.
func (e *PolicyError) Error() string {
	return fmt.Sprintf("retry policy: %s is %s; want %s", e.Field, e.Value, e.Want)
}

// Validate returns nil if the policy is valid in a row of the table, otherwise all [PolicyError] values, joined.
func (p Policy) Validate() error {
	var problems []error
	p.check(func(field, value, want string) { problems = append(problems, &PolicyError{field, value, want}) })
	return errors.Join(problems...)
}
