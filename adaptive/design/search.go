package design

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"

	"stepback/adaptive/lab/simulation"
)

// The seeds of the stages. The search uses seeds from the problem's seed on; the check and the predictions use others.
const (
	screenSeeds  = 4
	tunedSeeds   = 60
	checkedSeeds = 99 // the ranks 5 and 95 of 99 values enclose a further one with a probability of 90 %
	// checkedFrom and predictedFrom are the distances from the problem's seed to the seeds of the check and of the
	// predictions.
	checkedFrom   = 1_000_000
	predictedFrom = 2_000_000
	// kept is the number of candidates that are varied if none meets the objective.
	kept = 4
	// tried is the number of feasible candidates that are tested with all seeds.
	tried = 12
)

// runKey identifies one simulated period.
type runKey struct {
	settings  string
	condition int
	seed      uint64
}

// evaluator simulates periods and remembers their outcomes.
type evaluator struct {
	p       *Problem
	workers int

	mu    sync.Mutex
	known map[runKey]Outcome
}

func newEvaluator(p *Problem, workers int) *evaluator {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return &evaluator{p: p, workers: workers, known: map[runKey]Outcome{}}
}

// job is one period to simulate.
type job struct {
	settings  *Settings
	key       string
	condition int
	seed      uint64
}

// run simulates the jobs that are not known yet.
func (e *evaluator) run(ctx context.Context, jobs []job) error {
	jobs = slices.DeleteFunc(jobs, func(j job) bool {
		_, known := e.known[runKey{j.key, j.condition, j.seed}]
		return known
	})
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan job)
	var workers sync.WaitGroup
	for range min(e.workers, len(jobs)) {
		workers.Go(func() {
			for j := range queue {
				o, err := e.one(ctx, j)
				if err != nil {
					cancel(err)
					continue
				}
				e.mu.Lock()
				e.known[runKey{j.key, j.condition, j.seed}] = o
				e.mu.Unlock()
			}
		})
	}
	for _, j := range jobs {
		queue <- j
	}
	close(queue)
	workers.Wait()
	return context.Cause(ctx)
}

func (e *evaluator) one(ctx context.Context, j job) (Outcome, error) {
	s := e.p.scenario(j.settings, j.condition, j.seed)
	r, err := simulation.Run(ctx, simulation.Options{
		Scenario: s, Policy: j.settings.Policy(), Seed: j.seed, Within: seconds(e.p.Objective.Within),
	})
	if err != nil {
		return Outcome{}, err
	}
	return e.p.outcome(s, r), nil
}

// outcomes simulates count periods of a condition, from a seed on.
func (e *evaluator) outcomes(ctx context.Context, s *Settings, condition int, from uint64, count int) ([]Outcome, error) {
	key := s.key()
	jobs := make([]job, count)
	for i := range jobs {
		jobs[i] = job{s, key, condition, from + uint64(i)}
	}
	if err := e.run(ctx, slices.Clone(jobs)); err != nil {
		return nil, err
	}
	out := make([]Outcome, count)
	for i, j := range jobs {
		out[i] = e.known[runKey{j.key, j.condition, j.seed}]
	}
	return out, nil
}

// tolerated returns the number of periods of n that may miss the objective: the largest at which the share of
// confidence holds with a probability of 90 %.
func tolerated(n int, confidence float64) int {
	miss, term, sum := 1-confidence, math.Pow(confidence, float64(n)), 0.0
	for k := range n {
		sum += term
		if sum > 0.1 {
			return k - 1
		}
		term *= float64(n-k) / float64(k+1) * miss / confidence
	}
	return n
}

// seedsFor returns the number of seeds that are needed to show that a share of confidence holds.
func seedsFor(confidence float64) int {
	return max(tunedSeeds, int(math.Ceil(math.Log(0.1)/math.Log(confidence)))+1)
}

// candidate is a candidate of the search with what is known of it.
type candidate struct {
	settings Settings
	misses   int     // of the screened periods
	miss     float64 // the largest mean violation of a condition
	cost     float64 // mean cost and latency, for ties
}

// judge adds up the outcomes of some seeds in all conditions.
func (e *evaluator) judge(c *candidate, seeds int) {
	key := c.settings.key()
	c.misses, c.miss, c.cost = 0, 0, 0
	n := 0.0
	for k := range e.p.conditions() {
		sum, done := 0.0, 0
		for i := range seeds {
			o, ok := e.known[runKey{key, k, e.p.Seed + uint64(i)}]
			if !ok {
				continue
			}
			v := e.p.Objective.violation(&o)
			if v > 0 {
				c.misses++
			}
			sum += v
			done++
			n++
			c.cost += math.Log(max(o.CallsPerRecord, 1e-9)) + 0.1*math.Log(max(o.P99, 1e-9))
		}
		c.miss = max(c.miss, sum/float64(max(done, 1)))
	}
	c.cost /= max(n, 1)
}

