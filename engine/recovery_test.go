package engine_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// mortal is a journal whose process dies after a number of commits: it then stores nothing more and reports nothing.
type mortal struct {
	*journal.Memory
	mu   sync.Mutex
	left int
	died chan struct{}
}

func (m *mortal) Commit(r *journal.Record, done func(error)) {
	if m.lives() {
		m.Memory.Commit(r, done)
	}
}

func (m *mortal) PutMapRun(r *journal.MapRun, done func(error)) {
	m.mu.Lock()
	dead := m.left < 0
	m.mu.Unlock()
	if !dead {
		m.Memory.PutMapRun(r, done)
	}
}

func (m *mortal) lives() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left--; m.left == -1 {
		close(m.died)
	}
	return m.left >= 0
}

// lived is an engine on a journal that dies after some commits, which cancels its context.
type lived struct {
	*engine.Engine
	ctx context.Context
	end func()
}

func live(t *testing.T, kept *journal.Memory, commits int, task invoke) *lived {
	t.Helper()
	return liveBy(t, recoversFirst, kept, commits, task)
}

// recovering recovers the executions of an engine.
type recovering func(*testing.T, *engine.Engine)

func liveBy(t *testing.T, recovers recovering, kept *journal.Memory, commits int, task invoke) *lived {
	t.Helper()
	c := clock.Virtual(epoch)
	j := &mortal{Memory: kept, left: commits, died: make(chan struct{})}
	e, err := engine.New(engine.Config{
		Clock: c, Journal: j, Seed: 1, Workers: 2, Integrations: new(engine.Integrations).Handle("test", "call", task),
	})
	if err != nil {
		t.Fatal(err)
	}
	recovers(t, e)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		select {
		case <-j.died:
			cancel()
		case <-ctx.Done():
		}
	}()
	return &lived{e, ctx, func() {
		cancel()
		e.Close()
		c.Close()
	}}
}

// recoversFirst recovers all executions, and recoversBehind begins to do so.
func recoversFirst(t *testing.T, e *engine.Engine) {
	t.Helper()
	found, err := e.Recover(t.Context())
	if err != nil || len(found.Left) > 0 {
		t.Fatalf("%+v, %v", found, err)
	}
}

