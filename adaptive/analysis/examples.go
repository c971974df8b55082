package analysis

import "stepback/adaptive/predict"

// Examples returns the retries of the record as training examples for package predict, in the order of their tasks:
// the error, the retry's number, the time since the first failure, and the outcome. Retries that were answered
// without a call, or whose end is unknown, are left out.
//
// The callee's health is measured as by the functions' guards after a failed attempt (shared.Gate.Callee): over the
// ten seconds before, the share of all its recorded calls that failed by load, and the share of requests that were
// deferred. It is nil if no call ended in them. The size is the size of the retry's payload; nil if the history does
// not contain it.
func (c *Collector) Examples() []predict.Example {
	var all []predict.Example
	for i := range c.tasks {
		t := &c.tasks[i]
		same, retry := 0, 0
		for k := 1; k < len(t.Attempts); k++ {
			before, a := &t.Attempts[k-1], &t.Attempts[k]
			if deferred(before.Error) {
				continue // it was deferred, so it is not a retry of a call
			}
			retry++
			if k >= 2 && before.Error == t.Attempts[k-2].Error {
				same++
			} else {
				same = 0
			}
			if a.End.IsZero() || deferred(a.Error) {
				continue
			}
			e := predict.Example{
				At: a.Start, Execution: t.Execution, Error: before.Error, Attempt: retry,
				SinceFirst: a.Start.Sub(t.Attempts[0].End).Seconds(), Repeated: same > 0, Succeeded: !a.failed(),
			}
			if rate, load, known := c.callees[t.Callee].recentHealth(before.End); known {
				e.FailureRate, e.Load = &rate, &load
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
