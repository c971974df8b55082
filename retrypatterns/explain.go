package retrypatterns

import (
	"time"

	"stepback/retry"
)

// RetrierExplanation is what one retrier of a state can do when its error never goes away.
type RetrierExplanation struct {
	// Retrier is what Step Functions carries out, and Provenance where the row comes from.
	Retrier    Retrier
	Provenance Provenance
	// Schedule holds the wait before each retry and their total.
	Schedule retry.Schedule
	// WaitFitsTimeout tells whether the longest total wait is no longer than the state's timeout. It is a measure of
	// patience, not a limit that Step Functions enforces: the timeout runs per attempt and stands still during waits.
	WaitFitsTimeout bool
	// Longest is how long the state lasts if every attempt runs into its timeout and every wait is the longest:
	// (retries + 1) × timeout + waits.
	Longest time.Duration
}

// Explanation is what a state's Retry array can do.
type Explanation struct {
	State     string
	Timeout   time.Duration // of one attempt
	Heartbeat time.Duration // 0 if none
	Retriers  []RetrierExplanation
	// Retries, Wait and Longest describe the worst case of errors that alternate: each retrier has a counter of its
	// own, so their retries add up.
	Retries int
	Wait    retry.Wait
	Longest time.Duration
	// Notes are those of compiling the state.
	Notes []Note
}

// Explain tells for each retrier of the state its schedule and worst case, and how they relate to the state's timeout.
// It explains the compiled retriers, since those are what runs. The error is that of [Table.Compile].
func (t Table) Explain(state string) (Explanation, error) {
	compiled, err := t.Compile(state)
	if err != nil {
		return Explanation{}, err
	}
	s, _ := t.State(state)
	e := Explanation{State: state, Timeout: s.Timeout, Heartbeat: s.Heartbeat, Notes: compiled.Notes}
	for i, retrier := range compiled.Retry {
		schedule := retrier.Policy().Schedule()
		e.Retriers = append(e.Retriers, RetrierExplanation{
			Retrier:         retrier,
			Provenance:      s.Rows[i].Provenance,
			Schedule:        schedule,
			WaitFitsTimeout: schedule.Total.Max <= s.Timeout,
			Longest:         longest(schedule.Retries, s.Timeout, schedule.Total),
		})
		e.Retries += schedule.Retries
		e.Wait = e.Wait.Plus(schedule.Total)
	}
	e.Longest = longest(e.Retries, s.Timeout, e.Wait)
	return e, nil
}

// longest is the time of retries+1 attempts of the full timeout, and the waits.
func longest(retries int, timeout time.Duration, wait retry.Wait) time.Duration {
	return retry.Wait{Max: timeout}.Times(retries + 1).Plus(wait).Max
}
