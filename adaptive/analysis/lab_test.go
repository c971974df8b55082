package analysis_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"stepback/adaptive/analysis"
	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/simulation"
	"stepback/retry"
	"stepback/retrypatterns"
)

// What-if answers are compared with the laboratory's result when it really runs the other Retry block on the same
// seeds: the same records meet the same service times and errors.

var began = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// retryYAML formats a Retry array for a scenario.
func retryYAML(all []retrypatterns.Retrier) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "{errors: [%s], interval: %d, rate: %g, maxDelay: %d, maxAttempts: %d, jitter: %s}, ",
			strings.Join(r.ErrorEquals, ", "), r.IntervalSeconds, r.BackoffRate, r.MaxDelaySeconds, r.MaxAttempts,
			r.JitterStrategy)
	}
	return "[" + b.String() + "]"
}

// record runs a scenario, in which RETRY is replaced by the Retry array, and returns its tasks.
func record(t *testing.T, text string, retry []retrypatterns.Retrier, seed uint64) []analysis.Task {
	t.Helper()
	text = strings.ReplaceAll(text, "RETRY", retryYAML(retry))
	s, err := scenario.Parse("scenario.yaml", []byte(text), scenario.Options{})
	if err != nil {
		t.Fatal(err)
	}
	static, err := policy.Named("static")
	if err != nil {
		t.Fatal(err)
	}
	var all []analysis.Task
	var at []int
	_, err = simulation.Run(t.Context(), simulation.Options{
		Scenario: s, Policy: static, Seed: seed, Trace: func(a simulation.Attempt) {
			for a.Item >= len(at) {
				at = append(at, -1)
			}
			if at[a.Item] < 0 {
				at[a.Item] = len(all)
				all = append(all, analysis.Task{
					Execution: fmt.Sprint(a.Item), State: "Save", Callee: "db", Rules: "a",
				})
			}
			x := &all[at[a.Item]]
			x.Attempts = append(x.Attempts,
				analysis.Attempt{Start: began.Add(a.Start), End: began.Add(a.End), Error: a.Error})
			x.Ending = analysis.Done
			if a.Error != "" {
				x.Ending = analysis.GivenUp
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func collect(tasks []analysis.Task, retry []retrypatterns.Retrier) *analysis.Collector {
	var c analysis.Collector
	c.Rules("a", map[string][]retrypatterns.Retrier{"Save": retry})
	for i := range tasks {
		c.Add(tasks[i])
	}
	return &c
}

func whatIf(t *testing.T, c *analysis.Collector, other []retrypatterns.Retrier) *analysis.WhatIf {
	t.Helper()
	w, err := c.WhatIf(map[string][]retrypatterns.Retrier{"Save": other})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// The scenarios: random errors, outages, and both with items that never succeed. The service has spare capacity.
var spacious = []string{
	`errors: [{name: DeadlockException, p: 0.2, after: 0.05}]`,
	`errors: [{name: DeadlockException, p: 0.4}, {name: ValidationError, p: 0.05, kind: permanent, by: item}]`,
	`errors: [{name: DeadlockException, p: 0.02}], FAULTS: [{at: 200, for: 30, service: db, errors: {p: 1, after: 0.05, name: Away}}]`,
	`errors: [{name: DeadlockException, p: 0.05}], FAULTS: [{at: 100, for: 60, service: db, errors: {p: 0.7, after: 0.05, name: Away}}, {at: 300, for: 20, service: db, errors: {p: 1, after: 0.05, name: Away}}]`,
	`errors: [{name: DeadlockException, p: 0.1}], FAULTS: [{gilbert: {meanGood: 120, meanBad: 20}, service: db, errors: {p: 0.8, name: Away}}]`,
}

func spaciousText(which int) string {
	service, faults, _ := strings.Cut(spacious[which], ", FAULTS: ")
	if faults != "" {
		faults = "\nfaults: " + faults
	}
	return fmt.Sprintf(`
lab: 1
name: spacious
duration: 500
workload: [{name: w, arrivals: {process: poisson, rate: 8}, machine: {state: Save, retry: RETRY}}]
service: {db: {servers: 500, time: {lognormal: {mean: 0.2, cv: 1}}, %s}}
calls: {Save: {service: db}}%s
`, service, faults)
}

func retrier(interval, attempts int, rate float64, errors ...string) retrypatterns.Retrier {
	return retrypatterns.Retrier{ErrorEquals: errors, IntervalSeconds: interval, MaxAttempts: attempts,
		BackoffRate: rate, MaxDelaySeconds: 30, JitterStrategy: retry.JitterFull}
}

func succeeded(tasks []analysis.Task) (n int) {
	for i := range tasks {
		if tasks[i].Ending == analysis.Done {
			n++
		}
	}
	return n
}

func calls(tasks []analysis.Task) (n int) {
	for i := range tasks {
		n += len(tasks[i].Attempts)
	}
	return n
}

// If the other Retry block only stops earlier, the answer matches the laboratory exactly, to the call.
func TestExactIsWhatTheLaboratoryDoes(t *testing.T) {
	t.Parallel()
	before := []retrypatterns.Retrier{retrier(2, 4, 1.8, "Away", "DeadlockException"), retrier(1, 2, 2, "ValidationError")}
	fewer := func(attempts ...int) []retrypatterns.Retrier {
		other := make([]retrypatterns.Retrier, len(before))
		for i, r := range before {
			r.MaxAttempts = attempts[i]
			other[i] = r
		}
		return other
	}
	others := [][]retrypatterns.Retrier{fewer(0, 0), fewer(1, 2), fewer(2, 0), fewer(3, 1)}
	pairs := 0
	for which := range spacious {
		for seed := range uint64(10) {
			recorded := record(t, spaciousText(which), before, 10_000+seed)
			c := collect(recorded, before)
			for _, other := range others {
				w := whatIf(t, c, other)
				truth := record(t, spaciousText(which), other, 10_000+seed)
				got := w.States[0]
				pairs++
				if w.Level != analysis.Exact || *got.Low != *got.High ||
					got.Low.Succeeded != float64(succeeded(truth)) || got.Low.Calls != float64(calls(truth)) {
					t.Fatalf("scenario %d, seed %d: %s says %+v to %+v, and it is %d succeeded by %d calls",
						which, seed, w.Level, got.Low, got.High, succeeded(truth), calls(truth))
				}
			}
		}
	}
	if pairs != 200 {
		t.Errorf("there were %d pairs, want 200", pairs)
	}
}

// If it waits differently or retries more often, the laboratory's result lies within the bounds in nine of ten cases.
func TestBracketsHoldWhatTheLaboratoryDoes(t *testing.T) {
	t.Parallel()
	before := []retrypatterns.Retrier{retrier(2, 2, 1.8, "Away", "DeadlockException"), retrier(1, 1, 2, "ValidationError")}
	others := [][]retrypatterns.Retrier{
		{retrier(2, 4, 1.8, "Away", "DeadlockException"), retrier(1, 1, 2, "ValidationError")},
		{retrier(8, 2, 2, "Away", "DeadlockException"), retrier(1, 3, 2, "ValidationError")},
		{retrier(1, 1, 1.8, "Away"), retrier(2, 5, 1.5, "DeadlockException")},
		{retrier(15, 4, 2, "States.ALL")},
	}
	pairs, within, width := 0, 0, 0.0
	for which := range spacious {
		for seed := range uint64(10) {
			c := collect(record(t, spaciousText(which), before, 20_000+seed), before)
			for _, other := range others {
				w := whatIf(t, c, other)
				truth := float64(succeeded(record(t, spaciousText(which), other, 20_000+seed)))
				got := w.States[0]
				if w.Level != analysis.Bracketed {
					t.Fatalf("scenario %d, seed %d: the level is %s: %v", which, seed, w.Level, w.Reasons)
				}
				pairs++
				if got.Low.Succeeded <= truth && truth <= got.High.Succeeded {
					within++
				} else {
					t.Logf("scenario %d, seed %d: %.1f to %.1f, and it is %.0f of %d; recorded %.0f", which, seed,
						got.Low.Succeeded, got.High.Succeeded, truth, got.Tasks, got.Recorded.Succeeded)
				}
				width += (got.High.Succeeded - got.Low.Succeeded) / float64(got.Tasks)
			}
		}
	}
	t.Logf("%d of %d within, mean width %.2f %%", within, pairs, 100*width/float64(pairs))
	if pairs != 200 || within < 180 {
		t.Errorf("%d of %d answers hold what happened, want at least 180 of 200", within, pairs)
	}
	if mean := width / float64(pairs); math.IsNaN(mean) || mean > 0.1 {
		t.Errorf("the brackets are %.1f %% of the tasks wide on average, which says little", 100*mean)
	}
}
