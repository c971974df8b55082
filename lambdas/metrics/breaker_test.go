package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/adaptive/breaker"
	"stepback/adaptive/limiter"
	"stepback/adaptive/shared"
	"stepback/alarms"
	"stepback/retrymetrics"
)

// circuits is a store in which a callee's circuit is in a given state. Other callees were never called.
type circuits struct {
	shared.Store
	callee string
	state  breaker.State
	err    error
}

func (c *circuits) Add(_ context.Context, callee string, t limiter.Tally) (shared.Record, limiter.Tally, error) {
	if t != (limiter.Tally{}) {
		return shared.Record{}, t, errors.New("nothing may be written")
	}
	if callee != c.callee {
		return shared.Record{}, t, c.err
	}
	return shared.Record{Breaker: c.state}, t, c.err
}

// listed simulates a Step Functions in which the executions of a state machine run until a time.
type listed struct{ until time.Time }

func (l listed) ListExecutions(_ context.Context, in *sfn.ListExecutionsInput, _ ...func(*sfn.Options)) (
	*sfn.ListExecutionsOutput, error) {
	out := &sfn.ListExecutionsOutput{}
	if time.Now().Before(l.until) && in.StatusFilter == types.ExecutionStatusRunning &&
		aws.ToString(in.StateMachineArn) == machineARN {
		out.Executions = []types.ExecutionListItem{{Name: aws.String("users")}}
	}
	return out, nil
}

const (
	machineARN = "arn:aws:states:us-east-1:123456789012:stateMachine:csv-import"
	everyTime  = `{"publish":"circuit-breaker"}`
)

func open() (s breaker.State) {
	s.Trip(time.Now())
	return s
}

func halfOpen() breaker.State {
	s, p := open(), breaker.Callee()
	s.Allow(&p, time.Now().Add(time.Hour))
	return s
}

// TestAnOpenCircuitPagesWhileAllBatchesWait: a function is invoked once when the circuit opens, and the last batches
// then wait for five minutes. The alarm circuit-breaker-open fires in the third minute, and not if nothing runs.
func TestAnOpenCircuitPagesWhileAllBatchesWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		callee  string
		state   func() breaker.State
		runs    time.Duration // of the executions
		minutes int           // with data
		after   time.Duration // when the alarm fires; 0 if it does not
	}{
		"open, and batches wait":      {"database", open, time.Hour, 10, 3 * time.Minute},
		"open for the buckets":        {"objects", open, time.Hour, 10, 3 * time.Minute},
		"open, and the last one ends": {"database", open, 150 * time.Second, 3, 3 * time.Minute},
		"open, and nothing runs":      {"database", open, 0, 1, 0},
		"half-open":                   {"database", halfOpen, time.Hour, 1, 0},
		"closed":                      {"database", func() (s breaker.State) { return s }, time.Hour, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				begin := time.Now().UTC()
				h := handler{
					out:        &out,
					now:        time.Now,
					machineARN: machineARN,
					breakers:   &circuits{callee: c.callee, state: c.state()},
					running:    listed{begin.Add(c.runs)},
				}
				collected := retrymetrics.Collector{}
				collected.Put([]retrymetrics.Point{ // printed by a function
					{Metric: retrymetrics.CircuitBreakerState, Labels: retrymetrics.Labels{StateMachine: "csv-import"},
						Start: begin, Values: []float64{1}, Counts: []int64{1}},
					{Metric: retrymetrics.TaskFailures, Labels: retrymetrics.Labels{StateMachine: "csv-import"},
						Start: begin.Add(9 * time.Minute), Values: []float64{1}, Counts: []int64{1}},
				})
				for range 10 {
					if err := h.handle(t.Context(), json.RawMessage(everyTime)); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Minute) //nolint:forbidigo // virtual time
				}
				for line := range bytes.Lines(out.Bytes()) {
					if !collected.AddEmbedded(line, retrymetrics.CircuitBreakerState) {
						t.Errorf("not a metric: %s", line)
					}
				}
				set, err := alarms.New(alarms.Options{StateMachine: "csv-import", Level: retrymetrics.LevelError})
				if err != nil {
					t.Fatal(err)
				}
				points := collected.Points()
				for _, a := range set.Alarms {
					if a.Name == "circuit-breaker-open" {
						check(t, set, a, points, begin, c.after)
					}
				}
				if got := len(points) - 1; got != c.minutes {
					t.Errorf("%d minutes have data, want %d", got, c.minutes)
				}
			})
		})
	}
}

// check checks when an alarm fires for the first time.
func check(
	t *testing.T,
	set alarms.Set,
	a alarms.Alarm,
	points []retrymetrics.Point,
	begin time.Time,
	want time.Duration,
) {
	t.Helper()
	changes, err := set.Evaluate(a, points)
	if err != nil {
		t.Fatal(err)
	}
	fired := time.Duration(0)
	for _, change := range changes {
		if change.State == alarms.Alarming && fired == 0 {
			fired = change.At.Sub(begin)
		}
	}
	if fired != want {
		t.Errorf("the alarm fires after %v, want %v", fired, want)
	}
}

func TestACircuitThatCannotBePublishedIsAnError(t *testing.T) {
	t.Parallel()
	unreachable := &circuits{err: errors.New("the table is not reachable")}
	for name, c := range map[string]struct {
		h    *handler
		want string
	}{
		"no table":         {&handler{machineARN: machineARN}, "BREAKER_TABLE or STATE_MACHINE_ARN is not set"},
		"no machine":       {&handler{breakers: unreachable}, "BREAKER_TABLE or STATE_MACHINE_ARN is not set"},
		"table is refused": {&handler{machineARN: machineARN, breakers: unreachable}, "the table is not reachable"},
	} {
		if err := c.h.handle(
			t.Context(),
			json.RawMessage(everyTime),
		); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if err := (&handler{}).handle(t.Context(), json.RawMessage(`{"publish":"weather"}`)); err == nil ||
		!strings.Contains(err.Error(), `publish is "weather"`) {
		t.Errorf("%v", err)
	}
}
