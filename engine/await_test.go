package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/jsonvalue"
)

// job is an integration for .sync tasks: it starts an execution of another state machine and waits for its end.
type job struct {
	engine *engine.Engine
	child  string
	refuse error
}

func (j *job) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	if j.refuse != nil {
		return nil, j.refuse
	}
	arn, err := j.engine.StartExecution(ctx, j.child, "child", "{}")
	if err != nil {
		return nil, err
	}
	t.Submitted(jsonvalue.TextDocument(`"accepted"`))
	if err := j.engine.Await(ctx, arn); err != nil {
		return nil, err
	}
	x, err := j.engine.DescribeExecution(ctx, arn)
	if err != nil {
		return nil, err
	}
	return jsonvalue.TextDocument(x.Output), nil
}

func jobEngine(t *testing.T, task string) (e *engine.Engine, j *job, parent string) {
	t.Helper()
	c := clock.Virtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	j = &job{}
	e, err := engine.New(engine.Config{
		Clock: c, Journal: journal.NewMemory(), Integrations: map[string]engine.Integration{"jobs:run": j},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(); c.Close() })
	j.engine = e
	for name, definition := range map[string]string{
		"child":  `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":600,"Next":"P"},"P":{"Type":"Pass","Result":7,"End":true}}}`,
		"parent": task,
	} {
		m, err := e.CreateStateMachine(name, definition, "", false)
		if err != nil {
			t.Fatal(err)
		}
		if name == "child" {
			j.child = m.ARN
		} else {
			parent = m.ARN
		}
	}
	return e, j, parent
}

// types lists the event types of an execution.
func types(t *testing.T, e *engine.Engine, arn string) string {
	t.Helper()
	events, err := e.History(t.Context(), arn)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(events))
	for i := range events {
		names[i] = events[i].Type.String()
	}
	return strings.Join(names, " ")
}

const syncTask = `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::jobs:run.sync","TimeoutSeconds":3600,"End":true}}}`

func TestSyncTaskLastsAsLongAsItsJob(t *testing.T) {
	t.Parallel()
	e, _, parent := jobEngine(t, syncTask)
	arn, err := e.StartExecution(t.Context(), parent, "x", "{}")
	if err != nil {
		t.Fatal(err)
	}
	x, err := e.Wait(t.Context(), arn)
	if err != nil {
		t.Fatal(err)
	}
	if took := x.Stop.Sub(x.Start); x.Output != "7" || took != 10*time.Minute {
		t.Errorf("output %s after %s; want 7 after 10m0s", x.Output, took)
	}
	const want = "ExecutionStarted TaskStateEntered TaskScheduled TaskStarted TaskSubmitted TaskSucceeded TaskStateExited ExecutionSucceeded"
	if got := types(t, e, arn); got != want {
		t.Errorf("history %s", got)
	}
}

func TestSyncTaskThatTimesOutGivesItsJobUp(t *testing.T) {
	t.Parallel()
	e, _, parent := jobEngine(t, strings.Replace(syncTask, "3600", "60", 1))
	arn, err := e.StartExecution(t.Context(), parent, "x", "{}")
	if err != nil {
		t.Fatal(err)
	}
	x, err := e.Wait(t.Context(), arn)
	if err != nil {
		t.Fatal(err)
	}
	if took := x.Stop.Sub(x.Start); x.Failure.Name != "States.Timeout" || took != time.Minute {
		t.Errorf("%s after %s; want States.Timeout after 1m0s", x.Failure.Name, took)
	}
}

func TestRefusedJob(t *testing.T) {
	t.Parallel()
	e, j, parent := jobEngine(t, syncTask)
	j.refuse = engine.NewFailure("Jobs.NoRoomException", "no room")
	arn, err := e.StartExecution(t.Context(), parent, "x", "{}")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Wait(t.Context(), arn); err != nil {
		t.Fatal(err)
	}
	const want = "ExecutionStarted TaskStateEntered TaskScheduled TaskStarted TaskSubmitFailed ExecutionFailed"
	if got := types(t, e, arn); got != want {
		t.Errorf("history %s", got)
	}
}

func TestClosedEngineStopsNothing(t *testing.T) {
	t.Parallel()
	e, _, parent := jobEngine(t, syncTask)
	e.Close()
	if err := e.StopExecution(t.Context(), parent, history.Failure{}); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("StopExecution: %v", err)
	}
}
