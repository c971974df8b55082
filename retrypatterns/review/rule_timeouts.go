package review

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"stepback/asl"
	"stepback/asl/source"
	"stepback/retry"
)

var noTimeout = Rule{
	Code: "NO_TIMEOUT", Severity: asl.SeverityWarning,
	Title: "a task that may never end",
	Why: "A callback that never arrives, a job that hangs or an endpoint that does not answer can hold the " +
		"execution for up to a year, and nothing is retried. Give the state TimeoutSeconds (Best practices: Use " +
		"timeouts to avoid stuck executions). A function is ended by its own timeout.",
	check: func(s *subject) {
		if s.bounded() {
			return
		}
		at := s.in(source.Member("TimeoutSeconds"))
		whole := s.r.limit > 0 // for the whole execution
		switch {
		case s.waits():
			s.found(at, nil, "add TimeoutSeconds or HeartbeatSeconds, and retry States.Timeout",
				"an answer that never arrives is never noticed, and so never retried")
		case s.jobs() && !whole:
			s.found(at, nil, "add TimeoutSeconds, longer than the job ever takes",
				"a job that never ends is never noticed: %s has no timeout", s.named())
		case s.is("http", "invoke") && !whole:
			s.found(at, nil, "add TimeoutSeconds", "an endpoint that does not answer is noticed only after 60 seconds")
		}
	},
}

var timeoutBlind = Rule{
	Code: "TIMEOUT_RETRIED_BLIND", Severity: asl.SeverityWarning,
	Title: "a timeout of a function is retried while the function still runs",
	Why: "When a state's TimeoutSeconds has passed, the function continues to run. A retry runs it a second time, " +
		"concurrently. Retry States.Timeout at most once or twice, and only if the function is idempotent; or make the " +
		"function's own timeout shorter than the state's.",
	check: func(s *subject) {
		i, n := s.retrierOf(statesTimeout)
		if !s.blind(n) {
			return
		}
		s.found(s.retrier(i, "MaxAttempts"), s.apart(i), "a separate retrier for States.Timeout with MaxAttempts 1 or 2",
			"after States.Timeout the function continues to run, and with %d retries it may run %d times at once", n, n+1)
	},
}

// mostBlind is the number of retries of a timeout that TIMEOUT_RETRIED_BLIND accepts.
const mostBlind = 2

// blind reports whether retrying the state's timeout this many times may run its function too often at once.
func (s *subject) blind(retries int64) bool {
	return s.lambda() && s.TimeoutSeconds.Present() && retries > mostBlind
}

// apart returns the edits that give States.Timeout, which retrier i takes, a retrier of its own before that.
func (s *subject) apart(i int) []source.Change {
	const interval = 5 // full jitter over shorter waits is almost no wait
	x := &s.Retry[i]
	if len(x.ErrorEquals) == 1 && x.ErrorEquals[0] == statesTimeout {
		edits := set(s.retrier(i), "MaxAttempts", strconv.Itoa(mostBlind))
		if x.IntervalSeconds < interval {
			edits = append(edits, set(s.retrier(i), "IntervalSeconds", strconv.Itoa(interval))...)
		}
		return edits
	}
	own := fmt.Sprintf(`{"ErrorEquals": ["States.Timeout"], "IntervalSeconds": %d, "MaxAttempts": %d, "BackoffRate": 2, "JitterStrategy": "FULL"}`,
		max(interval, x.IntervalSeconds), mostBlind)
	edits := []source.Change{{Kind: source.InsertElement, At: s.retrier(i), Value: own}}
	if j := slices.Index(x.ErrorEquals, statesTimeout); j >= 0 {
		edits = append(edits, remove(s.retrier(i, "ErrorEquals").Join(source.Element(j)))...)
	}
	return edits
}

var retriesOutlast = Rule{
	Code: "RETRIES_OUTLAST_EXECUTION", Severity: asl.SeverityWarning,
	Title: "the execution ends before the retries do",
	Why: "The last retries can never happen: the execution times out first, and its TIMED_OUT cannot be caught. " +
		"Both waits and attempts count: (1 + MaxAttempts) × TimeoutSeconds. An Express execution ends after five " +
		"minutes.",
	check: func(s *subject) {
		limit := s.lasts()
		if limit == 0 {
			return
		}
		s.active(func(i int, x *asl.Retrier) {
			waits := schedule(x).Total.Max
			attempts := time.Duration(times(int64(timeout(s.State)), 1+x.MaxAttempts))
			switch {
			case waits >= limit:
				s.found(s.retrier(i, "MaxAttempts"), nil, "fewer retries, or a lower MaxDelaySeconds",
					"the retries wait up to %s, but the execution may last only %s", plain(waits), plain(limit))
			case sum(waits, attempts) >= limit:
				s.found(s.retrier(i, "MaxAttempts"), nil, "fewer retries, or a shorter TimeoutSeconds",
					"waits of up to %s and %d attempts of %s do not fit into the %s that the execution may last",
					plain(waits), 1+x.MaxAttempts, plain(timeout(s.State)), plain(limit))
			}
		})
	},
}

