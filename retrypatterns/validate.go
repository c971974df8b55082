package retrypatterns

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"stepback/retry"
)

// The limits of Step Functions.
const (
	maxTimeoutSeconds = 99_999_999
	maxNameLength     = 256
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
		for _, p := range row.Policy.Problems() {
			report(p.Field, p.Value, p.Want)
		}
	}
	return found
}

type reporter func(field, value, want string)

// checkErrors checks ErrorEquals. last is true if this is the state's last row.
func (r Row) checkErrors(last bool, report reporter) {
	if len(r.Errors) == 0 {
		report("ErrorEquals", "empty", "at least one error name")
	}
	for _, name := range r.Errors {
		switch {
		case name == "" || len(name) > maxNameLength:
			report("ErrorEquals", fmt.Sprintf("a name of %d characters", len(name)), "names of 1 to 256 characters")
		case name == retry.StatesALL && (len(r.Errors) > 1 || !last):
			report("ErrorEquals", strings.Join(r.Errors, ", "), "States.ALL alone and in the last row only")
		}
	}
}
