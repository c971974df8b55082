package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/retrypatterns"
)

// Sweep maps the combinations of utilisation and retries for which one outage never ends.
type Sweep struct {
	// Outage is the duration of the outage.
	Outage time.Duration
	// FirstSeed and Seeds are the range of seeds that were run.
	FirstSeed uint64
	Seeds     int
	Cells     []Cell
}

// Cell is the result for one utilisation and one number of retries.
type Cell struct {
	// Utilisation is the load without retries as a share of the capacity. Retries is MaxAttempts.
	Utilisation float64
	Retries     int
	// Collapsed is the number of seeds, out of Seeds, in which goodput did not recover within 20 minutes.
	Collapsed, Seeds int
}

// sweepLoads and sweepRetries are the values of the map's two axes.
var sweepLoads = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}

const sweepRetries = 6

// SweepRetries determines where a single outage of one minute never ends, for utilisations of 10 to 90 % and 0 to 6
// retries. The service and the outage are those of s, a scenario with one open stream. The waits are those of the
// pattern database_optimized.
func SweepRetries(ctx context.Context, s *scenario.Scenario, e Experiment) (*Sweep, error) {
	if len(s.Workloads) != 1 || s.Workloads[0].Arrivals == nil || len(s.Services) != 1 {
		return nil, errors.New("a sweep needs a scenario of one open stream and one service")
	}
	if x := &s.Services[0]; x.Partitions > 1 || x.Quota != nil || x.Autoscale != nil || x.ColdStart != nil ||
		x.Cache != nil ||
		x.Calls != nil {
		return nil, errors.New("a sweep needs a service whose capacity is its servers divided by its time; remove partitions, " +
			"quota, autoscale, coldStart, cache and calls")
	}
	pattern, _ := retrypatterns.PatternNamed(retrypatterns.DatabaseOptimized)
	none, err := policy.Named(static)
	if err != nil {
		return nil, err
	}
	e.Policies, e.Scenarios = []*policy.Policy{none}, nil
	capacity := float64(s.Services[0].Servers) / s.Services[0].Time.Mean
	const outage = time.Minute
	sweep := &Sweep{Outage: outage, FirstSeed: e.FirstSeed, Seeds: e.Seeds}
	for _, load := range sweepLoads {
		for m := range sweepRetries + 1 {
			p := pattern.Policy
			p.MaxAttempts = m
			w := s.Workloads[0]
			w.Arrivals = &scenario.Arrivals{Process: scenario.Poisson, Rate: load * capacity}
			w.Retriers = []scenario.Retrier{{Errors: []string{"States.ALL"}, Policy: p}}
			e.Scenarios = append(e.Scenarios, &scenario.Scenario{
				Name: fmt.Sprintf("%.0f%%-%d", 100*load, m), Duration: 25 * time.Minute, Drain: time.Minute,
				Services:  s.Services,
				Workloads: []scenario.Workload{w}, Observe: s.Observe,
				Faults: []scenario.Fault{{
					At: 4 * time.Minute, For: outage, From: 1, To: 1, P: 1, After: 50 * time.Millisecond,
					Error: "ServiceUnavailableError",
				}},
			})
			sweep.Cells = append(sweep.Cells, Cell{Utilisation: load, Retries: m, Seeds: e.Seeds})
		}
	}
	report, err := Run(ctx, e)
	if err != nil {
		return nil, err
	}
	for i, x := range e.Scenarios {
		sweep.Cells[i].Collapsed = report.Result(x.Name, static).NotRecovered
	}
	return sweep, nil
}
