package resilience

import (
	"slices"
	"time"

	"stepback/retry"
)

// rules decide by which policy a named error is repeated; see [retry.Rule].
type rules []retry.Rule

// one is a single policy for every error.
func one(p retry.Policy) rules { return rules{{Policy: p}} }

// match is the row for an error, or -1.
func (r rules) match(name string) int {
	return slices.IndexFunc(r, func(row retry.Rule) bool { return row.Covers(name) })
}

// spent is what a call has used up of its rules; made when an attempt fails.
type spent struct {
	retries  []int
	previous []time.Duration
}

func (r rules) open() *spent {
	return &spent{retries: make([]int, len(r)), previous: make([]time.Duration, len(r))}
}

// worst is the longest that the waits of all rows can take together, without Retry-After.
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
