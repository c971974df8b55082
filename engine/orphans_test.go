package engine_test

import (
	"context"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// TestOrphansAreCounted stops an execution whose Map Run has one child that has ended and one that has not, and lets
// the process die after each commit. The next process closes the Map Run with every child counted.
func TestOrphansAreCounted(t *testing.T) {
	t.Parallel()
	closed := 0
	for commits := 1; commits < 12; commits++ {
		kept := journal.NewMemory()
		stoppedLife(t, kept, commits, true)
		m := stoppedLife(t, kept, 1<<30, false)
		if m == nil || m.Stopped.IsZero() {
			continue
		}
		closed++
		children := int64(0)
		for x, err := range kept.Executions(t.Context(), m.Children) {
			if err != nil || !x.Ended() {
				t.Fatalf("died after %d commits: %+v, %v", commits, x, err)
			}
			children++
		}
		if m.Executions.Total() != children || m.Items.Total() != children {
			t.Errorf("died after %d commits: %d children, counted %+v and items %+v", commits, children, m.Executions,
				m.Items)
		}
	}
	if closed == 0 {
		t.Error("no process closed the Map Run")
	}
}

// A Map Run that is stored as running although its execution and children have all ended is closed.
func TestAMapRunThatNobodyClosedIsClosed(t *testing.T) {
	t.Parallel()
	store := &bucket{lines: lines(100), version: `"1"`, results: map[string]string{}}
	kept, arn := interruptedMapRun(t, store, readAndWrite)
	for u, err := range kept.Unfinished(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		x := *u.Execution
		x.Status, x.Stop = history.TimedOut, epoch
		kept.Commit(&journal.Record{Execution: &x, Step: int64(len(u.Steps)), End: true}, func(error) {})
	}
	_, found := resumeMapRun(t, kept, store)
	if len(found.Executions)+found.Children+found.Aborted > 0 {
		t.Errorf("%+v", found)
	}
	n := 0
	for m, err := range kept.MapRuns(t.Context(), arn) {
		n++
		if err != nil || m.Status != history.Aborted || m.Stopped.IsZero() || m.Executions.TimedOut != 4 ||
			m.Executions.Succeeded == 0 {
			t.Errorf("%+v, %v", m, err)
		}
	}
	if n != 1 {
		t.Errorf("%d Map Runs", n)
	}
}

// TestWhatBelongsToAnExecutionThatIsLeftIsLeft loses the definition of an execution that has a Map Run inside a Map
// Run.
func TestWhatBelongsToAnExecutionThatIsLeftIsLeft(t *testing.T) {
	t.Parallel()
	const processor = `"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":`
	definition := `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,` + processor +
		`"N","States":{"N":{"Type":"Map","End":true,` +
		processor + `"T","States":{"T":{` + call + `,"End":true}}}}}}}}}`
	kept := journal.NewMemory()
	hangs := make(chan struct{})
	c := clock.Virtual(epoch)
	defer c.Close()
	e, err := engine.New(engine.Config{Clock: c, Journal: kept, Seed: 1, Integrations: map[string]engine.Integration{
		"test:call": invoke(func(ctx context.Context, _ *engine.Task) (string, error) {
			hangs <- struct{}{}
			<-ctx.Done()
			return "", ctx.Err()
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, e, definition, `[[1]]`)
	<-hangs
	e.Close()
	again, err := engine.New(engine.Config{Clock: virtual(t, epoch), Journal: forgetful{kept}})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	found, err := again.Recover(t.Context())
	if err != nil || len(found.Left) != 3 || found.Aborted > 0 {
		t.Errorf("%+v, %v", found, err)
	}
	for m, err := range kept.MapRuns(t.Context(), "") {
		if err != nil || m.Status != history.Running {
			t.Errorf("%+v, %v", m, err)
		}
	}
}

// forgetful is a journal that has lost its definitions.
type forgetful struct{ *journal.Memory }

func (forgetful) Definition(context.Context, string) (*journal.Definition, error) {
	return nil, journal.ErrNotFound
}

// stoppedLife runs or recovers the execution until the process dies or the execution has ended, and returns its Map
// Run.
func stoppedLife(t *testing.T, kept *journal.Memory, commits int, first bool) *engine.MapRun {
	t.Helper()
	c := clock.Virtual(epoch)
	defer c.Close()
	j := &mortal{Memory: kept, left: commits, died: make(chan struct{})}
	e, err := engine.New(engine.Config{
		Clock: c, Journal: j, Seed: 1, Workers: 1,
		Integrations: map[string]engine.Integration{"test:call": invoke(func(ctx context.Context,
			task *engine.Task) (string, error) {
			if task.Parameters == "1" {
				return "1", nil
			}
			return "", c.Park(ctx)
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	c.Hold()
	if _, err := e.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	m, err := e.CreateStateMachine("m", `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"ItemProcessor":{
		"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"T","States":{"T":{`+call+
		`,"End":true}}}}}}`, "", false)
	if err != nil {
		t.Fatal(err)
	}
	arn := m.ExecutionARN("e")
	c.Schedule(epoch.Add(10*time.Second), clock.AlarmFunc(func() {
		_ = e.StopExecution(context.Background(), arn, history.Failure{}) // it may have ended before
	}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		select {
		case <-j.died:
			cancel()
		case <-ctx.Done():
		}
	}()
	if first {
		_, _ = e.StartExecution(ctx, m.ARN, "e", `[1,2]`) // the process may die before it has started
	}
	c.Release()
	_, _ = e.Wait(ctx, arn) // or before it has ended
	runs, err := e.MapRunsOf(t.Context(), arn)
	if err != nil || len(runs) == 0 {
		return nil
	}
	return runs[0]
}
