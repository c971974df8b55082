package simulation

import (
	"math"
	"slices"

	"stepback/adaptive/lab/draw"
	"stepback/adaptive/lab/scenario"
)

// fault is the state of a fault during a run.
type fault struct {
	*scenario.Fault
	error uint16
	after int64
	on    bool
	begun int64 // start of the current window
	turns uint64
}

// outage returns the fault that fails an attempt before it reaches its service, or nil.
func (r *run) outage(s *service, q *request) *fault {
	for _, i := range s.active {
		f := &r.faults[i]
		if f.P > 0 && (f.P >= 1 || draw.Float(r.Seed, forFaultErrors, uint64(q.workload)<<32|uint64(q.index),
			uint64(i)<<32|uint64(q.attempt)) < f.P) {
			return f
		}
	}
	return nil
}

// turn starts or ends a fault's window.
func (r *run) turn(i int) {
	f := &r.faults[i]
	f.on = !f.on
	f.turns++
	f.begun = r.now
	if f.IsGilbert() {
		if at := r.later(f.stay(r.Seed, uint64(i))); at <= r.end {
			r.heap.push(at, edge, uint32(i))
		}
	}
	r.measure.faultTurned(r.now, f.on, f.Service)
	if f.Service < 0 {
		return
	}
	for k := range r.pools(f.Service) {
		r.turnPool(i, &r.pools(f.Service)[k])
	}
}

// turnPool starts or ends a fault's window for one pool of its service.
func (r *run) turnPool(i int, s *service) {
	f := &r.faults[i]
	if f.on && f.EmptyCache {
		clear(s.keys)
	}
	if f.on {
		s.active = append(s.active, i)
	} else {
		s.active = slices.DeleteFunc(s.active, func(j int) bool { return j == i })
	}
	s.drifts = false
	for _, j := range s.active {
		s.drifts = s.drifts || r.faults[j].From != r.faults[j].To
	}
	s.speed = r.speed(s)
	r.setServers(s)
}

// speed returns the product of the factors of all capacity faults at the present time.
func (r *run) speed(s *service) float64 {
	speed := 1.0
	for _, i := range s.active {
		f := &r.faults[i]
		factor := f.From
		if f.From != f.To {
			factor += (f.To - f.From) * math.Min(1, float64(r.now-f.begun)/float64(f.For))
		}
		speed *= factor
	}
	return speed
}
