package resilience

import (
	"slices"
	"strings"
	"time"

	"stepback/retrypatterns"
)

// rules select the policy for an error by its name, as the retriers of a state do: the first row that names the error
// applies, and each row counts its own retries.
type rules []rule

type rule struct {
	errors []string // none: every error
	policy retrypatterns.Policy
}

// one returns a single policy for every error.
func one(p retrypatterns.Policy) rules { return rules{{policy: p}} }

// ofRows returns the rules for the rows of a state of the retry table.
func ofRows(rows []retrypatterns.Row) rules {
	r := make(rules, 0, len(rows))
	for _, row := range rows {
		r = append(r, rule{slices.Clone(row.Errors), row.Policy})
	}
	return r
}

// byError returns the rules for retrypatterns' map from error name to pattern: one row for each pattern.
func byError() rules {
	r := make(rules, 0, 4)
	for _, p := range retrypatterns.Patterns() {
		names := []string{}
		for _, e := range retrypatterns.ErrorPatterns() {
			// "States." errors are Step Functions' own
			if e.Pattern == p.Name && !strings.HasPrefix(e.Error, "States.") {
				names = append(names, e.Error)
			}
		}
		r = append(r, rule{names, p.Policy})
	}
	return r
}

// match returns the index of the row for an error, or -1.
func (r rules) match(name string) int {
	return slices.IndexFunc(r, func(row rule) bool { return row.covers(name) })
}

func (r rule) covers(name string) bool {
	if r.errors == nil {
		return true
	}
	for _, covered := range r.errors {
		switch covered {
		case name, "States.ALL":
			return true
		case retrypatterns.StatesTaskFailed: // matches everything except timeouts, as in Step Functions
			if name != retrypatterns.TimeoutError {
				return true
			}
		case retrypatterns.StatesTimeout:
			if name == retrypatterns.TimeoutError {
				return true
			}
		}
	}
	return false
}

// spent records the retries that a call has used of its rules. It is allocated when an attempt fails.
type spent struct {
	retries  []int
	previous []time.Duration
}

func (r rules) open() *spent {
	return &spent{retries: make([]int, len(r)), previous: make([]time.Duration, len(r))}
}

// worst returns the longest total of the waits of all rows, without Retry-After.
func (r rules) worst() time.Duration {
	total := time.Duration(0)
	for _, row := range r {
		wait := row.policy.Schedule().Total.Max
		if total > longest-wait {
			return longest
		}
		total += wait
	}
	return total
}
