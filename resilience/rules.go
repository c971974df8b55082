package resilience

import (
	"slices"
	"time"

	"stepback/retry"
)

// rules determines the policy by which an error is repeated, given the error's name; see [retry.Rule].
type rules []retry.Rule

// one returns a single policy for every error.
func one(p retry.Policy) rules { return rules{{Policy: p}} }

// match returns the index of the first rule that covers an error, or -1.
func (r rules) match(name string) int {
	return slices.IndexFunc(r, func(row retry.Rule) bool { return row.Covers(name) })
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
		wait := row.Policy.Schedule().Total.Max
		if total > longest-wait {
			return longest
		}
		total += wait
	}
	return total
}
