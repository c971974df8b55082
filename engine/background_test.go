package engine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/journaltest"
)

// ending receives what RecoverInBackground reports at its end.
type ending struct {
	resumed int
	found   *engine.Recovered
	err     error
}

// recoverBehind begins a recovery in the background.
func recoverBehind(t *testing.T, e *engine.Engine) <-chan ending {
	t.Helper()
	ends := make(chan ending, 1)
	if err := e.RecoverInBackground(func(resumed int, found *engine.Recovered, err error) {
		ends <- ending{resumed, found, err}
	}); err != nil {
		t.Fatal(err)
	}
	return ends
}

const waitState = `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":100,"Next":"P"},"P":{"Type":"Pass","End":true}}}`

// unfinishedOfAllKinds leaves one execution of each kind behind, named by its kind, and returns the token of the one
// that waits for a callback. The Map Run has two child executions.
func unfinishedOfAllKinds(t *testing.T, kept journal.Journal) (token string) {
	t.Helper()
	c := virtual(t, epoch)
	c.Hold()
	tokens := make(chan string, 1)
	hanging := make(chan struct{}, 10)
	e, err := engine.New(engine.Config{Clock: c, Journal: kept, Seed: 1, Integrations: new(engine.Integrations).
		Handle("test", "call", invoke(func(ctx context.Context, task *engine.Task) (string, error) {
			v, err := task.Value()
			if token, ok := v.Get("token"); ok {
				tokens <- token.Text()
				return `{}`, err
			}
			if strings.Contains(task.Parameters, "throttled") {
				return "", engine.NewFailure("Throttled", "")
			}
			hanging <- struct{}{}
			<-ctx.Done()
			return "", ctx.Err()
		}))})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	start := func(kind, definition, input string) {
		m, err := e.Define(engine.Definition{Name: kind, Text: definition, RoleARN: "arn:aws:iam::000000000000:role/r"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.StartExecution(t.Context(), m.ARN, "e", input); err != nil {
			t.Fatal(err)
		}
	}
	start("map", fmt.Sprintf(distributed, 2, ""), `[0,1]`)
	start("retry", retries, `"throttled"`)
	start("task", `{"StartAt":"T","States":{"T":{`+call+`,"End":true}}}`, `{}`)
	start("token", `{"StartAt":"T","States":{"T":{`+callback+`,"End":true}}}`, `{}`)
	start("wait", waitState, `{"n":1}`)
	for range 3 {
		<-hanging
	}
	eventually(t, e, engine.Query{Retrying: true}, 1)
	return <-tokens
}

func execution(kind string) string {
	return "arn:aws:states:us-east-1:000000000000:execution:" + kind + ":e"
}

// answering returns an engine on a journal whose tasks succeed with their parameters, once each.
func answering(t *testing.T, j journal.Journal, c *clock.Clock, set func(*engine.Config)) *engine.Engine {
	t.Helper()
	cfg := engine.Config{Clock: c, Journal: j, Seed: 2, Integrations: new(engine.Integrations).
		Handle("test", "call", invoke(func(_ context.Context, task *engine.Task) (string, error) {
			return task.Parameters, nil
		}))}
	if set != nil {
		set(&cfg)
	}
	e, err := engine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// TestBackgroundRecoveryAnswersRequests sends every kind of request about executions that have not been recovered.
func TestBackgroundRecoveryAnswersRequests(t *testing.T) {
	t.Parallel()
	kept := journal.NewMemory()
	token := unfinishedOfAllKinds(t, kept)
	j, c := journaltest.NewGated(kept, ":execution:"), virtual(t, epoch)
	e := answering(t, j, c, nil)
	ends := recoverBehind(t, e)
	ctx := t.Context()

	if !e.Recovering() || e.Open() != 0 {
		t.Errorf("recovering %t, %d open", e.Recovering(), e.Open())
	}
	for _, kind := range []string{"map", "retry", "task", "token", "wait"} {
		if x, err := e.DescribeExecution(ctx, execution(kind)); err != nil || x.Status != history.Running {
			t.Errorf("%s: %+v, %v", kind, x, err)
		}
	}
	page, _, err := e.List(ctx, engine.Query{Statuses: []engine.Status{history.Running}}, 0, "")
	if err != nil || len(page) != 5 {
		t.Errorf("%d listed, %v", len(page), err)
	}
	if got := types(t, e, execution("wait")); got != "ExecutionStarted WaitStateEntered" {
		t.Errorf("history: %s", got)
	}
	m, err := e.Define(engine.Definition{Name: "wait", Text: waitState})
	if err != nil {
		t.Fatal(err)
	}
	if arn, err := e.StartExecution(ctx, m.ARN, "e", `{"n":1}`); err != nil || arn != execution("wait") {
		t.Errorf("the same start again: %s, %v", arn, err)
	}
	if _, err := e.StartExecution(ctx, m.ARN, "e", `{"n":2}`); !errors.Is(err, engine.ErrAlreadyExists) {
		t.Errorf("the same name with another input: %v", err)
	}
	if err := e.SendTaskSuccess(ctx, token, `"ok"`); err != nil {
		t.Errorf("the token: %v", err)
	}
	if err := e.SendTaskSuccess(ctx, token, `"ok"`); !errors.Is(err, engine.ErrTaskTimedOut) {
		t.Errorf("the token, again: %v", err)
	}
	if x, err := e.Wait(ctx, execution("token")); err != nil || x.Output != `"ok"` {
		t.Errorf("the callback: %+v, %v", x, err)
	}
	if pending, err := e.Pending(ctx, execution("retry")); err != nil || len(pending) != 1 {
		t.Errorf("the retry: %+v, %v", pending, err)
	}
	if err := e.RetryNow(ctx, execution("retry"), waitingRetries(t, e, execution("retry"))[0].ID); err != nil {
		t.Errorf("the retry: %v", err)
	}
	if x, err := e.Wait(ctx, execution("retry")); err != nil || x.Status != history.Succeeded {
		t.Errorf("the retry: %+v, %v", x, err)
	}
	if err := e.StopExecution(ctx, execution("wait"), history.Failure{}); err != nil {
		t.Error(err)
	}
	if x, err := e.Wait(ctx, execution("wait")); err != nil || x.Status != history.Aborted {
		t.Errorf("stopped: %+v, %v", x, err)
	}
	if _, err := e.StartExecution(ctx, m.ARN, "e", `{"n":1}`); !errors.Is(err, engine.ErrAlreadyExists) {
		t.Errorf("the name of an execution that has ended: %v", err)
	}
	if _, err := e.StartExecution(ctx, m.ARN, "new", `{"n":1}`); err != nil {
		t.Errorf("a new one: %v", err)
	}
	if _, err := e.History(ctx, execution("none")); !errors.Is(err, engine.ErrNoExecution) {
		t.Errorf("one that does not exist: %v", err)
	}

	// These wait for the end of the recovery.
	impatient, cancel := context.WithCancel(ctx)
	cancel()
	for name, err := range map[string]error{
		"History of a parent": second(e.History(impatient, execution("map"))),
		"Running":             second(e.Running(impatient, m.ARN)),
		"RedriveExecution":    second(e.RedriveExecution(impatient, execution("wait"), "")),
		"StopAll":             e.StopAll(impatient, history.Failure{}),
		"AwaitRecovery":       e.AwaitRecovery(impatient),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	runs, err := collect(kept.MapRuns(ctx, ""))
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	if _, err := e.DescribeMapRun(impatient, runs[0].ARN); !errors.Is(err, context.Canceled) {
		t.Errorf("DescribeMapRun: %v", err)
	}
	if _, _, err := e.List(impatient, engine.Query{Retrying: true}, 0, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("List of retries: %v", err)
	}

	j.Open()
	end := <-ends
	if end.err != nil || end.resumed != 5 || len(end.found.Left) > 0 || end.found.Children != 2 || e.Recovering() {
		t.Errorf("%+v, %+v", end, end.found)
	}
	for kind, output := range map[string]string{"map": "[0,1]", "task": "{}"} {
		if x, err := e.Wait(ctx, execution(kind)); err != nil || x.Output != output {
			t.Errorf("%s: %+v, %v", kind, x, err)
		}
	}
	if x, err := e.Wait(ctx, m.ExecutionARN("new")); err != nil || x.Status != history.Succeeded {
		t.Errorf("%+v, %v", x, err)
	}
	if d, err := e.DescribeMapRun(ctx, runs[0].ARN); err != nil || d.Status != history.Succeeded ||
		d.Executions.Succeeded != 2 {
		t.Errorf("%+v, %v", d, err)
	}
}

func second[T any](_ T, err error) error { return err }

func collect[T any](all iter.Seq2[T, error]) (found []T, err error) {
	for x, err := range all {
		if err != nil {
			return nil, err
		}
		found = append(found, x)
	}
	return found, nil
}

// TestBackgroundRecoveryStopsVirtualTime waits for an execution that is not recovered: it ends at its time, and not
// earlier or later.
func TestBackgroundRecoveryStopsVirtualTime(t *testing.T) {
	t.Parallel()
	kept := journal.NewMemory()
	unfinishedOfAllKinds(t, kept)
	j, c := journaltest.NewGated(kept, ":execution:"), virtual(t, epoch.Add(30*time.Second))
	rang := make(chan time.Time, 1)
	e := answering(t, j, c, nil)
	ends := recoverBehind(t, e)
	c.Schedule(epoch.Add(40*time.Second), clock.AlarmFunc(func() { rang <- c.Now() }))
	if n := c.Now(); !n.Equal(epoch.Add(30 * time.Second)) {
		t.Errorf("it is %s", n)
	}
	j.Open()
	<-ends
	x, err := e.Wait(t.Context(), execution("wait"))
	if err != nil || x.Status != history.Succeeded || !x.Stop.Equal(epoch.Add(100*time.Second)) {
		t.Errorf("%+v, %v", x, err)
	}
	if at := <-rang; !at.Equal(epoch.Add(40 * time.Second)) {
		t.Errorf("the alarm rang at %s", at)
	}
}

// manyWaiting leaves n executions behind that wait for a hundred seconds, named 00000 to n.
func manyWaiting(t *testing.T, kept journal.Journal, n int) {
	t.Helper()
	c := virtual(t, epoch)
	c.Hold()
	e := answering(t, kept, c, nil)
	defer e.Close()
	m, err := e.Define(engine.Definition{Name: "wait", Text: waitState})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if _, err := e.StartExecution(t.Context(), m.ARN, fmt.Sprintf("%05d", i), `{"n":1}`); err != nil {
			t.Fatal(err)
		}
	}
}

func waitingOne(i int) string {
	return fmt.Sprintf("arn:aws:states:us-east-1:000000000000:execution:wait:%05d", i)
}

// TestBackgroundRecoveryRacesWithRequests recovers some batches of executions while requests ask about them in another
// order. Each of them is tracked once as recovered, and ends once, at its time.
func TestBackgroundRecoveryRacesWithRequests(t *testing.T) {
	t.Parallel()
	const n = 1500
	kept := journal.NewMemory()
	manyWaiting(t, kept, n)
	c := virtual(t, epoch)
	c.Hold()
	var mu sync.Mutex
	recovered, ended := map[string]int{}, map[string]int{}
	e := answering(t, kept, c, func(cfg *engine.Config) {
		cfg.Track = func(x *journal.Execution, past []history.Event, again bool) func([]history.Event) {
			mu.Lock()
			defer mu.Unlock()
			if again {
				recovered[x.ARN]++
			}
			if len(past) != 2 {
				t.Errorf("%s has %d events", x.ARN, len(past))
			}
			return nil
		}
		cfg.Observe = func(x *journal.Execution, _ []history.Event) {
			mu.Lock()
			defer mu.Unlock()
			ended[x.ARN]++
		}
	})
	ends := recoverBehind(t, e)
	var asking sync.WaitGroup
	for who := range 4 {
		asking.Go(func() {
			for i := range n / 10 {
				at := (i*7919 + who*31) % n
				if h, err := e.History(t.Context(), waitingOne(at)); err != nil || len(h) != 2 {
					t.Errorf("%d: %d events, %v", at, len(h), err)
				}
			}
		})
	}
	asking.Wait()
	if end := <-ends; end.err != nil || end.resumed != n {
		t.Errorf("%+v", end)
	}
	if e.Open() != n {
		t.Errorf("%d are open", e.Open())
	}
	c.Release()
	for i := range n {
		x, err := e.Wait(t.Context(), waitingOne(i))
		if err != nil || x.Status != history.Succeeded || !x.Stop.Equal(epoch.Add(100*time.Second)) {
			t.Fatalf("%d: %+v, %v", i, x, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for i := range n {
		if arn := waitingOne(i); recovered[arn] != 1 || ended[arn] != 1 {
			t.Errorf("%d: tracked %d times, ended %d times", i, recovered[arn], ended[arn])
		}
	}
}

// TestBackgroundRecoveryLeavesWaitingExecutionsInTheJournal looks which executions are in memory after a recovery.
func TestBackgroundRecoveryLeavesWaitingExecutionsInTheJournal(t *testing.T) {
	t.Parallel()
	kept := journal.NewMemory()
	manyWaiting(t, kept, 3)
	c := virtual(t, epoch.Add(50*time.Second))
	c.Hold()
	e := answering(t, kept, c, nil)
	<-recoverBehind(t, e)
	if got := engine.InMemory(e); len(got) != 0 {
		t.Errorf("in memory: %v", got)
	}
	running, err := e.Running(t.Context(), "arn:aws:states:us-east-1:000000000000:stateMachine:wait")
	if want := []string{waitingOne(0), waitingOne(1), waitingOne(2)}; err != nil || !slices.Equal(running, want) {
		t.Errorf("running: %v, %v", running, err)
	}
	if err := e.StopExecution(t.Context(), waitingOne(1), history.Failure{}); err != nil {
		t.Error(err)
	}
	if x, err := e.Wait(t.Context(), waitingOne(1)); err != nil || x.Status != history.Aborted {
		t.Errorf("stopped: %+v, %v", x, err)
	}
	if got := engine.InMemory(e); len(got) != 0 || e.Open() != 2 {
		t.Errorf("in memory: %v; %d open", got, e.Open())
	}
	e.Close()
	// another engine on the same clock: the timers of the first one are gone
	e = answering(t, kept, c, nil)
	<-recoverBehind(t, e)
	if err := e.StopAll(t.Context(), history.Failure{}); err != nil {
		t.Error(err)
	}
	for i := range 3 {
		if x, err := e.DescribeExecution(t.Context(), waitingOne(i)); err != nil || x.Status != history.Aborted {
			t.Errorf("%d: %+v, %v", i, x, err)
		}
	}
	rang := make(chan time.Time, 1)
	c.Schedule(epoch.Add(time.Hour), clock.AlarmFunc(func() { rang <- c.Now() }))
	c.Release()
	if at := <-rang; !at.Equal(epoch.Add(time.Hour)) {
		t.Errorf("it is %s", at)
	}
}

// TestBackgroundRecoveryReportsDamage lets the journal fail in the middle, and leaves one execution that replays
// differently.
func TestBackgroundRecoveryReportsDamage(t *testing.T) {
	t.Parallel()
	kept := journal.NewMemory()
	manyWaiting(t, kept, 2)
	j, c := journaltest.NewGated(kept, ":execution:"), virtual(t, epoch)
	j.Err = journal.ErrDamaged
	e := answering(t, j, c, nil)
	ends := recoverBehind(t, e)
	j.Open()
	if end := <-ends; !errors.Is(end.err, journal.ErrDamaged) || end.resumed != 0 {
		t.Errorf("%+v", end)
	}
	if err := e.AwaitRecovery(t.Context()); !errors.Is(err, journal.ErrDamaged) || !e.Recovering() {
		t.Errorf("recovering %t, %v", e.Recovering(), err)
	}
	e.Close()

	x, err := kept.Execution(t.Context(), waitingOne(0))
	if err != nil {
		t.Fatal(err)
	}
	x.Input = `{"n":2}`
	kept.Commit(&journal.Record{Execution: x, Begin: true, Step: 1}, func(error) {})
	j = journaltest.NewGated(kept, ":execution:")
	e = answering(t, j, c, nil)
	ends = recoverBehind(t, e)
	if _, err := e.History(t.Context(), waitingOne(0)); !errors.Is(err, engine.ErrNoExecution) {
		t.Errorf("history of one that cannot be resumed: %v", err)
	}
	j.Open()
	end := <-ends
	var diverged *engine.DivergedError
	if end.err != nil || end.resumed != 1 || len(end.found.Left) != 1 || end.found.Left[0].ARN != waitingOne(0) ||
		!errors.As(end.found.Left[0].Err, &diverged) {
		t.Errorf("%+v, %+v", end, end.found)
	}
	if x, err := e.DescribeExecution(t.Context(), waitingOne(0)); err != nil || x.Status != history.Running {
		t.Errorf("the one left alone: %+v, %v", x, err)
	}
}

// TestBackgroundRecoveryEndsWithTheEngine closes an engine in the middle of its recovery. The next engine recovers
// everything.
func TestBackgroundRecoveryEndsWithTheEngine(t *testing.T) {
	t.Parallel()
	kept := journal.NewMemory()
	manyWaiting(t, kept, 2)
	j, c := journaltest.NewGated(kept, ":execution:"), virtual(t, epoch)
	e := answering(t, j, c, nil)
	ends := recoverBehind(t, e)
	waits := make(chan error, 1)
	go func() { waits <- e.AwaitRecovery(context.Background()) }()
	e.Close()
	if err := <-waits; !errors.Is(err, engine.ErrClosed) {
		t.Errorf("who waits: %v", err)
	}
	if err := e.RecoverInBackground(nil); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("a closed engine: %v", err)
	}
	select {
	case end := <-ends:
		t.Errorf("reported: %+v", end)
	default:
	}
	e = answering(t, kept, c, nil)
	<-recoverBehind(t, e)
	for i := range 2 {
		x, err := e.Wait(t.Context(), waitingOne(i))
		if err != nil || !x.Stop.Equal(epoch.Add(100*time.Second)) {
			t.Errorf("%+v, %v", x, err)
		}
	}
}
