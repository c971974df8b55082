package simulation

import (
	"math"

	"stepback/adaptive/budget"
	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/retry"
)

// newRun builds a run and schedules the events that are known at its start.
func newRun(c Options) *run {
	s := c.Scenario
	r := &run{Options: c, end: int64(s.Duration + s.Drain)}
	r.measure = measure{warmup: int64(s.Warmup), duration: int64(s.Duration), lastFaultEnd: -1}
	names := map[errorKind]uint16{}
	intern := func(e errorKind) uint16 {
		e.loadByName, e.overloadByName = retry.IsLoadError(e.name), retry.IsOverload(e.name)
		if e.cause == retry.CauseOther && retry.IsThrottle(e.name) {
			e.cause = retry.CauseThrottle
		}
		id, ok := names[e]
		if !ok {
			id = uint16(len(r.errors))
			names[e] = id
			r.errors = append(r.errors, e)
		}
		return id
	}
	r.setServices(intern)
	for i := range s.Faults {
		f := &s.Faults[i]
		id := intern(errorKind{name: f.Error, load: true})
		r.faults = append(r.faults, fault{Fault: f, error: id, after: int64(f.After)})
		r.measure.random = r.measure.random || f.IsGilbert()
	}
	r.setWorkloads(intern)
	r.scheduleStart()
	return r
}

func (r *run) setServices(intern func(errorKind) uint16) {
	r.services = make([]service, len(r.Scenario.Services))
	for i := range r.services {
		d := &r.Scenario.Services[i]
		s := &r.services[i]
		*s = service{
			Service: d, index: i, servers: d.Servers, capacity: d.Queue, speed: 1, oracle: r.Policy.Oracle,
			rejection: intern(errorKind{name: d.Rejection, load: true}), gates: gates{
				policy: r.Policy, budgets: make([]budget.State, max(r.Policy.Clients, 1)),
			},
		}
		if r.Policy.Staleness > 0 {
			s.gates.share(r, d.Name)
		}
		for _, e := range d.Errors {
			id := intern(errorKind{name: e.Name, load: e.Kind == scenario.Load})
			s.mixes = append(s.mixes, mix{error: id, p: e.P, after: int64(e.After), byItem: e.ByItem})
		}
	}
}

func (r *run) setWorkloads(intern func(errorKind) uint16) {
	r.workloads = make([]workload, len(r.Scenario.Workloads))
	records := 0.0
	for i := range r.workloads {
		d := &r.Scenario.Workloads[i]
		w := &r.workloads[i]
		*w = workload{
			Workload: d, service: &r.services[d.Call.Service], timeout: int64(d.Call.Timeout), next: math.MaxInt64,
			timeoutError: intern(errorKind{name: d.Call.TimeoutError, load: true, cause: retry.CauseTimeout}),
		}
		w.versions = [][]retry.Policy{policiesOf(d.Retriers, r.Policy)}
		r.retriers = max(r.retriers, len(d.Retriers))
		if d.Map != nil {
			w.limit = d.Map.MaxConcurrency
			records += float64(d.Map.Items)
		} else {
			records += d.Arrivals.Expected(r.Scenario.Duration)
		}
	}
	for i := range r.workloads {
		w := &r.workloads[i]
		for _, e := range r.errors {
			w.match = append(w.match, int16(scenario.Match(w.Retriers, e.name)))
		}
	}
	r.measure.latencies = make([]float32, 0, int(records*1.02)+16)
	r.measure.bins = make([]Bin, 0, int(r.Scenario.Duration/BinWidth)+64)
}

// policiesOf applies a policy to the scenario's retriers and returns the resulting policies.
func policiesOf(retriers []scenario.Retrier, p *policy.Policy) []retry.Policy {
	policies := make([]retry.Policy, len(retriers))
	for i := range retriers {
		policies[i] = retriers[i].Policy
		switch {
		case p.Attempts == policy.NoRetries:
			policies[i].MaxAttempts = 0
		case p.Override != nil && policies[i].MaxAttempts > 0:
			policies[i] = *p.Override
		}
	}
	return policies
}

func (r *run) scheduleStart() {
	for i := range r.faults {
		f := &r.faults[i]
		if f.IsGilbert() {
			r.heap.push(r.later(f.stay(r.Seed, uint64(i))), edge, uint32(i))
			continue
		}
		r.heap.push(int64(f.At), edge, uint32(i))
		r.heap.push(int64(f.At+f.For), edge, uint32(i))
	}
	r.heap.push(int64(r.Scenario.Duration), drainStart, 0)
	for i := range r.workloads {
		w := &r.workloads[i]
		if w.Map != nil {
			r.heap.push(int64(w.Map.Start), mapStart, uint32(i))
		} else {
			w.next = w.arrivals.next(r, w)
		}
	}
	if r.Policy.Controller != nil {
		r.control = newControl(r)
	}
}
