package retrypatterns

import (
	"slices"
	"time"

	"stepback/retry"
)

// Row is one retrier of a state before it is compiled.
type Row struct {
	// Errors are the names of the errors to which it applies; at least one.
	Errors []string
	// Policy is the retry policy; the zero Policy never retries.
	Policy retry.Policy
	// Comment becomes the retrier's Comment. Rows from the source have the source's own wording; other rows have
	// "Addition: …".
	Comment string
	// Provenance says whether the row comes from the source or is an addition.
	Provenance Provenance
}

// StateRetries is the table's entry for one state.
type StateRetries struct {
	// State is the state's name.
	State string
	// Timeout is the state's TimeoutSeconds; whole seconds, at least 1.
	Timeout time.Duration
	// Heartbeat is the state's HeartbeatSeconds. 0 means none; otherwise it must be below Timeout.
	Heartbeat time.Duration
	// Rows become the Retry array, in this order.
	Rows []Row
}

// Table holds the retry rows of the states of one state machine. It is a plain value that can be built or changed
// freely; [Table.Validate] and [Table.Compile] reject what Step Functions would reject.
type Table struct {
	States []StateRetries
}

// State returns the entry of the state with a name; ok is false if there is none.
func (t Table) State(name string) (StateRetries, bool) {
	i := slices.IndexFunc(t.States, func(s StateRetries) bool { return s.State == name })
	if i < 0 {
		return StateRetries{}, false
	}
	return t.States[i], true
}

// Rules returns the rows as rules for a caller in Go.
func (s StateRetries) Rules() []retry.Rule {
	rules := make([]retry.Rule, len(s.Rows))
	for i, row := range s.Rows {
		rules[i] = retry.Rule{Errors: slices.Clone(row.Errors), Policy: row.Policy}
	}
	return rules
}

// neverRetried returns the names of all rows without a retry, in order.
func (t Table) neverRetried() []string {
	var names []string
	for _, s := range t.States {
		for _, row := range s.Rows {
			for _, name := range row.Errors {
				if row.Policy.MaxAttempts == 0 && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}
