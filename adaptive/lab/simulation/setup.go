package simulation

import (
	"fmt"
	"math"

	"stepback/adaptive/budget"
	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/retry"
)

// newRun builds a run and schedules the events that are known at its start. It returns an error if a workload's policy
// is not available.
func newRun(c Options) (*run, error) {
	s := c.Scenario
	clients, err := clientPolicies(s)
	if err != nil {
		return nil, err
	}
	r := &run{Options: c, end: int64(s.Duration + s.Drain), clients: clients}
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
	r.setTiers()
	r.scheduleStart()
	return r, nil
}

func (r *run) setServices(intern func(errorKind) uint16) {
	r.first = []int{0}
	for i := range r.Scenario.Services {
		r.first = append(r.first, r.first[i]+max(1, r.Scenario.Services[i].Partitions))
	}
	r.services = make([]service, r.first[len(r.first)-1])
	r.loads = make([]load, len(r.Scenario.Services))
	for i := range r.Scenario.Services {
		d := &r.Scenario.Services[i]
		s := service{
			Service: d, index: i, servers: d.Servers, provisioned: d.Servers, capacity: d.Queue, speed: 1,
			rejection: intern(errorKind{name: d.Rejection, load: true}),
		}
		for _, e := range d.Errors {
			id := intern(errorKind{name: e.Name, load: e.Kind == scenario.Load})
			s.mixes = append(s.mixes, mix{error: id, p: e.P, after: int64(e.After), byItem: e.ByItem})
		}
		if d.Quota != nil {
			s.quota = &bucket{Quota: d.Quota, tokens: d.Quota.Burst,
				error: intern(errorKind{name: d.Quota.Error, load: true})}
		}
		if d.ColdStart != nil && d.ColdStart.Ramp != nil {
			s.ramp = &bucket{Quota: d.ColdStart.Ramp, tokens: d.ColdStart.Ramp.Burst,
				error: intern(errorKind{name: d.ColdStart.Ramp.Error, load: true})}
		}
		if d.Calls != nil {
			s.tier.timeout = int64(d.Calls.Timeout)
			s.tier.error = intern(errorKind{name: d.Calls.TimeoutError, load: true, cause: retry.CauseTimeout})
			s.tier.exhausted = intern(errorKind{name: d.Calls.Error, load: true})
		}
		for k := r.first[i]; k < r.first[i+1]; k++ {
			s.pool = k
			r.services[k] = s
			if d.Cache != nil {
				r.services[k].keys = map[uint32]int64{}
			}
		}
	}
}

// setTiers completes the calls that services make, when all errors are known.
func (r *run) setTiers() {
	for i := range r.services {
		s := &r.services[i]
		if s.Calls == nil {
			continue
		}
		for _, e := range r.errors {
			s.tier.match = append(s.tier.match, int16(scenario.Match(s.Calls.Retriers, e.name)))
		}
		r.callers = append(r.callers, &s.tier.caller)
	}
}

func (r *run) setWorkloads(intern func(errorKind) uint16) {
	r.workloads = make([]workload, len(r.Scenario.Workloads))
	records := 0.0
	for i := range r.workloads {
		d := &r.Scenario.Workloads[i]
		w := &r.workloads[i]
		*w = workload{
			Workload: d, service: &r.services[r.first[d.Call.Service]], next: math.MaxInt64, policy: r.Policy,
			caller: caller{
				timeout: int64(d.Call.Timeout),
				error:   intern(errorKind{name: d.Call.TimeoutError, load: true, cause: retry.CauseTimeout}),
			},
		}
		if p := r.clients[d.Policy]; p != nil {
			w.policy = p
		}
		w.gates = r.gatesOf(w)
		w.versions = [][]retry.Policy{policiesOf(d.Retriers, w.policy)}
		r.retriers = max(r.retriers, len(d.Retriers))
		r.callers = append(r.callers, &w.caller)
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

// gatesOf returns the gates of a workload: those of its service and policy, which it shares with the workloads before
// it that have both.
func (r *run) gatesOf(w *workload) *gates {
	for i := range r.workloads {
		if o := &r.workloads[i]; o.gates != nil && o.service == w.service && o.policy == w.policy {
			return o.gates
		}
	}
	g := &gates{policy: w.policy, budgets: make([]budget.State, max(w.policy.Clients, 1))}
	if w.policy.Staleness > 0 {
		g.share(r, w.service.Name)
	}
	return g
}

// CheckPolicies returns an error if a run of the scenario would fail at its start, because the policy of a workload is
// not available.
func CheckPolicies(s *scenario.Scenario) error {
	_, err := clientPolicies(s)
	return err
}

// clientPolicies returns the policies of workloads that have their own, by name. It returns an error if a name is not
// that of a built-in policy, or if the policy acts outside of its own calls.
func clientPolicies(s *scenario.Scenario) (map[string]*policy.Policy, error) {
	clients := map[string]*policy.Policy{}
	for i := range s.Workloads {
		w := &s.Workloads[i]
		if w.Policy == "" || clients[w.Policy] != nil {
			continue
		}
		p, err := policy.Named(w.Policy)
		if err == nil && (p.Oracle || p.Controller != nil) {
			err = fmt.Errorf("policy %s is not one that a client can have; use one without controller and oracle", p.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: workload %s: %w", s.Name, w.Name, err)
		}
		clients[w.Policy] = p
	}
	return clients, nil
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
	for i := range r.services {
		if a := r.services[i].Autoscale; a != nil {
			r.heap.push(int64(a.Every), loadMeasured, uint32(i))
		}
	}
	if r.Policy.Controller != nil {
		r.control = newControl(r)
	}
	if r.Policy.Redrive != nil {
		r.redrive = newRedrive(r)
	}
}
