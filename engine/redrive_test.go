package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
)

// failing makes each task fail as often as the map says for its parameters, and otherwise returns the parameters.
type failing struct {
	mu    sync.Mutex
	times map[string]int
}

func (f *failing) invoke(_ context.Context, task *engine.Task) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.times[task.Parameters] > 0 {
		f.times[task.Parameters]--
		return "", engine.NewFailure("Crash", "c")
	}
	return task.Parameters, nil
}

func TestRedrive(t *testing.T) {
	t.Parallel()
	tasks := &failing{times: map[string]int{`{"n":1}`: 1}}
	b := newBed(t, tasks.invoke)
	arn := b.start(t, `{"StartAt":"T","States":{"T":{`+call+`,"End":true}}}`, `{"n":1}`)
	x, err := b.Wait(t.Context(), arn)
	if err != nil || x.Status != history.Failed || b.Redrivable(x) != nil {
		t.Fatalf("%+v, %v", x, err)
	}
	before := b.clock.Now()
	at, err := b.RedriveExecution(t.Context(), arn, "token")
	if err != nil || at.Before(before) {
		t.Fatal(at, err)
	}
	if x, err = b.Wait(t.Context(), arn); err != nil || x.Status != history.Succeeded || x.RedriveCount != 1 ||
		!x.Redriven.Equal(at) || x.Failure != (history.Failure{}) {
		t.Errorf("%+v, %v", x, err)
	}
	if got, want := types(t, b.Engine, arn),
		"ExecutionStarted TaskStateEntered TaskScheduled TaskStarted TaskFailed ExecutionFailed "+
			"ExecutionRedriven TaskScheduled TaskStarted TaskSucceeded TaskStateExited ExecutionSucceeded"; got != want {
		t.Error(got)
	}
	if again, err := b.RedriveExecution(t.Context(), arn, "token"); err != nil || !again.Equal(at) {
		t.Errorf("with the same token: %v, %v", again, err)
	}
	_, err = b.RedriveExecution(t.Context(), arn, "another")
	notRedrivable(t, err, "Execution is SUCCEEDED and cannot be redriven")
	if _, err := b.RedriveExecution(t.Context(), arn+"x", ""); !errors.Is(err, engine.ErrNoExecution) {
		t.Error(err)
	}
}

func notRedrivable(t *testing.T, err error, reason string) {
	t.Helper()
	var refusal *engine.NotRedrivableError
	if !errors.As(err, &refusal) || refusal.Reason != reason {
		t.Errorf("%v, want %s", err, reason)
	}
}

func TestNotRedrivable(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	now := b.clock.Now()
	for reason, x := range map[string]journal.Execution{
		"Execution is RUNNING and cannot be redriven":   {Status: history.Running},
		"Execution is SUCCEEDED and cannot be redriven": {Status: history.Succeeded},
		"Execution history event limit exceeded": {Status: history.Failed, HistorySize: 24_999, Start: now,
			Stop: now},
		"Execution has exceeded the max execution time": {Status: history.TimedOut,
			Start: now.Add(-interpreter.MaxDuration), Stop: now},
		"Execution redrivable period exceeded": {Status: history.Aborted, Start: now.AddDate(0, 0, -20),
			Stop: now.AddDate(0, 0, -15)},
	} {
		notRedrivable(t, b.Redrivable(&x), reason)
	}
	if err := b.Redrivable(&journal.Execution{Status: history.Aborted, HistorySize: 24_998, Start: now,
		Stop: now.AddDate(0, 0, -14)}); err != nil {
		t.Error(err)
	}
}

const tolerant = `{"StartAt":"M","States":{"M":{"Type":"Map","Label":"L","MaxConcurrency":2,"End":true,"ToleratedFailureCount":%d,
	"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"%s"},"StartAt":"T","States":{"T":{` +
	call + `,"End":true}}}}}}`

// TestRedriveAMapRun makes two of six child executions fail, which is one too many.
func TestRedriveAMapRun(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"STANDARD", "EXPRESS"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			tasks := &failing{times: map[string]int{"2": 1, "4": 2}}
			b := newBed(t, tasks.invoke)
			arn := b.start(t, fmt.Sprintf(tolerant, 1, kind), `[1,2,3,4,5,6]`)
			x, err := b.Wait(t.Context(), arn)
			if err != nil || x.Failure.Name != "States.ExceedToleratedFailureThreshold" {
				t.Fatalf("%+v, %v", x, err)
			}
			if _, err := b.RedriveExecution(t.Context(), arn, ""); err != nil {
				t.Fatal(err)
			}
			if x, err = b.Wait(t.Context(), arn); err != nil || x.Status != history.Succeeded ||
				x.Output != `[1,2,3,5,6]` {
				t.Fatalf("%+v, %v", x, err)
			}
			runs, err := b.MapRunsOf(t.Context(), arn)
			if err != nil || len(runs) != 1 {
				t.Fatalf("%+v, %v", runs, err)
			}
			m := runs[0]
			if m.RedriveCount != 1 || m.Redriven.IsZero() || m.Status != history.Succeeded ||
				m.Items != (engine.Tally{Succeeded: 5, Failed: 1}) {
				t.Errorf("%+v", m)
			}
			redriven := 0
			for child, err := range b.journal.Executions(t.Context(), m.Children) {
				if err != nil {
					t.Fatal(err)
				}
				if child.RedriveCount > 0 {
					redriven++
					_, err := b.RedriveExecution(t.Context(), child.ARN, "")
					if child.Status == history.Failed {
						notRedrivable(t, err,
							"Child executions are redriven with the execution that their Map Run belongs to")
					}
				}
			}
			if redriven < 2 {
				t.Errorf("%d child executions were redriven", redriven)
			}
		})
	}
}

