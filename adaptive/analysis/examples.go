package analysis

import "stepback/adaptive/predict"

// Examples are the retries of the record for package predict, in the order of their tasks: after which error, the how
// many-th, how long after the first failure, and how they ended. Retries that were answered without a call, or of which
// nobody knows how they ended, are left out.
//
// How the callee fared is measured as the functions' guards do when an attempt has failed (shared.Gate.Callee): in the
// ten seconds before, the share of all its calls in the record that failed by load, and the share of what was asked of
// it that was put off. It is nil when no call of it ended in them. The size is that of what the retry sent, nil when
// the history does not have it.
func (c *Collector) Examples() []predict.Example {
	var all []predict.Example
	for i := range c.tasks {
		t := &c.tasks[i]
		same, retry := 0, 0
		for k := 1; k < len(t.Attempts); k++ {
			before, a := &t.Attempts[k-1], &t.Attempts[k]
			if deferred(before.Error) {
				continue // it was put off: this is no retry of a call
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
			if rate, load, known := c.callees[t.Callee].fared(before.End); known {
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
