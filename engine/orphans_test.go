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

// TestOrphansAreCounted stops an execution whose Map Run has one child that has ended and one that has not, and lets the process
// die after each commit. The next one closes the Map Run with every child counted.
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
			t.Errorf("died after %d commits: %d children, counted %+v and items %+v", commits, children, m.Executions, m.Items)
		}
	}
	if closed == 0 {
		t.Error("no process closed the Map Run")
	}
}

// stoppedLife runs or recovers the execution until the process dies or the execution has ended, and returns its Map Run.
func stoppedLife(t *testing.T, kept *journal.Memory, commits int, first bool) *engine.MapRun {
	t.Helper()
	c := clock.Virtual(epoch)
	defer c.Close()
	j := &mortal{Memory: kept, left: commits, died: make(chan struct{})}
	e, err := engine.New(engine.Config{
		Clock: c, Journal: j, Seed: 1, Workers: 1,
		Integrations: map[string]engine.Integration{"test:call": invoke(func(ctx context.Context, task *engine.Task) (string, error) {
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
		"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"T","States":{"T":{`+call+`,"End":true}}}}}}`, "", false)
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
		_, _ = e.StartExecution(ctx, m.ARN, "e", `[1,2]`) // the process may die before it has begun
	}
	c.Release()
	_, _ = e.Wait(ctx, arn) // or before it has ended
	runs, err := e.MapRunsOf(t.Context(), arn)
	if err != nil || len(runs) == 0 {
		return nil
	}
	return runs[0]
}
