package retrypatterns

import "time"

// ExplainRetriers returns the schedules and worst cases of any Retry array, as [Table.Explain] does for the
// table's. A timeout of 0 means that the state has no timeout, or one that depends on its input. The state's
// maximum duration is then unknown.
func ExplainRetriers(state string, timeout, heartbeat time.Duration, retriers []Retrier) Explanation {
	e := Explanation{State: state, Timeout: timeout, Heartbeat: heartbeat}
	for _, r := range retriers {
		schedule := r.Policy().Schedule()
		e.Retriers = append(e.Retriers, RetrierExplanation{
			Retrier: r, Schedule: schedule, WaitFitsTimeout: schedule.Total.Max <= timeout,
			Longest: longest(schedule.Retries, timeout, schedule.Total),
		})
		e.Retries += schedule.Retries
		e.Wait = e.Wait.Plus(schedule.Total)
	}
	e.Longest = longest(e.Retries, timeout, e.Wait)
	return e
}
