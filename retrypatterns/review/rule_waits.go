package review

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/asl"
)

const (
	// longWait is the wait above which a cap should be set.
	longWait = time.Hour
	// manyRetries is the number of retries above which retrying is practically unlimited.
	manyRetries = 100
	// throttleWait is the minimum total wait for retries of a throttled call.
	throttleWait = 30 * time.Second
)

var noJitter = Rule{
	Code: "NO_JITTER", Severity: asl.SeverityWarning,
	Title: "waits without jitter",
	Why: "Executions that failed together retry together, and fail together again. JitterStrategy FULL spreads " +
		"them; in AWS's own measurement with 100 clients it needed a third of the calls (Exponential Backoff And " +
		"Jitter).",
	check: func(s *subject) {
		s.active(func(i int, x *asl.Retrier) {
			if !x.FullJitter {
				jittered := *x
				jittered.FullJitter = true
				fix := set(s.retrier(i), "JitterStrategy", `"FULL"`)
				for shortest(&jittered) >= shortChance { // see FULL_JITTER_TOO_SHORT
					jittered.IntervalSeconds++
				}
				if jittered.IntervalSeconds != x.IntervalSeconds {
					fix = append(fix, set(s.retrier(i), "IntervalSeconds", strconv.FormatInt(jittered.IntervalSeconds, 10))...)
				}
				s.found(s.retrier(i, "JitterStrategy"), fix,
					`add "JitterStrategy": "FULL"`,
					"without jitter, executions that failed together retry together")
			}
		})
	},
}

var fixedInterval = Rule{
	Code: "FIXED_INTERVAL", Severity: asl.SeverityWarning,
	Title: "waits that do not grow",
	Why:   "An overloaded callee gets the same load at each retry. A BackoffRate above 1 gives it time to recover.",
	check: func(s *subject) {
		s.active(func(i int, x *asl.Retrier) {
			if x.BackoffRate <= 1 && x.MaxAttempts > 1 {
				fix := set(s.retrier(i), "BackoffRate", "2")
				if !s.fits(withRate(*x, 2)) { // see RETRIES_OUTLAST_EXECUTION
					fix = nil
				}
				s.found(s.retrier(i, "BackoffRate"), fix,
					"a BackoffRate of 2 gives the callee time to recover",
					"%d retries at a fixed interval of %s do not back off", x.MaxAttempts,
					plain(time.Duration(x.IntervalSeconds)*time.Second))
			}
		})
	},
}

var noCap = Rule{
	Code: "NO_MAX_DELAY", Severity: asl.SeverityWarning,
	Title: "waits that grow beyond an hour",
	Why: "An exponential wait without MaxDelaySeconds soon outlasts every outage: the callee has long recovered, " +
		"and the execution is still waiting.",
	check: func(s *subject) {
		s.active(func(i int, x *asl.Retrier) {
			waits := schedule(x).Waits
			if last := waits[len(waits)-1].Max; x.MaxDelaySeconds == 0 && x.BackoffRate > 1 && last > longWait {
				const longest = 300
				fix := set(s.retrier(i), "MaxDelaySeconds", strconv.Itoa(longest))
				if x.IntervalSeconds >= longest { // see CAP_BELOW_INTERVAL
					fix = nil
				}
				s.found(s.retrier(i, "MaxDelaySeconds"), fix, "add MaxDelaySeconds", "the waits grow to %s", plain(last))
			}
		})
	},
}

// withRate returns a retrier with another BackoffRate.
func withRate(x asl.Retrier, rate float64) *asl.Retrier {
	x.BackoffRate = rate
	return &x
}

var tooManyRetries = Rule{
	Code: "TOO_MANY_RETRIES", Severity: asl.SeverityWarning,
	Title: "retries practically without a limit",
	Why:   "More than 100 retries hide a permanent failure until the history is full or the execution times out.",
	check: func(s *subject) {
		s.active(func(i int, x *asl.Retrier) {
			if x.MaxAttempts > manyRetries {
				s.found(s.retrier(i, "MaxAttempts"), nil, "an execution's history ends at 25,000 events",
					"%d retries are practically without a limit", x.MaxAttempts)
			}
		})
	},
}

