package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/simulation"
	"stepback/adaptive/worth"
)

// The limits of an experiment.
const (
	MaxSeeds = 10_000
	maxRuns  = 1_000_000
)

// The stopping rule of an experiment with Precise. Precision is in shares of the records: 0.02 is 2 percentage points.
const (
	Precision    = 0.02
	PreciseSeeds = 200
)

// Seeds up to LastTuningSeed are for tuning policies. FirstReportedSeed and later ones are for reports and must not
// be used for tuning.
const (
	LastTuningSeed    = 99
	FirstReportedSeed = 10_000
)

// static is the policy with which all others are compared.
const static = "static"

// Experiment describes what to run. Every scenario runs under every policy with every seed.
type Experiment struct {
	Scenarios []*scenario.Scenario
	Policies  []*policy.Policy
	// Seeds is the number of seeds, starting with FirstSeed; 1 to MaxSeeds.
	Seeds     int
	FirstSeed uint64
	// Precise adds ten more seeds at a time until the results are precise: the 95 % interval of every success is at
	// most 2 × Precision wide. Because the interval allows for seeds of another kind that were not drawn, this takes
	// about 90 seeds even if all have the same value. Run stops after PreciseSeeds seeds at the latest.
	Precise bool
	// Workers is the number of concurrent runs; the default is one per processor. It does not affect the report.
	Workers int
	// Progress, unless nil, is called after each run with the number of finished runs; calls do not overlap.
	Progress func(done, total int)
}

// job is one run of an experiment.
type job struct{ scenario, policy, seed int }

// Run executes an experiment. It returns an error if the context ends, a run is given up, or the experiment is
// invalid.
func Run(ctx context.Context, e Experiment) (*Report, error) {
	policies, listed, err := e.check()
	if err != nil {
		return nil, err
	}
	results, err := e.runAll(ctx, policies)
	if err != nil {
		return nil, err
	}
	for e.Precise && e.Seeds < PreciseSeeds && !precise(results) {
		more := e
		more.FirstSeed, more.Seeds = e.FirstSeed+uint64(e.Seeds), min(10, PreciseSeeds-e.Seeds)
		added, err := more.runAll(ctx, policies)
		if err != nil {
			return nil, err
		}
		for i := range results {
			for j := range results[i] {
				results[i][j] = append(results[i][j], added[i][j]...)
			}
		}
		e.Seeds += more.Seeds
	}
	seeds := SeedRange{First: e.FirstSeed, Count: e.Seeds, Tuning: e.FirstSeed <= LastTuningSeed}
	report := &Report{Lab: 1, Seeds: seeds}
	prices, err := worth.PricesOf(simulation.PriceRegion)
	if err != nil {
		return nil, err
	}
	report.Prices = PriceList{Region: prices.Region, Date: prices.Date}
	for i, s := range e.Scenarios {
		report.add(s, policies[:listed], results[i], results[i][slices.IndexFunc(policies, isStatic)])
	}
	return report, nil
}

func isStatic(p *policy.Policy) bool { return p.Name == static }

// check returns the policies to run: those listed, followed by static if it is not listed. listed is the number of
// those listed.
func (e *Experiment) check() (policies []*policy.Policy, listed int, err error) {
	if len(e.Scenarios) == 0 || len(e.Policies) == 0 {
		return nil, 0, errors.New("an experiment needs a scenario and a policy")
	}
	if e.Seeds < 1 || e.Seeds > MaxSeeds {
		return nil, 0, fmt.Errorf("%d seeds are out of range; give 1 to %d", e.Seeds, MaxSeeds)
	}
	if e.FirstSeed > math.MaxUint64-MaxSeeds {
		return nil, 0, fmt.Errorf("the first seed %d is out of range; give 0 to %d", e.FirstSeed,
			uint64(math.MaxUint64-MaxSeeds))
	}
	policies = slices.Clone(e.Policies)
	for i, p := range policies {
		if slices.ContainsFunc(policies[:i], func(q *policy.Policy) bool { return q.Name == p.Name }) {
			return nil, 0, fmt.Errorf("there are two policies %q; give each once", p.Name)
		}
	}
	for i, s := range e.Scenarios {
		if slices.ContainsFunc(e.Scenarios[:i], func(q *scenario.Scenario) bool { return q.Name == s.Name }) {
			return nil, 0, fmt.Errorf("there are two scenarios %q; give each once", s.Name)
		}
		if err := simulation.CheckPolicies(s); err != nil {
			return nil, 0, err
		}
	}
	if !slices.ContainsFunc(policies, isStatic) {
		p, err := policy.Named(static)
		if err != nil {
			return nil, 0, err
		}
		policies = append(policies, p)
	}
	if runs := len(e.Scenarios) * len(policies) * e.Seeds; runs > maxRuns {
		return nil, 0, fmt.Errorf("%d runs are too many; at most %d are made: give fewer seeds, scenarios or policies",
			runs, maxRuns)
	}
	return policies, len(e.Policies), nil
}

// runAll runs all jobs. It returns the results by scenario, policy and seed.
func (e *Experiment) runAll(ctx context.Context, policies []*policy.Policy) ([][][]*simulation.Result, error) {
	results := make([][][]*simulation.Result, len(e.Scenarios))
	for i := range results {
		results[i] = make([][]*simulation.Result, len(policies))
		for j := range results[i] {
			results[i][j] = make([]*simulation.Result, e.Seeds)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs := make(chan job)
	var workers sync.WaitGroup
	var mu sync.Mutex
	done, total := 0, len(e.Scenarios)*len(policies)*e.Seeds
	count := e.Workers
	if count <= 0 {
		count = runtime.GOMAXPROCS(0)
	}
	for range min(count, total) {
		workers.Go(func() {
			for j := range jobs {
				res, err := simulation.Run(ctx, simulation.Options{
					Scenario: e.Scenarios[j.scenario], Policy: policies[j.policy], Seed: e.FirstSeed + uint64(j.seed),
				})
				if err != nil {
					cancel(err)
					continue
				}
				results[j.scenario][j.policy][j.seed] = res
				mu.Lock()
				done++
				if e.Progress != nil {
					e.Progress(done, total)
				}
				mu.Unlock()
			}
		})
	}
	e.hand(ctx, jobs, len(policies))
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return results, nil
}

// hand sends the jobs to the workers. The jobs of one seed follow each other, one for each policy.
func (e *Experiment) hand(ctx context.Context, jobs chan<- job, policies int) {
	defer close(jobs)
	for i := range e.Scenarios {
		for seed := range e.Seeds {
			for j := range policies {
				select {
				case jobs <- job{i, j, seed}:
				case <-ctx.Done():
					return
				}
			}
		}
	}
}
