package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
	"stepback/jsonvalue"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

type invoke func(ctx context.Context, t *engine.Task) (string, error)

func (f invoke) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	out, err := f(ctx, t)
	if err != nil {
		return nil, err
	}
	return jsonvalue.TextDocument(out), nil
}

type bed struct {
	*engine.Engine
	clock   *clock.Clock
	journal *journal.Memory
}

// newBed creates an engine in virtual time whose tasks are all run by one function.
func newBed(t *testing.T, f invoke) *bed {
	t.Helper()
	b := &bed{clock: clock.Virtual(epoch), journal: journal.NewMemory()}
	e, err := engine.New(engine.Config{
		Clock: b.clock, Journal: b.journal, Seed: 1, Integrations: new(engine.Integrations).Handle("test", "call", f),
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Engine = e
	t.Cleanup(func() {
		e.Close()
		b.clock.Close()
	})
	return b
}

func (b *bed) start(t *testing.T, definition, input string) string {
	t.Helper()
	m, err := b.Define(engine.Definition{Name: "m", Text: definition, RoleARN: "arn:aws:iam::000000000000:role/r"})
	if err != nil {
		t.Fatal(err)
	}
	arn, err := b.StartExecution(context.Background(), m.ARN, "e", input)
	if err != nil {
		t.Fatal(err)
	}
	return arn
}

func (b *bed) run(t *testing.T, definition, input string) *journal.Execution {
	t.Helper()
	x, err := b.Wait(context.Background(), b.start(t, definition, input))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

const call = `"Type":"Task","Resource":"arn:aws:states:::test:call"`

func TestLongBackOffsTakeNoTime(t *testing.T) {
	t.Parallel()
	var attempts atomic.Int64
	b := newBed(t, func(_ context.Context, task *engine.Task) (string, error) {
		if attempts.Add(1); task.Attempt < 3 {
			return "", engine.NewFailure("Boom", "c")
		}
		return `{"done":true}`, nil
	})
	x := b.run(t, `{"StartAt":"T","States":{"T":{`+call+
		`,"Retry":[{"ErrorEquals":["Boom"],"IntervalSeconds":300,"MaxAttempts":3,"BackoffRate":2}],"End":true}}}`, `{}`)
	if x.Status != history.Succeeded || x.Output != `{"done":true}` || attempts.Load() != 4 {
		t.Errorf("%+v after %d attempts", x, attempts.Load())
	}
	if took := x.Stop.Sub(x.Start); took != 35*time.Minute {
		t.Errorf("the execution took %v of its own time, want 35m", took)
	}
}

func TestHistoryOfAnEndedExecution(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	x := b.run(t, `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`, `{"a":1}`)
	events, err := b.History(context.Background(), x.ARN)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, e := range events {
		types = append(types, e.Type.String())
	}
	if want := []string{"ExecutionStarted", "PassStateEntered", "PassStateExited",
		"ExecutionSucceeded"}; !slices.Equal(types, want) {
		t.Errorf("%v", types)
	}
}

func TestAPanicFailsOnlyItsTask(t *testing.T) {
	t.Parallel()
	b := newBed(t, func(context.Context, *engine.Task) (string, error) { panic("ouch") })
	x := b.run(t, `{"StartAt":"T","States":{"T":{`+call+`,"End":true}}}`, `{}`)
	if x.Status != history.Failed || x.Failure.Name != "States.TaskFailed" || !strings.Contains(x.Failure.Cause,
		"panicked: ouch") {
		t.Errorf("%+v", x)
	}
	m, err := b.Define(engine.Definition{
		Name: "other", Text: `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	arn, err := b.StartExecution(context.Background(), m.ARN, "e", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	if x, err = b.Wait(context.Background(), arn); err != nil || x.Status != history.Succeeded {
		t.Errorf("the next execution: %+v, %v", x, err)
	}
}

func TestAHangingTaskTimesOutAndIsCancelled(t *testing.T) {
	t.Parallel()
	cancelled := make(chan struct{})
	var b *bed
	b = newBed(t, func(ctx context.Context, _ *engine.Task) (string, error) {
		defer close(cancelled)
		return "", b.clock.Park(ctx)
	})
	x := b.run(t, `{"StartAt":"T","States":{"T":{`+call+`,"TimeoutSeconds":30,"End":true}}}`, `{}`)
	<-cancelled
	if x.Failure.Name != "States.Timeout" || x.Stop.Sub(x.Start) != 30*time.Second {
		t.Errorf("%+v", x)
	}
}

func TestUnknownIntegrationsAreNamed(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	x := b.run(t, `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::dynamodb:getItem","End":true}}}`, `{}`)
	if x.Failure.Name != "States.Runtime" || !strings.Contains(x.Failure.Cause, "arn:aws:states:::dynamodb:getItem") {
		t.Errorf("%+v", x.Failure)
	}
}

func TestStartingTheSameNameAgain(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	m, err := b.Define(engine.Definition{
		Name: "m", Text: `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":10,"End":true}}}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.clock.Hold()
	first, err := b.StartExecution(context.Background(), m.ARN, "n", `{"a":1}`)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := b.StartExecution(context.Background(), m.ARN, "n", `{"a":1}`); err != nil || again != first {
		t.Errorf("same input while running: %s, %v", again, err)
	}
	if _, err := b.StartExecution(context.Background(), m.ARN, "n", `{"a":2}`); !errors.Is(err,
		engine.ErrAlreadyExists) {
		t.Errorf("other input: %v", err)
	}
	b.clock.Release()
	if _, err := b.Wait(context.Background(), first); err != nil {
		t.Fatal(err)
	}
	if _, err := b.StartExecution(context.Background(), m.ARN, "n", `{"a":1}`); !errors.Is(err,
		engine.ErrAlreadyExists) {
		t.Errorf("after the end: %v", err)
	}
}

func TestBadStarts(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	if _, err := b.StartExecution(context.Background(), "arn:none", "n", `{}`); !errors.Is(err, engine.ErrNoMachine) {
		t.Error(err)
	}
	m, err := b.Define(engine.Definition{Name: "m", Text: `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`})
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range []string{`{`, `"` + strings.Repeat("x", interpreter.MaxPayload) + `"`} {
		if _, err := b.StartExecution(context.Background(), m.ARN, "n", input); !errors.Is(err, engine.ErrInput) {
			t.Errorf("%.20s: %v", input, err)
		}
	}
	var refused *engine.DefinitionError
	if _, err := b.Define(engine.Definition{
		Name: "m", Text: `{"StartAt":"X","States":{"P":{"Type":"Pass","End":true}}}`,
	}); !errors.As(err, &refused) {
		t.Error(err)
	}
	if _, err := b.History(context.Background(), "arn:none"); !errors.Is(err, engine.ErrNoExecution) {
		t.Error(err)
	}
}

func TestStopExecution(t *testing.T) {
	t.Parallel()
	var b *bed
	started := make(chan struct{})
	b = newBed(t, func(ctx context.Context, _ *engine.Task) (string, error) {
		close(started)
		return "", b.clock.Park(ctx)
	})
	arn := b.start(t, `{"StartAt":"T","States":{"T":{`+call+`,"End":true}}}`, `{}`)
	<-started
	if err := b.StopExecution(context.Background(), arn, history.NewFailure("Why", "because")); err != nil {
		t.Fatal(err)
	}
	x, err := b.Wait(context.Background(), arn)
	if err != nil || x.Status != history.Aborted || x.Failure.Name != "Why" {
		t.Errorf("%+v, %v", x, err)
	}
}

// refusing is a journal that cannot write.
type refusing struct{ *journal.Memory }

func (refusing) Commit(_ *journal.Record, done func(error)) { done(errors.New("disk full")) }

func TestNothingHappensThatTheJournalRefused(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(epoch)
	defer c.Close()
	var invoked atomic.Int64
	e, err := engine.New(engine.Config{Clock: c, Journal: refusing{journal.NewMemory()},
		Integrations: new(engine.Integrations).Handle("test", "call",
			invoke(func(context.Context, *engine.Task) (string, error) {
				invoked.Add(1)
				return "1",
					nil
			}))})
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.Define(engine.Definition{Name: "m", Text: `{"StartAt":"T","States":{"T":{` + call + `,"End":true}}}`})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.StartExecution(context.Background(), m.ARN, "e", `{}`); err == nil || !strings.Contains(err.Error(),
		"disk full") {
		t.Errorf("StartExecution: %v", err)
	}
	e.Close()
	if invoked.Load() != 0 {
		t.Error("a task was invoked although the journal refused the step")
	}
}

const distributed = `{"StartAt":"M","States":{"M":{"Type":"Map","Label":"L","MaxConcurrency":%d,%s"End":true,
	"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"T","States":{"T":{` + call + `,"End":true}}}}}}`

func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ",%d", i)
	}
	return "[" + b.String()[1:] + "]"
}

func TestDistributedMap(t *testing.T) {
	t.Parallel()
	var running, most atomic.Int64
	b := newBed(t, func(_ context.Context, task *engine.Task) (string, error) {
		n := running.Add(1)
		defer running.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		return `{"was":` + task.Parameters + `}`, nil
	})
	x := b.run(t, fmt.Sprintf(distributed, 4, ""), numbers(50))
	if x.Status != history.Succeeded {
		t.Fatalf("%+v", x)
	}
	out, err := jsonvalue.Parse(x.Output)
	if err != nil || out.Len() != 50 || out.At(0).JSON() != `{"was":0}` || out.At(49).JSON() != `{"was":49}` {
		t.Errorf("output %s", x.Output)
	}
	if most.Load() > 4 {
		t.Errorf("%d children at once, want at most 4", most.Load())
	}
	children := 0
	for child, err := range b.journal.Executions(context.Background(),
		"arn:aws:states:us-east-1:000000000000:execution:m/L:") {
		if err != nil || child.Status != history.Succeeded || child.Items != 1 ||
			!strings.HasPrefix(child.MapRunARN, "arn:aws:states:us-east-1:000000000000:mapRun:m/L:") {
			t.Fatalf("child %+v, %v", child, err)
		}
		if events, err := b.History(context.Background(), child.ARN); err != nil || len(events) != 7 {
			t.Fatalf("a child's history has %d events, %v", len(events), err)
		}
		children++
	}
	if children != 50 {
		t.Errorf("%d children", children)
	}
}

func TestToleratedFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields string
		want   history.Status
	}{
		"none":                     {``, history.Failed},
		"count reached":            {`"ToleratedFailureCount":2,`, history.Succeeded},
		"count exceeded":           {`"ToleratedFailureCount":1,`, history.Failed},
		"percentage reached":       {`"ToleratedFailurePercentage":20,`, history.Succeeded},
		"percentage exceeded":      {`"ToleratedFailurePercentage":19.9,`, history.Failed},
		"either is enough to fail": {`"ToleratedFailureCount":1,"ToleratedFailurePercentage":100,`, history.Failed},
		"all":                      {`"ToleratedFailurePercentage":100,`, history.Succeeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, func(_ context.Context, task *engine.Task) (string, error) {
				if task.Parameters == "3" || task.Parameters == "7" {
					return "", engine.NewFailure("Bad", "c")
				}
				return task.Parameters, nil
			})
			x := b.run(t, fmt.Sprintf(distributed, 1, c.fields), numbers(10))
			if x.Status != c.want {
				t.Fatalf("%s: %+v", x.Status, x.Failure)
			}
			if c.want == history.Failed && x.Failure != history.NewFailure("States.ExceedToleratedFailureThreshold",
				"The specified tolerated failure threshold was exceeded") {
				t.Errorf("%+v", x.Failure)
			}
		})
	}
}

func TestStoppingAParentStopsItsChildren(t *testing.T) {
	t.Parallel()
	var b *bed
	started := make(chan struct{}, 3)
	b = newBed(t, func(ctx context.Context, _ *engine.Task) (string, error) {
		started <- struct{}{}
		return "", b.clock.Park(ctx)
	})
	arn := b.start(t, fmt.Sprintf(distributed, 3, ""), numbers(10))
	for range 3 {
		<-started
	}
	if err := b.StopAll(context.Background(), history.Failure{}); err != nil {
		t.Fatal(err)
	}
	x, err := b.Wait(context.Background(), arn)
	if err != nil || x.Status != history.Aborted {
		t.Errorf("%+v, %v", x, err)
	}
	for child, err := range b.journal.Executions(context.Background(),
		"arn:aws:states:us-east-1:000000000000:execution:m/L:") {
		if err != nil || child.Status != history.Aborted {
			t.Errorf("child %+v, %v", child, err)
		}
	}
}

// A Map Run starts further child executions while those before them are stopped, until its own execution ends.
func TestStoppingAllStopsChildrenStartedMeanwhile(t *testing.T) {
	t.Parallel()
	for range 100 {
		var b *bed
		started := make(chan struct{}, 100)
		b = newBed(t, func(ctx context.Context, _ *engine.Task) (string, error) {
			started <- struct{}{}
			return "", b.clock.Park(ctx)
		})
		for range 3 {
			b.start(t, fmt.Sprintf(distributed, 2, ""), numbers(10))
		}
		<-started
		if err := b.StopAll(context.Background(), history.Failure{}); err != nil {
			t.Fatal(err)
		}
		for x, err := range b.journal.Executions(context.Background(), "") {
			if err != nil || x.Status != history.Aborted {
				t.Fatalf("%+v, %v", x, err)
			}
		}
		for m, err := range b.journal.MapRuns(context.Background(), "") {
			if err != nil || m.Status != history.Aborted {
				t.Fatalf("%+v, %v", m, err)
			}
		}
	}
}

func TestClosingWithWorkInFlight(t *testing.T) {
	t.Parallel()
	var b *bed
	started := make(chan struct{}, 3)
	b = newBed(t, func(ctx context.Context, _ *engine.Task) (string, error) {
		started <- struct{}{}
		return "", b.clock.Park(ctx)
	})
	b.start(t, fmt.Sprintf(distributed, 3, ""), numbers(10))
	<-started
	b.Close()
	if _, err := b.StartExecution(context.Background(), "arn:aws:states:us-east-1:000000000000:stateMachine:m", "late",
		`{}`); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestConcurrentStartsOfOneName(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	m, err := b.Define(engine.Definition{
		Name: "m", Text: `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":10,"End":true}}}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.clock.Hold()
	defer b.clock.Release()
	arns := make(chan string, 8)
	for range cap(arns) {
		go func() {
			arn, err := b.StartExecution(context.Background(), m.ARN, "n", `{}`)
			if err != nil {
				t.Error(err)
			}
			arns <- arn
		}()
	}
	first := <-arns
	for range cap(arns) - 1 {
		if arn := <-arns; arn != first {
			t.Errorf("%s beside %s", arn, first)
		}
	}
}
