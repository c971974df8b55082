package review

import (
	"slices"
	"strconv"
	"time"

	"stepback/asl"
	"stepback/asl/source"
	"stepback/retrypatterns"
)

const (
	// longWait is the wait from which on a cap is missed.
	longWait = time.Hour
	// manyRetries is the number of retries that is as good as none.
	manyRetries = 100
)

// retrier reviews element i of a state's Retry array.
func (r *reviewer) retrier(s *asl.State, i int, at source.Path) {
	x := &s.Retry[i]
	if r.unreachable(s, i, at) || x.MaxAttempts == 0 {
		return
	}
	r.permanent(s, i, at)
	r.waits(x, at)
}

// unreachable reports a retrier none of whose errors can reach it, and single names that cannot.
func (r *reviewer) unreachable(s *asl.State, i int, at source.Path) bool {
	names := s.Retry[i].ErrorEquals
	dead := 0
	for j, name := range names {
		why := r.neverRaised(s, name)
		if by := slices.IndexFunc(s.Retry[:i], func(e asl.Retrier) bool {
			return takes(e.ErrorEquals,
				name)
		}); by >= 0 {
			why = "retrier " + ordinal(by) + " of the state takes it before"
		}
		if why != "" {
			dead++
			r.advise(NeverMatched, at.Join(source.Member("ErrorEquals"), source.Element(j)),
				"remove it, or put it first", "'%s' never matches here: %s", name, why)
		}
	}
	return dead == len(names)
}

// neverRaised says why a state cannot fail with an error; empty when it can.
func (r *reviewer) neverRaised(s *asl.State, name string) string {
	switch {
	case name == "States.Runtime":
		return "States.Runtime is never retried or caught"
	case s.Type != asl.Task:
		return ""
	case name == "States.HeartbeatTimeout" && !s.HeartbeatSeconds.Present():
		return "the state has no HeartbeatSeconds"
	case name == "States.Timeout" && !s.TimeoutSeconds.Present() && !s.HeartbeatSeconds.Present():
		return "the state has no TimeoutSeconds; the timeout of a function is Sandbox.Timedout or Lambda.Unknown"
	default:
		return ""
	}
}

// ordinal counts retriers as people do, from 1.
func ordinal(i int) string { return strconv.Itoa(i + 1) }

// permanent reports retries of what no retry mends.
func (r *reviewer) permanent(s *asl.State, i int, at source.Path) {
	// After a retrier that excepts errors, or one on States.TaskFailed that was advised about, nothing is left to say.
	excepted := slices.ContainsFunc(s.Retry[:i], func(e asl.Retrier) bool {
		return e.MaxAttempts == 0 || slices.Contains(e.ErrorEquals, taskFailed)
	})
	for j, name := range s.Retry[i].ErrorEquals {
		place := at.Join(source.Member("ErrorEquals"), source.Element(j))
		switch {
		case retrypatterns.IsPermanent(name):
			r.advise(PermanentRetried, place, "give it MaxAttempts 0, or only a catcher",
				"no retry mends %s: every attempt fails alike", name)
		case (name == allErrors || name == taskFailed) && !excepted:
			r.advise(EverythingRetried, place,
				`put {"ErrorEquals": [your validation errors], "MaxAttempts": 0} before it`,
				"%s also retries errors that no retry mends, such as a refused input", name)
		}
	}
}

// waits reports waits that bring callers back together, too soon, too late or too often.
func (r *reviewer) waits(x *asl.Retrier, at source.Path) {
	plan := schedule(x)
	if !x.FullJitter {
		r.advise(NoJitter, at.Join(source.Member("JitterStrategy")), `add "JitterStrategy": "FULL"`,
			"without jitter, executions that failed together come back together")
	}
	if x.BackoffRate <= 1 && x.MaxAttempts > 1 {
		r.advise(FixedInterval, at.Join(source.Member("BackoffRate")),
			"a BackoffRate of 2 gives the callee time to recover",
			"%d retries at a fixed interval of %s do not back off", x.MaxAttempts,
			plain(time.Duration(x.IntervalSeconds)*time.Second))
	}
	if last := plan.Waits[len(plan.Waits)-1].Max; x.MaxDelaySeconds == 0 && x.BackoffRate > 1 && last > longWait {
		r.advise(NoCap, at.Join(source.Member("MaxDelaySeconds")), "add MaxDelaySeconds", "the waits grow to %s",
			plain(last))
	}
	if x.MaxAttempts > manyRetries {
		r.advise(NoLimit, at.Join(source.Member("MaxAttempts")), "an execution's history ends at 25,000 events",
			"%d retries are practically without a limit", x.MaxAttempts)
	}
	if r.limit > 0 && plan.Total.Max >= r.limit {
		r.advise(LongerThanAllowed, at.Join(source.Member("MaxAttempts")), "fewer retries, or a lower MaxDelaySeconds",
			"the retries wait up to %s, and the execution may last %s", plain(plan.Total.Max), plain(r.limit))
	}
}

const (
	allErrors  = "States.ALL"
	taskFailed = "States.TaskFailed"
)

// takes reports whether a retrier takes every error that this name stands for.
func takes(errorEquals []string, name string) bool {
	if slices.Contains(errorEquals, allErrors) || slices.Contains(errorEquals, name) {
		return true
	}
	timeouts := name == "States.Timeout" || name == "States.HeartbeatTimeout"
	return slices.Contains(errorEquals, taskFailed) && name != allErrors && !timeouts
}
