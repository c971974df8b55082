package pipeline

import (
	"cmp"
	"sync/atomic"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// failures counts the failed attempts of tasks, for the progress of a run.
type failures struct {
	n      atomic.Int64
	latest atomic.Value // string: the name of the latest error
}

// follow counts the failures among the events of a step.
func (f *failures) follow(_ *journal.Execution, events []history.Event) {
	for i := range events {
		e := &events[i]
		if e.Type.Step() != history.StepFailed {
			continue
		}
		name := ""
		if e.More != nil {
			name = e.More.Failure.Name
		}
		f.latest.Store(cmp.Or(name, "an error without a name"))
		f.n.Add(1)
	}
}

// failed returns the number of failed attempts, and the name of the latest error.
func (f *failures) failed() (n int64, name string) {
	name, _ = f.latest.Load().(string)
	return f.n.Load(), name
}