// lasts returns the longest duration of the execution in which the state runs; 0 if there is no limit.
func (s *subject) lasts() time.Duration {
	if s.express && (s.r.limit == 0 || s.r.limit > expressLimit) {
		return expressLimit
	}
	return s.r.limit
}

// fits reports whether the waits and attempts of a retrier fit into the execution.
func (s *subject) fits(x *asl.Retrier) bool {
	limit := s.lasts()
	attempts := time.Duration(times(int64(timeout(s.State)), 1+x.MaxAttempts))
	return limit == 0 || sum(schedule(x).Total.Max, attempts) < limit
}

// eventsPerAttempt is the number of events of a failed attempt: TaskScheduled, TaskStarted and TaskFailed.
// historyLimitEvents is Step Functions' quota.
const (
	eventsPerAttempt   = 3
	historyLimitEvents = 25_000
)

var historyLimit = Rule{
	Code: "HISTORY_LIMIT", Severity: asl.SeverityAdvice,
	Title: "retries that can fill the history",
	Why: "A Standard execution fails when its history has 25,000 events. Each attempt of a task adds three " +
		"(Developer Guide, Quotas). TOO_MANY_RETRIES reports a single retrier with more than 100 retries.",
	check: func(s *subject) {
		attempts := times(s.around, 1+s.all())
		if s.Type != asl.Task || s.express || s.most() > manyRetries {
			return
		}
		if times(attempts, eventsPerAttempt) > historyLimitEvents {
			s.found(s.in(source.Member("Retry")), nil, "fewer retries, or a child execution for this part",
				"%d attempts in the worst case write more than 25,000 events, and the execution fails", attempts)
		}
	},
}

var retriesMultiply = Rule{
	Code: "RETRIES_MULTIPLY", Severity: asl.SeverityWarning,
	Title: "states on two levels retry",
	Why: "Nested retries multiply: three levels of 5 attempts are 125 calls for one piece of work, exactly when " +
		"the callee is in trouble. An AWS SDK in a function attempts each of its calls three times more, and a redrive begins all " +
		"levels anew. Retry on one level (SRE book, Addressing cascading failures).",
	check: func(s *subject) {
		if n := s.all(); s.around > 1 && n > 0 {
			attempts := times(s.around, 1+n)
			calls := ""
			if s.lambda() && !asynchronous(s.State) {
				sdk := int64(retry.SDK2026().MaxAttempts)
				calls = fmt.Sprintf("; with the %d of an AWS SDK in the function, %d calls of one service", sdk, times(attempts, sdk))
			}
			s.found(s.in(source.Member("Retry")), nil, "retry on one level only",
				"%d attempts here times %d of the enclosing states are up to %d attempts%s", 1+n, s.around, attempts, calls)
		}
	},
}

var dataLimit = Rule{
	Code: "DATA_LIMIT_NOT_CAUGHT", Severity: asl.SeverityWarning,
	Title: "a result that may be too large is not caught by name",
	Why: "States.ALL is documented not to catch States.DataLimitExceeded (an output above 256 KiB), although " +
		"recorded executions show that it did. If results can grow, catch it by name (Developer Guide, Handling " +
		"errors).",
	check: func(s *subject) {
		if s.ResultPath.Null || !s.catches(allErrors) || !s.growing() {
			return
		}
		named := slices.ContainsFunc(s.Catch, func(c asl.Catcher) bool {
			return slices.Contains(c.ErrorEquals, "States.DataLimitExceeded")
		})
		if named {
			return
		}
		i := slices.IndexFunc(s.Catch, func(c asl.Catcher) bool { return takes(c.ErrorEquals, allErrors) })
		s.found(s.catcher(i).Join(source.Member("ErrorEquals")), nil,
			`add a catcher of ["States.DataLimitExceeded"] before it`,
			"States.ALL is documented not to catch States.DataLimitExceeded, the error of a result above 256 KiB")
	},
}

// growing reports whether the size of the state's result grows with its data.
func (s *subject) growing() bool {
	switch {
	case s.Type == asl.Map:
		return s.Map.Writer == nil
	case s.Type == asl.Parallel:
		return s.ResultSelector == nil
	case s.ResultSelector != nil:
		return false
	case s.service == "dynamodb":
		return s.action == "query" || s.action == "scan" || s.action == "batchGetItem"
	}
	return s.is("s3", "getObject") || s.is("athena", "getQueryResults")
}