// screen simulates every candidate with some seeds. Candidates that miss the objective in all of the first condition's
// periods by more than the best candidate so far are not continued.
func (e *evaluator) screen(ctx context.Context, all []*candidate, seeds int) error {
	var jobs []job
	add := func(c *candidate, from, to int) {
		key := c.settings.key()
		for k := range e.p.conditions() {
			for i := from; i < to; i++ {
				jobs = append(jobs, job{&c.settings, key, k, e.p.Seed + uint64(i)})
			}
		}
	}
	for _, c := range all {
		add(c, 0, 1)
	}
	if err := e.run(ctx, jobs); err != nil {
		return err
	}
	best := math.Inf(1)
	for _, c := range all {
		e.judge(c, 1)
		best = min(best, c.miss)
	}
	jobs = nil
	for _, c := range all {
		if c.miss <= max(2*best, 0.5) {
			add(c, 1, seeds)
		}
	}
	if err := e.run(ctx, jobs); err != nil {
		return err
	}
	for _, c := range all {
		e.judge(c, seeds)
	}
	return nil
}

// holds reports whether the settings meet the objective with the tolerated number of misses in every condition, over
// count seeds from a seed on.
func (e *evaluator) holds(ctx context.Context, s *Settings, from uint64, count int) (bool, error) {
	most := tolerated(count, e.p.Objective.Confidence)
	if from >= e.p.Seed+checkedFrom { // a check, not a selection: the share itself
		most = int((1 - e.p.Objective.Confidence) * float64(count))
	}
	misses := make([]int, len(e.p.conditions()))
	const part = 12
	for at := 0; at < count; at += part {
		for k := range misses {
			out, err := e.outcomes(ctx, s, k, from+uint64(at), min(part, count-at))
			if err != nil {
				return false, err
			}
			for i := range out {
				if !e.p.Objective.Met(out[i]) {
					misses[k]++
				}
			}
			if misses[k] > most {
				return false, nil
			}
		}
	}
	return true, nil
}

// byMerit sorts candidates: those that miss least first; of those that miss nothing the simplest, then the cheapest.
func byMerit(a, b *candidate) int {
	if a.misses == 0 && b.misses == 0 {
		return cmp.Or(cmp.Compare(a.settings.complexity(), b.settings.complexity()), cmp.Compare(a.cost, b.cost))
	}
	return cmp.Or(cmp.Compare(a.miss, b.miss), cmp.Compare(a.settings.complexity(), b.settings.complexity()))
}

// search returns the simplest settings that meet the objective. If none do, found is false, and the settings are those
// that miss it least. If the objective is excluded by theory, the nearest settings are not refined.
func (e *evaluator) search(ctx context.Context, excluded bool) (best Settings, found bool, err error) {
	known := map[string]bool{}
	var all []*candidate
	extend := func(settings []Settings) []*candidate {
		var fresh []*candidate
		for _, s := range settings {
			if key := s.key(); !known[key] {
				known[key] = true
				fresh = append(fresh, &candidate{settings: s})
			}
		}
		all = append(all, fresh...)
		return fresh
	}
	rounds, seeds := 3, screenSeeds
	if excluded {
		rounds, seeds = 1, 1
	}
	rejected := map[string]bool{}
	fresh := extend(e.p.candidates())
	for range rounds {
		if err := e.screen(ctx, fresh, seeds); err != nil {
			return best, false, err
		}
		slices.SortStableFunc(all, byMerit)
		tests := 0
		for _, c := range all {
			// A candidate that misses one screened period may still hold in the share that is asked for.
			if excluded || c.misses > 1 || tests == tried {
				continue
			}
			if rejected[c.settings.key()] {
				continue
			}
			tests++
			for _, stage := range []struct {
				from  uint64
				count int
			}{{e.p.Seed, seedsFor(e.p.Objective.Confidence)}, {e.p.Seed + checkedFrom, checkedSeeds}} {
				found, err = e.holds(ctx, &c.settings, stage.from, stage.count)
				if err != nil {
					return best, false, err
				}
				if !found {
					break
				}
			}
			if found {
				best, err = e.minimal(ctx, c.settings)
				return best, true, err
			}
			rejected[c.settings.key()] = true
		}
		var more []Settings
		for _, c := range all[:min(kept, len(all))] {
			more = append(more, e.p.neighbours(c.settings)...)
		}
		if fresh = extend(more); len(fresh) == 0 {
			break
		}
	}
	return all[0].settings, false, nil
}

// minimal removes parts of the settings as long as the objective holds without them.
func (e *evaluator) minimal(ctx context.Context, s Settings) (Settings, error) {
	for {
		removed := false
		for _, r := range e.p.removals(s) {
			ok, err := e.holds(ctx, &r.then, e.p.Seed, seedsFor(e.p.Objective.Confidence))
			if err == nil && ok {
				ok, err = e.holds(ctx, &r.then, e.p.Seed+checkedFrom, checkedSeeds)
			}
			if err != nil {
				return s, err
			}
			// A timeout that is not needed in the laboratory still bounds calls that hang for other reasons.
			if ok && r.what != "the timeout" {
				s, removed = r.then, true
				break
			}
		}
		if !removed {
			return s, nil
		}
	}
}
