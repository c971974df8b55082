package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"stepback/engine/history"
	"stepback/engine/simulation/machine"
)

// family lists the events of each kind of task.
var family = map[machine.Kind]struct {
	scheduled, started, succeeded, timedOut history.Type
	failed                                  []history.Type
}{
	machine.Integration: integration, machine.Token: integration, machine.Job: integration,
	machine.Function: {
		history.LambdaFunctionScheduled, history.LambdaFunctionStarted, history.LambdaFunctionSucceeded,
		history.LambdaFunctionTimedOut,
		[]history.Type{history.LambdaFunctionFailed, history.LambdaFunctionScheduleFailed},
	},
	machine.Activity: {
		history.ActivityScheduled, history.ActivityStarted, history.ActivitySucceeded, history.ActivityTimedOut,
		[]history.Type{history.ActivityFailed, history.ActivityScheduleFailed},
	},
}

var integration = struct {
	scheduled, started, succeeded, timedOut history.Type
	failed                                  []history.Type
}{
	history.TaskScheduled, history.TaskStarted, history.TaskSucceeded, history.TaskTimedOut,
	[]history.Type{history.TaskFailed, history.TaskStartFailed, history.TaskSubmitFailed},
}

// overrun is a task that has not ended in time.
type overrun struct {
	thread  *thread
	failure failure
}

// task handles an event of a task.
func (j *judge) task(t *thread, e *history.Event) error {
	if t == nil || t.gone || t.state == nil || t.state.Type != machine.Task {
		return errors.New("it follows from no open Task state")
	}
	c := t.state.Task
	f := family[c.Kind]
	if e.Type == f.scheduled {
		return j.scheduled(t)
	}
	if t.phase != working {
		return errors.New("no task is under way in the state")
	}
	switch {
	case e.Type == f.started && t.started == 0:
		t.started = e.Time
		t.limit()
	case e.Type == history.TaskSubmitted && (c.Kind == machine.Job || c.Kind == machine.Token):
	case e.Type == f.succeeded:
		if err := json.Unmarshal([]byte(e.Data), &t.result); err != nil {
			return err
		}
		t.phase = done
		j.expect(t, history.TaskStateExited)
	case e.Type == f.timedOut:
		return j.timedOut(t, e)
	case slices.Contains(f.failed, e.Type):
		return j.fail(t, failure{Failure: e.More.Failure, knownCause: true})
	default:
		return fmt.Errorf("it does not belong to a task of state %s", t.state.Name)
	}
	return nil
}

func (j *judge) scheduled(t *thread) error {
	if t.phase == retrying && j.now < t.from || t.phase != retrying && t.phase != entered {
		return errors.New("the state is not about to call its task")
	}
	t.phase, t.from, t.to, t.started = working, j.now, 0, 0
	if t.state.Task.Kind == machine.Activity {
		return nil
	}
	j.expect(t, family[t.state.Task.Kind].started)
	return nil
}

// limit sets the deadline of the task: TimeoutSeconds after its start.
func (t *thread) limit() {
	if n := t.state.Task.TimeoutSeconds; n > 0 {
		t.to = t.started + int64(n)*int64(time.Second)
	}
}

// timedOut handles the end of a task that took too long. Heartbeats come at half seconds and limits are whole
// seconds, so the time shows whether a heartbeat was missed.
func (j *judge) timedOut(t *thread, e *history.Event) error {
	c := t.state.Task
	missed := c.HeartbeatSeconds > 0 && t.started > 0 && e.Time < t.to
	if !missed {
		if c.TimeoutSeconds == 0 {
			return errors.New("the task has no TimeoutSeconds")
		}
		if err := j.within(t.to, e.Time); err != nil {
			return err
		}
	} else if e.Time < t.started+int64(c.HeartbeatSeconds)*int64(time.Second) {
		return errors.New("its HeartbeatSeconds are not over")
	}
	if want := history.Named("States.Timeout"); e.More == nil || e.More.Failure != want {
		return fmt.Errorf("its error should be %s without a cause", want.Name)
	}
	t.phase, t.to = done, 0
	j.late = append(j.late, overrun{t, failure{Failure: e.More.Failure, heartbeat: missed, knownCause: true}})
	return nil
}

// mapRun handles an event of a distributed Map.
func (j *judge) mapRun(t *thread, e *history.Event) error {
	if t.state == nil || t.state.Type != machine.Map || !t.state.Map.Distributed {
		return errors.New("it follows from no distributed Map")
	}
	if e.Type != history.MapRunStarted && t.phase != working {
		return errors.New("no Map Run is under way")
	}
	switch e.Type {
	case history.MapRunStarted:
		t.phase, t.to = working, 0
	case history.MapRunSucceeded:
		t.phase, t.result = done, nil
		j.expect(t, history.MapStateSucceeded)
	default:
		return j.fail(t, failure{Failure: e.More.Failure, knownCause: true})
	}
	return nil
}
