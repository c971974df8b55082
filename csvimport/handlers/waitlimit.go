package handlers

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"stepback/csvimport"
	"stepback/csvimport/process"
	"stepback/retry"
)

// Waiting limits how long records wait for their callee. While a circuit is open, each attempt fails with CircuitOpen
// or RetryBudgetExhausted, and the state machine retries it; a batch whose rows wait one after another could do that
// for longer than the execution may take, which would end it with neither results nor a summary.
type Waiting struct {
	// Limit is the time after the start of the import's execution from which no record waits any more; 0 means that
	// records wait until their retries are used up. See statemachine.WaitLimit.
	Limit time.Duration
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
}

// WaitingFrom returns the limit in WAIT_LIMIT, a duration such as 21h; if it is not set, there is none. Any other value
// is InvalidInput.
func WaitingFrom(getenv func(string) string) (Waiting, error) {
	text := getenv("WAIT_LIMIT")
	if text == "" {
		return Waiting{}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return Waiting{}, csvimport.Fail(
			retry.InvalidInput,
			"WAIT_LIMIT is %q; set it to a duration such as 21h, or leave it unset for none",
			text,
		)
	}
	return Waiting{Limit: d}, nil
}

// Limited returns a function that gives up records that would have to wait after the limit. A single record fails with
// RetryNotWorthwhile. The rows of a batch are dead-lettered in its response, so that they are not tried one by one.
// Events that do not name the start of their import are not limited.
func (w Waiting) Limited(f Func[process.Answer]) Func[process.Answer] {
	if w.Limit == 0 {
		return f
	}
	if w.Now == nil {
		w.Now = time.Now
	}
	return func(ctx context.Context, event json.RawMessage) (process.Answer, error) {
		out, err := f(ctx, event)
		name, message := nameAndMessage(err)
		if !retry.IsDeferral(name) {
			return out, err
		}
		var in process.Event
		if decode(event, &in) != nil {
			return out, err
		}
		now := w.Now()
		if began, ok := startOf(in.Run); !ok || now.Before(began.Add(w.Limit)) {
			return out, err
		}
		given := csvimport.Fail(
			retry.RetryNotWorthwhile,
			"the callee is still not available %s after the import's start, when records stop waiting for it: %s: %s",
			w.Limit,
			name,
			message,
		)
		if in.Items == nil {
			return out, encode(given)
		}
		failed := process.GivenUp{Failure: given, Attempts: 1, Last: now}
		if try, ok := attemptOf(event); ok {
			failed.Attempts, failed.First = try.Retries+1, try.Entered
		}
		batch, failure := process.GiveUp(in.Items, failed)
		if failure != nil {
			return out, err
		}
		return process.Answer{Batch: &batch}, nil
	}
}

// startOf returns the start of an import's execution, which is the last word of its run: "NAME 2026-11-27T08:00:00Z".
func startOf(run string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, run[strings.LastIndexByte(run, ' ')+1:])
	return t, err == nil
}
