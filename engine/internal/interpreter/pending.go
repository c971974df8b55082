package interpreter

import (
	"slices"

	"stepback/engine/history"
)

// Pending returns what the execution is waiting for, in the order in which the waits started. It leaves out time
// limits.
func (x *Execution) Pending() []history.Pending {
	open := x.open()
	found := make([]history.Pending, 0, len(open))
	for _, id := range open {
		w := x.waits[id]
		p := history.Pending{ID: id}
		switch w.kind {
		case retryDelay:
			p.Kind, p.At = history.PendingRetry, w.at
		case waitState:
			p.Kind, p.At = history.PendingWait, w.at
		case taskResult:
			p.Kind, p.Token = history.PendingTask, w.task.Token
		case mapRunResult:
			p.Kind, p.MapRunARN = history.PendingMapRun, w.mapRun.ARN
		case machineTimeout, taskTimeout, taskHeartbeat:
			continue
		}
		p.State, p.Entered = w.thread.state.Name, w.thread.entryID
		p.Retries, p.Retrier = w.thread.retried, slices.Clone(w.thread.retries)
		found = append(found, p)
	}
	return found
}

// Delayed reports whether a retry is waiting for the delay with this ID. If so, a TimerFired signal with the ID
// starts the attempt at once.
func (x *Execution) Delayed(id int64) bool {
	w := x.waits[id]
	return w != nil && w.kind == retryDelay
}
