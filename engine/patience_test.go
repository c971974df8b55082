package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// TestAHangingTaskTimesOutInVirtualTime lets a task that does not use virtual time hang once. The retry a minute
// later succeeds: the first one, unless the machine is so busy that it seems to hang as well.
func TestAHangingTaskTimesOutInVirtualTime(t *testing.T) {
	t.Parallel()
	first := make(chan struct{}, 1)
	first <- struct{}{}
	var task invoke = func(ctx context.Context, task *engine.Task) (string, error) {
		select {
		case <-first:
			<-ctx.Done()
			return "", ctx.Err()
		default:
			return task.Parameters, nil
		}
	}
	c := virtual(t, epoch)
	overruns := make(chan engine.Overrun, 1)
	e, err := engine.New(engine.Config{
		Clock: c, Journal: journal.NewMemory(), Patience: 10 * time.Millisecond,
		Overran: func(o engine.Overrun) {
			select {
			case overruns <- o:
			default: // only the first one counts
			}
		},
		Integrations: new(engine.Integrations).Handle("test", "call", task),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	arn := begin(t, e, `{"StartAt":"T","States":{"T":{`+call+`,"TimeoutSeconds":300,
		"Retry":[{"ErrorEquals":["States.Timeout"],"IntervalSeconds":60,"BackoffRate":1,"MaxAttempts":99}],"End":true}}}`, `7`)
	x, err := e.Wait(t.Context(), arn)
	if took := x.Stop.Sub(x.Start); err != nil || x.Output != "7" || took == 0 || took%(6*time.Minute) != 0 {
		t.Errorf("%+v after %v, %v", x, x.Stop.Sub(x.Start), err)
	}
	want := engine.Overrun{Execution: arn, State: "T", Patience: 10 * time.Millisecond}
	if got := <-overruns; got != want {
		t.Errorf("%+v", got)
	}
}

// TestPatienceCanExceedTheTimeout: a patience that is set holds, shorter or longer than the state's timeout. The
// default is the timeout, but at least five seconds.
func TestPatienceCanExceedTheTimeout(t *testing.T) {
	t.Parallel()
	for patience, want := range map[time.Duration]time.Duration{
		0: 5 * time.Second, time.Minute: time.Minute, time.Millisecond: time.Millisecond, -1: 0,
	} {
		if got := engine.PatienceOf(patience, time.Second); got != want {
			t.Errorf("%v: %v, want %v", patience, got, want)
		}
	}
	if got := engine.PatienceOf(0, time.Hour); got != time.Hour {
		t.Errorf("%v", got)
	}
	if got := engine.PatienceOf(0, 0); got != 0 {
		t.Errorf("%v", got)
	}
}

// TestATaskThatWorksIsWaitedFor lets a task work while nothing else can run: time stands still, however short the
// task's timeout.
func TestATaskThatWorksIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, patience := range map[string]time.Duration{"by default": 0, "for long": time.Hour, "for ever": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := virtual(t, epoch)
			var task invoke = func(ctx context.Context, task *engine.Task) (string, error) {
				other := make(chan struct{})
				c.Schedule(c.Now(), clock.AlarmFunc(func() { close(other) })) // would fire if time were free to advance
				ctx, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
				defer cancel()
				select {
				case <-other:
					return "", errors.New("time went on")
				case <-ctx.Done():
					return task.Parameters, nil
				}
			}
			e, err := engine.New(engine.Config{
				Clock: c, Journal: journal.NewMemory(), Patience: patience,
				Integrations: new(engine.Integrations).Handle("test", "call", task),
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(e.Close)
			arn := begin(t, e, `{"StartAt":"T","States":{"T":{`+call+`,"TimeoutSeconds":1,"End":true}}}`, `7`)
			x, err := e.Wait(t.Context(), arn)
			if err != nil || x.Status != history.Succeeded || !x.Stop.Equal(x.Start) {
				t.Errorf("%+v, %v", x, err)
			}
		})
	}
}
