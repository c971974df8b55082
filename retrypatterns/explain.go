package retrypatterns

import (
	"time"

	"stepback/retry"
)

// RetrierExplanation describes what one retrier of a state does if its error never goes away.
type RetrierExplanation struct {
	// Retrier is the retrier that Step Functions executes, and Provenance the origin of its row.
	Retrier    Retrier
	Provenance Provenance
	// Schedule contains the wait before each retry, and the total.
	Schedule retry.Schedule
	// WaitFitsTimeout is true if the longest total wait does not exceed the state's timeout. It is only an indication
	// of how long the state keeps retrying; Step Functions does not enforce it, because the timeout applies per
	// attempt and does not run during waits.
	WaitFitsTimeout bool
	// Longest is the duration of the state if every attempt times out and every wait is the longest: (retries + 1) ×
	// timeout + waits.
	Longest time.Duration
}

// Explanation describes what a state's Retry array does in the worst case.
type Explanation struct {
	State     string
	Timeout   time.Duration // of one attempt
	Heartbeat time.Duration // 0 if none
	Retriers  []RetrierExplanation
	// Retries, Wait and Longest describe the worst case of alternating errors: each retrier has its own counter, so
	// their retries add up.
	Retries int
	Wait    retry.Wait
	Longest time.Duration
	// Layers are the layers that attempt the state's work, if they are known; see review.LayersOf.
	Layers []Layer
	// Notes are the notes from compiling the state.
	Notes []Note
}

// Explain returns the schedule and the worst case of each retrier of the state, and how they relate to the state's
// timeout. It explains the compiled retriers, because Step Functions executes those. The error is that of
// [Table.Compile].
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

// longest returns the duration of retries+1 attempts of the full timeout, plus the waits.
func longest(retries int, timeout time.Duration, wait retry.Wait) time.Duration {
	return retry.Wait{Max: timeout}.Times(retries + 1).Plus(wait).Max
}
