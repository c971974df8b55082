package decide

import "time"

// mapRun implements R-map: a running Map whose children fail with load errors gets half its concurrency. After two
// calm windows the concurrency is doubled again, up to its initial value, but never beyond what the callee can serve
// before its callers give up. mapRun returns true if it has made the decision. UpdateMapRun changes the running Map;
// a change of Retry would apply only to future executions.
func (n *next) mapRun() bool {
	run := *n.m.MapRun
	limit := run.Base
	if c, timeout := n.m.Capacity, n.m.CallTimeout; c.Saturated && c.PerSecond > 0 && timeout > 0 {
		limit = min(limit, max(int(c.PerSecond*timeout.Seconds()), 1))
	}
	if set, ours := n.mem.Concurrency[run.ARN]; ours && set != run.Concurrency {
		n.d.because("R-map", "MaxConcurrency of %s was set to %d by another program or person (the controller had set %d): not changed",
			run.ARN, run.Concurrency, set)
		return false
	}
	want, direction := run.Concurrency, Restore
	switch failing := n.w.failed().Low(); {
	case failing > n.MapFailing && run.Concurrency > 1:
		want, direction = min(max(run.Concurrency/2, 1), limit), Cut
		n.d.because("R-map", "at least %.0f %% of the attempts fail by load: MaxConcurrency from %d to %d", 100*failing,
			run.Concurrency, want)
	case run.Concurrency < limit && n.calm():
		want = min(2*run.Concurrency, limit)
		n.d.because("R-map", "two calm windows: MaxConcurrency from %d to %d of %d", run.Concurrency, want, run.Base)
	}
	if want == run.Concurrency || !n.may(direction) {
		return false
	}
	run.Concurrency = want
	n.d.Verdict, n.d.Direction, n.d.MapRun = ChangeMapRun, direction, &run
	return true
}

// calm reports whether two consecutive windows had few load failures. Both windows must lie after the last change.
func (n *next) calm() bool {
	earlier := n.m.window(1)
	if earlier.problem() != "" {
		return false
	}
	begin := n.now.Add(-Age).Truncate(Minute).Add(-2 * WindowSize * Minute)
	return n.w.failed().High() < n.Calm && earlier.failed().High() < n.Calm &&
		(n.mem.last().At.IsZero() || !begin.Before(n.mem.last().At.Add(-time.Minute)))
}