func recoversBehind(t *testing.T, e *engine.Engine) {
	t.Helper()
	if err := e.RecoverInBackground(func(_ int, found *engine.Recovered, err error) {
		if err != nil || len(found.Left) > 0 {
			t.Errorf("%+v, %v", found, err)
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// life runs an engine on a journal until it dies, after some commits, or the execution has ended.
func life(t *testing.T, kept *journal.Memory, commits int, task invoke, definition, input string) (ended bool) {
	t.Helper()
	return lifeBy(t, recoversFirst, kept, commits, task, definition, input)
}

func lifeBy(t *testing.T, recovers recovering, kept *journal.Memory, commits int, task invoke, definition,
	input string) (ended bool) {
	t.Helper()
	l := liveBy(t, recovers, kept, commits, task)
	defer l.end()
	m, err := l.Define(engine.Definition{Name: "m", Text: definition, RoleARN: "arn:aws:iam::000000000000:role/r"})
	if err != nil {
		t.Fatal(err)
	}
	arn, err := l.StartExecution(l.ctx, m.ARN, "e", input)
	if err == nil {
		_, err = l.Wait(l.ctx, arn)
	} else if errors.Is(err, engine.ErrAlreadyExists) {
		return true
	}
	return err == nil
}

// wellFormed checks the invariants of every history.
func wellFormed(t *testing.T, x *journal.Execution, events []history.Event) {
	t.Helper()
	for i := range events {
		e := &events[i]
		if e.ID != int64(i)+1 || e.Previous >= e.ID || i > 0 && e.Time < events[i-1].Time {
			t.Errorf("%s: event %d is %+v", x.ARN, i+1, e)
		}
		if e.Type.Terminal() != (i == len(events)-1) {
			t.Errorf("%s: event %d of %d is %s", x.ARN, i+1, len(events), e.Type)
		}
	}
	if int64(len(events)) != x.HistorySize || x.Stop.Before(x.Start) {
		t.Errorf("%s: %d events, stopped %s: %+v", x.ARN, len(events), x.Stop, x)
	}
}

const everything = `{"StartAt":"Retried","TimeoutSeconds":86400,"States":{
	"Retried":{` + call + `,"Parameters":{"task":"retried"},"ResultPath":"$.retried","Next":"Fan",
		"Retry":[{"ErrorEquals":["Boom"],"IntervalSeconds":300,"MaxAttempts":3,"BackoffRate":2}]},
	"Fan":{"Type":"Parallel","ResultPath":"$.fan","Next":"Distributed","Branches":[
		{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":60,"End":true}}},
		{"StartAt":"I","States":{"I":{"Type":"Map","ItemsPath":"$.items","MaxConcurrency":2,"End":true,
			"ItemProcessor":{"StartAt":"T","States":{"T":{` + call + `,"End":true}}}}}}]},
	"Distributed":{"Type":"Map","Label":"L","ItemsPath":"$.items","MaxConcurrency":2,"ResultPath":"$.distributed","End":true,
		"ItemBatcher":{"MaxItemsPerBatch":2},
		"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"Inner","States":{
			"Inner":{"Type":"Map","Label":"N","ItemsPath":"$.Items","MaxConcurrency":1,"End":true,
				"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"T2","States":{
					"P":{"Type":"Pass","End":true},"T2":{` + call + `,"Next":"P"}}}}}}}}}`

// TestKilledAfterEveryCommit lets the process die after each commit of an execution, again and again until the
// execution has ended, and expects the result of an undisturbed execution.
func TestKilledAfterEveryCommit(t *testing.T) {
	t.Parallel()
	killedAfterEveryCommit(t, recoversFirst)
}

// TestBackgroundRecoveryKilledAfterEveryCommit does the same if each process recovers in the background.
func TestBackgroundRecoveryKilledAfterEveryCommit(t *testing.T) {
	t.Parallel()
	killedAfterEveryCommit(t, recoversBehind)
}

func killedAfterEveryCommit(t *testing.T, recovers recovering) {
	t.Helper()
	const input = `{"items":[1,2,3,4,5]}`
	answer := invoke(func(_ context.Context, task *engine.Task) (string, error) {
		if strings.Contains(task.Parameters, "retried") && task.Attempt < 2 {
			return "", engine.NewFailure("Boom", "c")
		}
		return task.Parameters, nil
	})
	whole := journal.NewMemory()
	if !life(t, whole, 1<<30, answer, everything, input) {
		t.Fatal("it does not end even when nobody disturbs it")
	}
	const arn = "arn:aws:states:us-east-1:000000000000:execution:m:e"
	want, err := whole.Execution(t.Context(), arn)
	if err != nil || want.Status != history.Succeeded {
		t.Fatalf("%+v, %v", want, err)
	}
	for commits := 1; commits <= 60; commits++ {
		kept := journal.NewMemory()
		lives := 1
		for !lifeBy(t, recovers, kept, commits, answer, everything, input) {
			if lives++; lives > 200 {
				t.Fatalf("dying after %d commits, it does not end in %d lives", commits, lives)
			}
		}
		got, err := kept.Execution(t.Context(), arn)
		if err != nil || got.Output != want.Output || got.HistorySize != want.HistorySize ||
			got.Stop.Sub(got.Start) < want.Stop.Sub(want.Start) {
			t.Errorf("dying after %d commits, in %d lives: %+v, %v; want %+v", commits, lives, got, err, want)
		}
		children := map[string]int64{}
		for x, err := range kept.Executions(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
			events, err := kept.History(t.Context(), x.ARN)
			if err != nil {
				t.Fatalf("%s is %s: %v", x.ARN, x.Status, err)
			}
			wellFormed(t, x, events)
			children[x.MachineARN[strings.LastIndexByte(x.MachineARN, ':')+1:]] += max(x.Items, 1)
		}
		if want := map[string]int64{"m": 1, "m/L": 5, "m/L/N": 5}; !reflect.DeepEqual(children, want) {
			t.Errorf("dying after %d commits: items of executions %v, want %v", commits, children, want)
		}
	}
}

// restart returns an engine on a journal that another engine has used.
func restart(t *testing.T, kept journal.Journal, c *clock.Clock, task invoke) (*engine.Engine, *engine.Recovered) {
	t.Helper()
	e, err := engine.New(engine.Config{Clock: c, Journal: kept, Seed: 1,
		Integrations: new(engine.Integrations).Handle("test", "call", task)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	found, err := e.Recover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return e, found
}

func virtual(t *testing.T, at time.Time) *clock.Clock {
	t.Helper()
	c := clock.Virtual(at)
	t.Cleanup(c.Close)
	return c
}

func begin(t *testing.T, e *engine.Engine, definition, input string) string {
	t.Helper()
	m, err := e.Define(engine.Definition{Name: "m", Text: definition})
	if err != nil {
		t.Fatal(err)
	}
	arn, err := e.StartExecution(t.Context(), m.ARN, "e", input)
	if err != nil {
		t.Fatal(err)
	}
	return arn
}

// TestTimersRunForTheRestOfTheirTime restarts an engine in the middle of a wait, with clocks that are right, slow and
// fast.
func TestTimersRunForTheRestOfTheirTime(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt":"A","States":{"A":{"Type":"Wait","Seconds":100,"Next":"T"},"T":{` + call +
		`,"Next":"B"},"B":{"Type":"Wait","Seconds":100,"End":true}}}`
	for name, c := range map[string]struct {
		restarted time.Time
		took      time.Duration
	}{
		"at once":                  {epoch.Add(100 * time.Second), 200 * time.Second},
		"after half of the wait":   {epoch.Add(150 * time.Second), 200 * time.Second},
		"after the wait":           {epoch.Add(500 * time.Second), 500 * time.Second},
		"on a clock that was late": {epoch.Add(-time.Hour), 200 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := journal.NewMemory()
			first := virtual(t, epoch)
			e, _ := restart(t, kept, first, func(context.Context, *engine.Task) (string, error) {
				first.Hold() // so that B is entered but does not end
				return `{}`, nil
			})
			arn := begin(t, e, definition, `{}`)
			for entered := 0; entered < 3; runtime.Gosched() {
				h, err := e.History(t.Context(), arn)
				if err != nil {
					t.Fatal(err)
				}
				entered = 0
				for i := range h {
					if h[i].Type.Entered() {
						entered++
					}
				}
			}
			e.Close()
			e, found := restart(t, kept, virtual(t, c.restarted), nil)
			if len(found.Executions) != 1 {
				t.Fatalf("%+v", found)
			}
			x, err := e.Wait(t.Context(), arn)
			if err != nil || x.Status != history.Succeeded || x.Stop.Sub(x.Start) != c.took {
				t.Errorf("%+v, %v took %s, want %s", x, err, x.Stop.Sub(x.Start), c.took)
			}
		})
	}
}

// TestAnExecutionThatReplaysDifferentlyIsLeftAlone changes the stored data of one of two executions.
func TestAnExecutionThatReplaysDifferentlyIsLeftAlone(t *testing.T) {
	t.Parallel()
	kept := journal.NewMemory()
	var invoked atomic.Int64
	hang := invoke(func(ctx context.Context, _ *engine.Task) (string, error) {
		invoked.Add(1)
		<-ctx.Done()
		return "", ctx.Err()
	})
	e, _ := restart(t, kept, virtual(t, epoch), hang)
	const definition = `{"StartAt":"T","States":{"T":{` + call + `,"End":true}}}`
	arn := begin(t, e, definition, `{"n":1}`)
	if _, err := e.StartExecution(t.Context(), strings.Replace(strings.TrimSuffix(arn, ":e"), ":execution:",
		":stateMachine:", 1), "other", `{}`); err != nil {
		t.Fatal(err)
	}
	e.Close()
	x, err := kept.Execution(t.Context(), arn)
	if err != nil {
		t.Fatal(err)
	}
	x.Input = `{"n":2}`
	kept.Commit(&journal.Record{Execution: x, Begin: true, Step: 1}, func(error) {})

	e, found := restart(t, kept, virtual(t, epoch), func(context.Context, *engine.Task) (string, error) {
		return `"ok"`,
			nil
	})
	var diverged *engine.DivergedError
	if len(found.Left) != 1 || found.Left[0].ARN != arn || !errors.As(found.Left[0].Err, &diverged) ||
		diverged.Step != 0 {
		t.Errorf("left alone: %+v", found.Left)
	}
	if len(found.Executions) != 1 {
		t.Fatalf("back at work: %v", found.Executions)
	}
	if x, err := e.Wait(t.Context(), found.Executions[0].ARN); err != nil || x.Output != `"ok"` {
		t.Errorf("the other: %+v, %v", x, err)
	}
	if x, err := e.DescribeExecution(t.Context(), arn); err != nil || x.Status != history.Running {
		t.Errorf("the one left alone: %+v, %v", x, err)
	}
	if _, err := e.StartExecution(t.Context(), x.MachineARN, "e", `{"n":1}`); err == nil {
		t.Error("another execution of the same name was started")
	}
}

// TestClosingAnEngineLeavesExecutionsToTheNext closes an engine while a task and a Map Run are running: neither may
// be recorded as failed.
func TestClosingAnEngineLeavesExecutionsToTheNext(t *testing.T) {
	t.Parallel()
	kept := journal.NewMemory()
	started := make(chan struct{}, 10)
	e, _ := restart(t, kept, virtual(t, epoch), func(ctx context.Context, _ *engine.Task) (string, error) {
		started <- struct{}{}
		<-ctx.Done()
		return "", ctx.Err()
	})
	arn := begin(t, e, fmt.Sprintf(distributed, 2, ""), numbers(5))
	<-started
	<-started
	e.Close()
	e, found := restart(t, kept, virtual(t, epoch), func(_ context.Context, task *engine.Task) (string, error) {
		return task.Parameters, nil
	})
	if len(found.Executions) != 1 || found.Children != 2 {
		t.Errorf("%+v", found)
	}
	if x, err := e.Wait(t.Context(), arn); err != nil || x.Output != "[0,1,2,3,4]" {
		t.Errorf("%+v, %v", x, err)
	}
}
