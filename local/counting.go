package local

import (
	"time"

	"stepback/aws"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/retrymetrics"
)

// track counts the events of one execution as they happen: its retries, for the metric data of the data directory and
// for Config.Counts, and the metrics of AWS/States. One reader of attempts serves them all. An execution that an
// earlier process left running has been counted by that process; only the metric data of the data directory may lack
// its latest events, which metrics counts again.
func (p *Platform) track(x *journal.Execution, past []history.Event, recovered bool) func([]history.Event) {
	if recovered {
		p.metrics.recovered(x.ARN, past)
	}
	arn, valid := aws.ParseARN(x.MachineARN)
	c := &counting{platform: p, execution: x, scope: arn.Scope(), measured: valid}
	c.live = retrymetrics.NewLive(x.ARN, append([]retrymetrics.Target{&p.metrics.Collector}, p.cfg.Counts...)...)
	c.live.Skip(past)
	return c.count
}

// counting counts the events of one execution.
type counting struct {
	platform  *Platform
	execution *journal.Execution
	scope     aws.Scope // of the state machine
	measured  bool      // for AWS/States
	live      *retrymetrics.Live
}

// count counts the events of a step.
func (c *counting) count(events []history.Event) {
	m := &c.platform.meter
	if c.measured {
		m.mu.Lock()
	}
	for i := range events {
		change := c.live.Read(&events[i])
		if !c.measured {
			continue
		}
		if change.Attempt != nil {
			m.attempt(c.scope, change.Attempt)
		}
		m.execution(c.execution, c.scope, &events[i])
	}
	if c.measured {
		m.mu.Unlock()
	}
	c.live.Flush()
	if n := len(events); n > 0 && events[n-1].Type.Terminal() {
		c.live.Close()
	}
}

// tracked returns the time before which the engines have passed every event to track, and whether they have passed
// every event at all. ok is false while an engine looks for the executions of an earlier process.
func (s *engines) tracked() (before time.Time, all, ok bool) {
	if s.recovering.Load() > 0 {
		return time.Time{}, false, false
	}
	before, all = s.platform.Clock.Now(), true
	for _, e := range s.all() {
		oldest, waits := e.Tracked()
		if oldest.Before(before) {
			before = oldest
		}
		all = all && !waits
	}
	return before, all, true
}
