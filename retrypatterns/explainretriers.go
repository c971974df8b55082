package retrypatterns

import (
	"math"
	"time"

	"stepback/asl"
)

// ExplainRetriers tells of the Retry array of any state what [Table.Explain] tells of the table's: schedules and worst
// cases. A timeout of 0 means that the state has none, or one that only its input tells: how long it can last is not
// known then.
func ExplainRetriers(state string, timeout, heartbeat time.Duration, retriers []asl.Retrier) Explanation {
	e := Explanation{State: state, Timeout: timeout, Heartbeat: heartbeat}
	for i := range retriers {
		r := retrierOf(&retriers[i])
		schedule := r.Policy().Schedule()
		e.Retriers = append(e.Retriers, RetrierExplanation{
			Retrier: r, Schedule: schedule, WaitFitsTimeout: schedule.Total.Max <= timeout,
			Longest: longest(schedule.Retries, timeout, schedule.Total),
		})
		e.Retries += schedule.Retries
		e.Wait = e.Wait.plus(schedule.Total)
	}
	e.Longest = longest(e.Retries, timeout, e.Wait)
	return e
}

// retrierOf is a retrier of a definition, whose defaults are filled in.
func retrierOf(r *asl.Retrier) Retrier {
	whole := func(n int64) int { return int(min(n, math.MaxInt32)) }
	made := Retrier{
		ErrorEquals: r.ErrorEquals, IntervalSeconds: whole(r.IntervalSeconds), MaxAttempts: whole(r.MaxAttempts),
		BackoffRate: r.BackoffRate, MaxDelaySeconds: whole(r.MaxDelaySeconds), Comment: r.Comment,
	}
	if r.FullJitter {
		made.JitterStrategy = JitterFull
	}
	return made
}
