package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// TestExecutionsThatTakeTooLong runs machines that would exceed the maximum duration of an execution.
func TestExecutionsThatTakeTooLong(t *testing.T) {
	t.Parallel()
	const (
		wait = `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":40000000,"End":true}}}`
		loop = `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":86400,"Next":"C"},"C":{"Type":"Choice","Default":"W",
			"Choices":[{"Variable":"$.done","IsPresent":true,"Next":"S"}]},"S":{"Type":"Succeed"}}}`
		longer = `{"TimeoutSeconds":90000000,` +
			`"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":40000000,"End":true}}}`
		shorter = `{"TimeoutSeconds":60,` +
			`"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":40000000,"End":true}}}`
		caught = `{"StartAt":"M","States":{"M":{"Type":"Parallel","End":true,"Branches":[` + wait +
			`],"Catch":[{"ErrorEquals":["States.ALL"],"Next":"P"}]},"P":{"Type":"Pass","End":true}}}`
		retrying = `{"StartAt":"T","States":{"T":{` + call +
			`,"End":true,"Retry":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":31000000,"MaxAttempts":9,"BackoffRate":1}]}}}`
		short   = `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":301,"End":true}}}`
		limited = `{"TimeoutSeconds":900,` + `"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":301,"End":true}}}`
	)
	tests := []struct {
		name, definition string
		express          bool
		after            time.Duration
	}{
		{"one long wait", wait, false, 365 * 24 * time.Hour},
		{"a loop of short waits", loop, false, 365 * 24 * time.Hour},
		{"TimeoutSeconds of more than a year", longer, false, 365 * 24 * time.Hour},
		{"TimeoutSeconds of less", shorter, false, time.Minute},
		{"the end of an execution is not caught", caught, false, 365 * 24 * time.Hour},
		{"between two attempts", retrying, false, 365 * 24 * time.Hour},
		{"EXPRESS", short, true, 5 * time.Minute},
		{"EXPRESS with TimeoutSeconds of more than five minutes", limited, true, 5 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, func(context.Context, *engine.Task) (string, error) {
				return "",
					&engine.Failure{Name: "Boom"}
			})
			m, err := b.CreateStateMachine("m", tt.definition, "", tt.express)
			if err != nil {
				t.Fatal(err)
			}
			arn, err := b.StartExecution(t.Context(), m.ARN, "e", `{}`)
			if err != nil {
				t.Fatal(err)
			}
			x, err := b.Wait(t.Context(), arn)
			if err != nil {
				t.Fatal(err)
			}
			if took := x.Stop.Sub(x.Start); x.Status != history.TimedOut ||
				x.Failure != history.Named("States.Timeout") || took != tt.after {
				t.Errorf("%s with %+v after %v, want TIMED_OUT with States.Timeout after %v", x.Status, x.Failure, took,
					tt.after)
			}
			events, err := b.History(t.Context(), arn)
			if err != nil {
				t.Fatal(err)
			}
			if last := events[len(events)-1]; last.Type != history.ExecutionTimedOut {
				t.Errorf("the last event is %s", last.Type)
			}
		})
	}
}

// Virtual time does not jump to the end of an execution's maximum duration while the execution waits for a worker
// that is slow in real time.
func TestVirtualTimeDoesNotHurryToTheEndOfALife(t *testing.T) {
	t.Parallel()
	token := make(chan string, 1)
	b := newBed(t, func(_ context.Context, task *engine.Task) (string, error) {
		token <- strings.Trim(task.Parameters, `"{}token:`)
		return `{}`, nil
	})
	arn := b.start(t, `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::test:call.waitForTaskToken",
		"Parameters":{"token.$":"$$.Task.Token"},"End":true}}}`, `{}`)
	given := <-token
	for range 100 {
		b.clock.Hold()
		b.clock.Release() // which lets the clock jump if nothing else holds it
	}
	if err := b.SendTaskSuccess(t.Context(), given, `{}`); err != nil {
		t.Fatal(err)
	}
	x, err := b.Wait(t.Context(), arn)
	if err != nil || x.Status != history.Succeeded || !x.Stop.Equal(epoch) {
		t.Errorf("%+v, %v; want SUCCEEDED at %v", x, err, epoch)
	}
}

// TestALifeEndsWhileNobodyRunsIt recovers an execution that is more than a year old.
func TestALifeEndsWhileNobodyRunsIt(t *testing.T) {
	t.Parallel()
	const wait = `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":80000000,"End":true}}}`
	kept := journal.NewMemory()
	if life(t, kept, 1, nil, wait, `{}`) {
		t.Fatal("the execution has ended before the process died")
	}
	later := clock.Virtual(epoch.Add(2 * 365 * 24 * time.Hour))
	defer later.Close()
	e, err := engine.New(engine.Config{Clock: later, Journal: kept})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	found, err := e.Recover(t.Context())
	if err != nil || len(found.Executions) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	x, err := e.Wait(t.Context(), found.Executions[0].ARN)
	if err != nil || x.Status != history.TimedOut || !x.Stop.Equal(later.Now()) {
		t.Errorf("%+v, %v; want TIMED_OUT at %v", x, err, later.Now())
	}
}
