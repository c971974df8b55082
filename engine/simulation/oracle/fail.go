package oracle

import (
	"fmt"
	"math"
	"time"

	"stepback/engine/history"
	"stepback/engine/simulation/machine"
)

// errRuntime is neither retried nor caught, and ends the execution at once.
const errRuntime = "States.Runtime"

// matches implements the language's rule for ErrorEquals.
func matches(names []string, f *failure) bool {
	if f.Name == errRuntime {
		return false
	}
	for _, n := range names {
		switch {
		case n == f.Name, n == "States.ALL":
			return true
		case n == "States.TaskFailed" && f.Name != "States.Timeout":
			return true
		case n == "States.HeartbeatTimeout" && f.heartbeat:
			return true
		}
	}
	return false
}

// fail predicts the consequences when a thread's open state fails.
func (j *judge) fail(t *thread, f failure) error {
	t.failure = f
	for i := range t.state.Retry {
		r := &t.state.Retry[i]
		if !matches(r.ErrorEquals, &f) {
			continue
		}
		if t.retries[i] < r.MaxAttempts {
			t.retries[i]++
			t.phase = retrying
			t.from, t.to = j.window(r, t.retries[i])
			t.children = nil
			return nil
		}
		break
	}
	if t.children != nil && (f.Name != errRuntime || t.state.Type == machine.Map && t.state.Map.Distributed) {
		j.expect(t, map[string]history.Type{machine.Parallel: history.ParallelStateFailed,
			machine.Map: history.MapStateFailed}[t.state.Type])
	}
	t.children = nil
	for i := range t.state.Catch {
		if matches(t.state.Catch[i].ErrorEquals, &f) {
			return j.caught(t, &t.state.Catch[i])
		}
	}
	t.gone = true
	if t.fan == nil || f.Name == errRuntime {
		j.expectFailure(t, f)
		return nil
	}
	return j.failFan(t, f)
}

// caught predicts that the failed state is left for the catcher's next state.
func (j *judge) caught(t *thread, c *machine.Catcher) error {
	t.caught, t.phase, t.to = c, done, j.now
	j.expectThat(t, exited(t.state), func(e *history.Event) error {
		if e.Name != t.state.Name {
			return fmt.Errorf("state %s should be left first, for its catcher's %s", t.state.Name, c.Next)
		}
		return nil
	})
	return nil
}

func (j *judge) expectFailure(t *thread, f failure) {
	j.expectThat(t, history.ExecutionFailed, func(e *history.Event) error {
		got := history.Failure{}
		if e.More != nil {
			got = e.More.Failure
		}
		if got != f.Failure && (f.knownCause || got.Name != f.Name) {
			return fmt.Errorf("its failure %+v should be %+v", got, f.Failure)
		}
		return nil
	})
}

// window returns the time range in which a retry may begin. The delay is Interval × Rate^(n−1) seconds, at most
// MaxDelay; with FULL jitter the retry may begin at any time up to that.
func (j *judge) window(r *machine.Retrier, n int) (from, to int64) {
	seconds := float64(r.IntervalSeconds)
	for range n - 1 {
		seconds *= r.BackoffRate
	}
	if r.MaxDelaySeconds > 0 {
		seconds = math.Min(seconds, float64(r.MaxDelaySeconds))
	}
	delay := int64(math.Round(seconds * float64(time.Second)))
	slack := delay >> 40 // rounding errors of a long product
	if r.FullJitter {
		return j.now, j.now + delay + slack
	}
	return j.now + delay - slack, j.now + delay + slack
}

// failFan predicts the consequences of one thread's failure for the other threads of the fan and for the state
// around them.
func (j *judge) failFan(t *thread, f failure) error {
	owner := t.fan.owner
	if owner.state.Type == machine.Map {
		j.expectIndex(t, history.MapIterationFailed, t.index)
	}
	if t.state.Type == machine.Task {
		j.expect(t, history.TaskStateAborted)
	}
	j.abort(t.fan)
	return j.fail(owner, f)
}

var abortedTypes = map[string]history.Type{
	machine.Task: history.TaskStateAborted, machine.Wait: history.WaitStateAborted,
	machine.Parallel: history.ParallelStateAborted, machine.Map: history.MapStateAborted,
}

// abort predicts the end of every thread of a fan that is still running. A branch that has not entered a state
// leaves no event.
func (j *judge) abort(f *fan) {
	for _, t := range f.threads {
		if t == nil || t.gone {
			continue
		}
		t.gone = true
		if f.owner.state.Type == machine.Map {
			j.expectIndex(t, history.MapIterationAborted, t.index)
		}
		if t.state == nil {
			continue
		}
		if t.children != nil {
			j.abort(t.children)
		}
		if typ, ok := abortedTypes[t.state.Type]; ok {
			j.expect(t, typ)
		}
	}
}
