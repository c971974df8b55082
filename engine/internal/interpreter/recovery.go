package interpreter

import (
	"cmp"
	"slices"

	"stepback/engine/history"
)

// Outstanding returns the effects that were requested and neither completed nor cancelled, in the order of the
// requests: what a shell must perform again after replaying an execution's signals. It changes nothing.
func (x *Execution) Outstanding() []Effect {
	if x.status != history.Running {
		return nil
	}
	effects := make([]Effect, 0, len(x.waits)+1)
	for id, w := range x.waits {
		switch w.kind {
		case taskResult:
			effects = append(effects, Effect{Kind: InvokeTask, ID: id, Task: w.task})
		case mapRunResult:
			effects = append(effects, Effect{Kind: StartMapRun, ID: id, MapRun: w.mapRun})
		default:
			effects = append(effects, Effect{Kind: SetTimer, ID: id, At: w.at, Background: id == lifeLimit,
				Retry: w.retry})
		}
	}
	slices.SortFunc(effects, func(a, b Effect) int { return cmp.Compare(a.ID, b.ID) })
	if len(x.ready) > 0 {
		effects = append(effects, Effect{Kind: Yield})
	}
	return effects
}

// Scheduled reports whether the task's …Scheduled event has been written: for an activity task, whether it has been
// offered to workers; for any other task, always.
func (c *TaskCall) Scheduled() bool { return c.scheduled }

// Started reports whether the task's …Started event has been written: for an activity task, whether a worker has
// taken it; for any other task, always.
func (c *TaskCall) Started() bool { return c.started }

// Submitted reports whether the call of a .sync or token task was accepted, so that only its end is awaited.
func (c *TaskCall) Submitted() bool { return c.submission != nil }

// Submission returns the response to that call as JSON text, or "" if it was not accepted.
func (c *TaskCall) Submission() string {
	if c.submission == nil {
		return ""
	}
	return c.submission.Text()
}