var capBelowInterval = Rule{
	Code: "CAP_BELOW_INTERVAL", Severity: asl.SeverityAdvice,
	Title: "MaxDelaySeconds is not above IntervalSeconds",
	Why:   "The cap applies from the first retry, so the waits neither grow nor match IntervalSeconds.",
	check: func(s *subject) {
		s.active(func(i int, x *asl.Retrier) {
			if x.MaxDelaySeconds > 0 && x.MaxDelaySeconds <= x.IntervalSeconds && x.BackoffRate > 1 {
				s.found(s.retrier(i, "MaxDelaySeconds"), nil, "raise it, or lower IntervalSeconds",
					"every wait is at most %ds, whatever IntervalSeconds %d and BackoffRate %g say", x.MaxDelaySeconds,
					x.IntervalSeconds, x.BackoffRate)
			}
		})
	},
}

var zeroOnAll = Rule{
	Code: "ZERO_ON_ALL", Severity: asl.SeverityAdvice,
	Title: "a last retrier that retries nothing",
	Why: "Errors that no retrier matches are not retried anyway. Without MaxAttempts 0 on States.ALL, the result " +
		"is the same.",
	check: func(s *subject) {
		last := len(s.Retry) - 1
		if last >= 0 && s.Retry[last].MaxAttempts == 0 && slices.Contains(s.Retry[last].ErrorEquals, allErrors) {
			s.found(s.retrier(last), remove(s.retrier(last)), "remove it", "this retrier changes nothing")
		}
	},
}

// throttles reports whether an error name means that the callee was called too often.
func throttles(name string) bool {
	return slices.ContainsFunc([]string{"TooManyRequests", "Throttl", "ThroughputExceeded", "SlowDown",
		"StatusCode.429", "LimitExceeded", "RequestLimit"}, func(part string) bool {
		return strings.Contains(name, part)
	}) && !strings.HasPrefix(name, "States.DataLimit")
}

var throttleBackoff = Rule{
	Code: "THROTTLE_BACKOFF_SHORT", Severity: asl.SeverityWarning,
	Title: "throttled calls are retried too soon",
	Why: "A throttle means that there are too many calls now. Retries that end within 30 seconds add to them and " +
		"give up before the callee has capacity again. Give throttles their own retrier: 5 seconds or more, FULL " +
		"jitter, a cap.",
	check: func(s *subject) {
		s.active(func(i int, x *asl.Retrier) {
			name := slices.IndexFunc(x.ErrorEquals, throttles)
			if total := schedule(x).Total.Max; name >= 0 && total < throttleWait {
				s.found(s.retrier(i), nil,
					"5 or more seconds, 5 or more retries, FULL jitter, in a separate retrier",
					"the retries of %s end after %s", x.ErrorEquals[name], plain(total))
			}
		})
	},
}

var fullJitterShort = Rule{
	Code: "FULL_JITTER_TOO_SHORT", Severity: asl.SeverityAdvice,
	Title: "full jitter over very short waits",
	Why: "FULL draws each wait between 0 and its full length, so a few short waits may add up to almost nothing: " +
		"with an IntervalSeconds of 1 and two retries, the total is less than a second one time in four.",
	check: func(s *subject) {
		s.active(func(i int, x *asl.Retrier) {
			if chance := shortest(x); chance >= shortChance {
				s.found(s.retrier(i), nil, "raise IntervalSeconds or MaxAttempts",
					"all %d waits together last less than a second in %.0f %% of the cases", x.MaxAttempts, 100*chance)
			}
		})
	},
}

// shortChance is the probability from which FULL_JITTER_TOO_SHORT reports a retrier.
const shortChance = 0.05

// shortest returns the probability that two or three waits with full jitter add up to less than a second; 0 for other
// retriers.
func shortest(x *asl.Retrier) float64 {
	plan := schedule(x)
	if !x.FullJitter || x.MaxAttempts < 2 || x.MaxAttempts > 3 || plan.Total.Mean >= 4*time.Second {
		return 0
	}
	chance := 1.0 // of independent uniform waits of up to a second or more
	for k, w := range plan.Waits {
		chance /= float64(k+1) * w.Max.Seconds()
	}
	return chance
}