// TestRedriveRightAfterAStop redrives an execution whose Map Run is still stopping its children.
func TestRedriveRightAfterAStop(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	begun := make(chan struct{}, 10)
	b := newBed(t, func(ctx context.Context, task *engine.Task) (string, error) {
		begun <- struct{}{}
		select {
		case <-hang:
			return task.Parameters, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	arn := b.start(t, fmt.Sprintf(tolerant, 0, "STANDARD"), `[1,2,3]`)
	<-begun
	<-begun
	if err := b.StopExecution(t.Context(), arn, history.Failure{}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Wait(t.Context(), arn); err != nil {
		t.Fatal(err)
	}
	close(hang)
	if _, err := b.RedriveExecution(t.Context(), arn, ""); err != nil {
		t.Fatal(err)
	}
	if x, err := b.Wait(t.Context(), arn); err != nil || x.Output != `[1,2,3]` {
		t.Errorf("%+v, %v", x, err)
	}
}

// TestRedrivenUntilItSucceeds makes tasks fail at random, redrives the execution until it succeeds, and expects the
// result of an undisturbed one.
func TestRedrivenUntilItSucceeds(t *testing.T) {
	t.Parallel()
	const input = `{"items":[1,2,3,4,5]}`
	undisturbed := newBed(t, (&failing{}).invoke).run(t, everything, input)
	rapid.Check(t, func(r *rapid.T) {
		tasks := &failing{times: map[string]int{}}
		for _, p := range []string{`{"task":"retried"}`, "1", "2", "3", "4", "5"} {
			tasks.times[p] = rapid.IntRange(0, 3).Draw(r, p)
		}
		b := newBed(t, tasks.invoke)
		arn := b.start(t, everything, input)
		for n := range int64(60) {
			x, err := b.Wait(t.Context(), arn)
			if err != nil || x.RedriveCount != n {
				r.Fatalf("%+v, %v", x, err)
			}
			if x.Status == history.Succeeded {
				if x.Output != undisturbed.Output {
					r.Fatalf("%s, want %s", x.Output, undisturbed.Output)
				}
				return
			}
			if _, err := b.RedriveExecution(t.Context(), arn, ""); err != nil {
				r.Fatal(err)
			}
		}
		r.Fatal("it does not end")
	})
}

// TestKilledWhileRedriven lets the process die after each commit of an execution that is redriven whenever it fails.
func TestKilledWhileRedriven(t *testing.T) {
	t.Parallel()
	const input = `{"items":[1,2,3]}`
	undisturbed := newBed(t, (&failing{}).invoke).run(t, everything, input)
	for commits := 2; commits <= 40; commits += 3 {
		tasks := &failing{times: map[string]int{`{"task":"retried"}`: 1, "1": 2, "2": 3, "3": 1}}
		kept := journal.NewMemory()
		const arn = "arn:aws:states:us-east-1:000000000000:execution:m:e"
		for lives := 0; ; lives++ {
			if lives > 300 {
				t.Fatalf("dying after %d commits, it does not end in %d lives", commits, lives)
			}
			if !redrivingLife(t, kept, commits, tasks.invoke, input) {
				continue
			}
			if x, err := kept.Execution(t.Context(), arn); err != nil || x.Status == history.Succeeded {
				if err != nil || x.Output != undisturbed.Output {
					t.Errorf("dying after %d commits: %+v, %v; want %s", commits, x, err, undisturbed.Output)
				}
				break
			}
		}
	}
}

// redrivingLife runs one life of the process, in which the execution is redriven if it has failed.
func redrivingLife(t *testing.T, kept *journal.Memory, commits int, task invoke, input string) (ended bool) {
	t.Helper()
	l := live(t, kept, commits, task)
	defer l.end()
	m, err := l.CreateStateMachine("m", everything, "arn:aws:iam::000000000000:role/r", false)
	if err != nil {
		t.Fatal(err)
	}
	arn, err := l.StartExecution(l.ctx, m.ARN, "e", input)
	if errors.Is(err, engine.ErrAlreadyExists) {
		arn = strings.Replace(m.ARN, ":stateMachine:", ":execution:", 1) + ":e"
		if _, err = l.RedriveExecution(l.ctx, arn, ""); err != nil {
			var refusal *engine.NotRedrivableError
			return errors.As(err, &refusal)
		}
	}
	if err == nil {
		_, err = l.Wait(l.ctx, arn)
	}
	return err == nil
}

// TestRedriveOverdue waits longer than the period in which an execution can be redriven.
func TestRedriveOverdue(t *testing.T) {
	t.Parallel()
	b := newBed(t, (&failing{times: map[string]int{"1": 1}}).invoke)
	arn := b.start(t, `{"StartAt":"T","States":{"T":{`+call+`,"End":true}}}`, `1`)
	if _, err := b.Wait(t.Context(), arn); err != nil {
		t.Fatal(err)
	}
	b.clock.Hold()
	defer b.clock.Release()
	if err := b.clock.Sleep(t.Context(), engine.RedrivePeriod+time.Second); err != nil {
		t.Fatal(err)
	}
	_, err := b.RedriveExecution(t.Context(), arn, "")
	notRedrivable(t, err, "Execution redrivable period exceeded")
}
