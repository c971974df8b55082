package analysis

import "stepback/adaptive/predict"

// Examples returns the retries of the record as training examples for package predict, in the order of their tasks:
// the error, the retry's number, the time from the start of the task to the failure, and the outcome. Retries that were
// answered without a call, or whose end is unknown, are left out. An example contains only what a function's guard
// knows when the attempt before the retry fails.
//
// The callee's health is measured over the ten whole seconds before the failure, as in shared.Gate.Callee: the share of
// the calls of other tasks that failed by load, and the share of requests that were deferred. It is nil if no such call
// ended in them. FailingFor is the time since a call succeeded; nil if none has. The size is the size of the retry's
// payload; nil if the history does not contain it.
func (c *Collector) Examples() []predict.Example {
	var all []predict.Example
	for i := range c.tasks {
		t := &c.tasks[i]
		retry := 0
		for k := 1; k < len(t.Attempts); k++ {
			before, a := &t.Attempts[k-1], &t.Attempts[k]
			if deferred(before.Error) {
				continue // it was deferred, so it is not a retry of a call
			}
			retry++
			if a.End.IsZero() || deferred(a.Error) {
				continue
			}
			e := predict.Example{
				At: before.End, Execution: t.Execution, Error: before.Error, Attempt: retry,
				SinceFirst: before.End.Sub(t.Attempts[0].Start).Seconds(), Succeeded: !a.failed(),
			}
			if rate, load, known := c.callees[t.Callee].recentHealth(before.End, t.Attempts[:k]); known {
				e.FailureRate, e.Load = &rate, &load
			}
			if seconds, known := c.callees[t.Callee].sinceSuccess(before.End); known {
				e.FailingFor = &seconds
			}
			if a.Bytes > 0 {
				bytes := float64(a.Bytes)
				e.Bytes = &bytes
			}
			all = append(all, e)
		}
	}
	return all
}
