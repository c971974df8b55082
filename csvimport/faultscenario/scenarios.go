package faultscenario

import (
	"context"
	"strings"
	"time"

	"stepback/adaptive/breaker"
	"stepback/retry"
	"stepback/retrypatterns"
)

// lambdaError is M14's first scenario: Lambda itself fails.
var lambdaError = &rehearsal{
	name: "lambda-error", about: "Lambda fails: service exceptions, and environments that crash, half of them after the work was done",
	rows: 600, batch: 20, concurrency: 8,
	faults: []string{
		"ProcessSingleUserRecord:Lambda.ServiceException:8%", "ProcessSingleUserRecord:crash:4%",
		"ValidateCSVFile:Lambda.ServiceException:30%",
	},
	check: func(_ context.Context, s *stage, r *Report) error {
		s.recovers(r, "Lambda.ServiceException", "Runtime.ExitError")
		return nil
	},
}

// databaseError is M14's second scenario: the database fails for half a minute and loses responses.
var databaseError = &rehearsal{
	name: "database", about: "deadlocks, then half a minute in which half of the calls fail, half of them after the work was done",
	rows: 600, batch: 5, concurrency: 8, lasts: 200 * time.Millisecond,
	outages: []outage{
		{from: 0, to: 2 * time.Second, error: retry.DeadlockException, share: 0.1},
		{from: 2 * time.Second, to: 32 * time.Second, error: retry.DatabaseConnectionError, share: 0.5,
			committed: 0.5},
	},
	check: func(_ context.Context, s *stage, r *Report) error {
		s.recovers(r, retry.DatabaseConnectionError, retry.DeadlockException)
		r.Holds(s.failed > 0, "the database failed as injected", "%d of %d calls", s.failed, len(s.times))
		return nil
	},
}

// throttling is M14's third scenario.
var throttling = &rehearsal{
	name: "throttling", about: "Lambda throttles a tenth of the calls",
	rows: 600, batch: 20, concurrency: 8,
	faults: []string{"ProcessSingleUserRecord:throttle:10%", "AggregateResults:throttle:20%"},
	check: func(_ context.Context, s *stage, r *Report) error {
		s.recovers(r, retry.LambdaTooManyRequestsException)
		return nil
	},
}

// breakerOpens is M14's fourth scenario: an outage that outlasts every record's own retries.
var breakerOpens = &rehearsal{
	name: "breaker", about: "the database is down for ten minutes, longer than any record's own retries wait",
	rows: 1200, batch: 5, concurrency: 16, lasts: 500 * time.Millisecond,
	outages: []outage{{from: 3 * time.Second, to: 603 * time.Second, error: retry.DatabaseConnectionError,
		share: 1}},
	check: func(_ context.Context, s *stage, r *Report) error {
		n, total := s.waited(retry.CircuitOpen)
		refused, paced := s.waited(retry.RetryBudgetExhausted)
		r.Holds(n > 0, "records wait while the circuit is open", "%d waits of %s after CircuitOpen, %d of %s after RetryBudgetExhausted",
			n, total.Round(time.Second), refused, paced.Round(time.Second))
		s.transitions(r)
		during := 0
		for _, at := range s.times {
			if at >= 63*time.Second && at < 603*time.Second {
				during++
			}
		}
		r.Holds(during <= 100, "the database is spared: at most 100 calls in the nine minutes after the first minute of the outage",
			"%d calls", during)
		return nil
	},
}

// recovers checks that each error occurred and that all of its retries recovered in the end.
func (s *stage) recovers(r *Report, names ...string) {
	for _, name := range names {
		failures, exhausted := int64(0), int64(0)
		for _, x := range s.imported.Retries {
			if x.Error == name {
				failures += x.Failures
				exhausted += x.Exhausted + x.NotRetried
			}
		}
		pattern, _ := retrypatterns.PatternFor(name)
		r.Holds(failures > 0, name+" occurs and is retried", "%d failures by the pattern %s, %d given up", failures,
			pattern.Name, exhausted)
	}
}

// transitions checks that the circuit opened, was probed and closed in the end, and that each change of its state
// was a valid one.
func (s *stage) transitions(r *Report) {
	s.mu.Lock()
	all := s.circuits
	s.mu.Unlock()
	opened, closed, wrong := 0, 0, 0
	steps := make([]string, 0, len(all))
	for i, c := range all {
		steps = append(steps, c.to.String())
		if i == 0 {
			continue
		}
		switch from := all[i-1].to; {
		case from == breaker.Closed && c.to == breaker.Open:
			opened++
		case c.to == breaker.Closed && from == breaker.HalfOpen:
			closed++
		case from == breaker.Open && c.to == breaker.Closed, from == breaker.Closed && c.to == breaker.HalfOpen:
			wrong++
		}
	}
	r.Holds(opened > 0 && closed > 0 && wrong == 0 && all[len(all)-1].to == breaker.Closed,
		"the circuit opens, is tried half-open, and closes when the database is back", "it was %s", strings.Join(steps, ", "))
}
