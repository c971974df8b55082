package interpreter

import (
	"cmp"
	"slices"

	"stepback/engine/history"
)

// Outstanding returns the effects that were requested and neither completed nor cancelled, in the order of the
// requests. A shell must perform them again after replaying an execution's signals. Outstanding changes nothing.
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
				Ends: w.kind == machineTimeout, Retry: w.retry})
		}
	}
	slices.SortFunc(effects, func(a, b Effect) int { return cmp.Compare(a.ID, b.ID) })
	if len(x.ready) > 0 {
		effects = append(effects, Effect{Kind: Yield})
	}
	return effects
}

// Scheduled reports whether the task's …Scheduled event has been written. For an activity task, that means that it
// has been offered to workers. For any other task it is always true.
func (c *TaskCall) Scheduled() bool { return c.scheduled }

// Started reports whether the task's …Started event has been written. For an activity task, that means that a
// worker has taken it. For any other task it is always true.
func (c *TaskCall) Started() bool { return c.started }

// Submitted reports whether the call of a .sync or token task was accepted, so that the task only waits for its
// end.
func (c *TaskCall) Submitted() bool { return c.submission != nil }

// Submission returns the response to the call of a .sync or token task as JSON text, or "" if the call was not
// accepted.
func (c *TaskCall) Submission() string {
	if c.submission == nil {
		return ""
	}
	return c.submission.Text()
}
