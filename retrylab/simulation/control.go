package simulation

import (
	"time"

	"stepback/retrylab/draw"
	"stepback/retrylab/scenario"
)

// Change is one thing that a controller changed.
type Change struct {
	At time.Duration
	// Workload is the index of the workload, Knob "Retry" or "MaxConcurrency".
	Workload int
	Knob     string
	From, To int
	Rule     string
}

// point is what one period of one workload's metrics says.
type point struct {
	end                                    int64
	firsts, attempts, failed, overload, ok float64
}

// control is the controller's view of the run and what it did. It sees metrics only as scenario.Observe lets it.
type control struct {
	current []point   // of each workload
	points  [][]point // closed, of each workload
	periods uint64
	changes []Change
}

func newControl(r *run) *control {
	c := &control{current: make([]point, len(r.workloads)), points: make([][]point, len(r.workloads))}
	r.heap.push(int64(r.Scenario.Observe.Period), periodEnd, 0)
	return c
}

func (c *control) called(w *workload, x *record) {
	p := &c.current[x.workload]
	p.attempts++
	if x.calls == 1 {
		p.firsts++
	}
}

func (c *control) failed(i uint16, e *errorKind) {
	p := &c.current[i]
	if e.load {
		p.failed++
	}
	if e.overload {
		p.overload++
	}
}

func (c *control) succeeded(i uint16) { c.current[i].ok++ }

// close ends a period of the metrics.
func (c *control) close(r *run) {
	period := int64(r.Scenario.Observe.Period)
	c.periods++
	for i := range c.current {
		p := c.current[i]
		c.current[i] = point{}
		p.end = r.now
		if draw.Float(r.Seed, forObservation, uint64(i), c.periods) < r.Scenario.Observe.Loss {
			continue
		}
		for j := range r.faults {
			f := &r.faults[j]
			if !f.IsMetric() || !f.on {
				continue
			}
			if f.Metric == scenario.ErrorRate {
				p.failed = f.Says * p.attempts
			} else {
				p.overload = f.Says * p.attempts
			}
		}
		c.points[i] = append(c.points[i], p)
	}
	if at := r.now + period; at <= r.end {
		r.heap.push(at, periodEnd, 0)
	}
	r.heap.push(r.now+int64(r.Scenario.Observe.Delay), controlDue, 0)
}

// due lets the controller decide by the points that it can see now.
func (c *control) due(r *run) {}
