package analysis_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"stepback/adaptive/analysis"
	"stepback/adaptive/lab/draw"
	"stepback/retrypatterns"
)

// The records of these tests come from the laboratory, whose callee is known.

// mapRun is a Map of 1,000 items on a callee. In an outage all calls fail at once.
const mapRun = `
lab: 1
name: rows
duration: 60
workload: [{name: w, map: {items: 1000, maxConcurrency: %d}, machine: {state: Save, retry: RETRY}}]
service: {db: {servers: %d, time: {lognormal: {mean: %.6g, cv: 0.5}}, queue: {capacity: 1000}}}
calls: {Save: {service: db, timeout: 60}}
`

const outage = "faults: [{at: 2, for: 20, service: db, errors: {p: 1, after: 0.005, name: Away}}]\n"

// stream is a stream of calls for ten minutes.
const stream = `
lab: 1
name: stream
duration: 600
workload: [{name: w, arrivals: {process: poisson, rate: %d}, machine: {state: Save, retry: RETRY}}]
service: {db: {servers: %d, time: {lognormal: {mean: %.6g, cv: 0.5}}, queue: {capacity: 1000}}}
calls: {Save: {service: db, timeout: 60}}
`

var away = []retrypatterns.Retrier{{ErrorEquals: []string{"Away"}, IntervalSeconds: 60, MaxAttempts: 2, BackoffRate: 2,
	MaxDelaySeconds: 600, JitterStrategy: "FULL"}}

// known collects records, one after the other, an hour apart.
func known(t *testing.T, texts ...string) *analysis.Collector {
	t.Helper()
	var c analysis.Collector
	for i, text := range texts {
		shift := time.Duration(i) * time.Hour
		for _, task := range record(t, text, away, uint64(i+1)) {
			if strings.Contains(text, "map:") {
				task.MapRun = fmt.Sprint("run ", i)
			}
			for k := range task.Attempts {
				task.Attempts[k].Start = task.Attempts[k].Start.Add(shift)
				task.Attempts[k].End = task.Attempts[k].End.Add(shift)
			}
			c.Add(task)
		}
	}
	return &c
}

func fit(t *testing.T, c *analysis.Collector) *analysis.Fit {
	t.Helper()
	f, err := c.Fit("Save")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// contains reports whether an interval contains a number and is at most most times as wide.
func contains(b analysis.Bounds, x, most float64) bool {
	return b.Low <= x && x <= b.High && b.High-b.Low <= most*x
}

// A Map keeps ten calls in flight on five servers, so a call takes twice its own time. After an outage the last
// retries come one by one and take only that. The fit separates both, so its capacity is that of the callee.
func TestTheTimeOfACallIsNotThatOfWaiting(t *testing.T) {
	t.Parallel()
	run := fmt.Sprintf(mapRun, 10, 5, 0.025)
	f := fit(t, known(t, run, run+outage, run, run+outage))
	if !f.Slowed || f.Saturated || f.Periods != 4 || !contains(f.Mean, 0.025, 0.15) ||
		f.Servers.Low < 5 || f.Servers.High > 5 {
		t.Errorf("fitted %+v", f)
	}
	// The calls of calm runs alone find ten in flight. Whatever the callee's own time is, ten in flight take 0.05 s.
	runs := make([]string, 12)
	for i := range runs {
		runs[i] = run
	}
	f = fit(t, known(t, runs...))
	capacity := analysis.Bounds{Low: f.Servers.Low / f.Mean.High, High: f.Servers.High / f.Mean.Low}
	if f.Few != 10 || f.Many != 10 || f.Periods != 12 || !contains(capacity, 200, 0.15) {
		t.Errorf("fitted %+v with %+v calls/s", f, capacity)
	}
	// Twenty servers are not slowed by ten calls.
	run = fmt.Sprintf(mapRun, 10, 20, 0.05)
	f = fit(t, known(t, run, run+outage, run, run+outage))
	if f.Slowed || !contains(f.Mean, 0.05, 0.15) || f.Servers.High != 10 || f.Servers.Low < 9 {
		t.Errorf("fitted %+v", f)
	}
}

// A callee that is slow for another reason has more calls in flight. They do not slow it.
func TestASlowPeriodIsNoQueue(t *testing.T) {
	t.Parallel()
	f := fit(t, known(t, fmt.Sprintf(stream, 20, 1000, 0.2), fmt.Sprintf(stream, 20, 1000, 0.3)))
	if f.Slowed || f.Saturated || f.Mean.Low > 0.2 || f.Mean.High < 0.3 {
		t.Errorf("fitted %+v", f)
	}
	// Three servers at 60 % of their capacity are seen by their queue.
	f = fit(t, known(t, fmt.Sprintf(stream, 9, 3, 0.2)))
	if !contains(f.Mean, 0.2, 0.2) || f.Servers.Low > 3 || f.Servers.High < 3 || f.Servers.High > 4 {
		t.Errorf("fitted %+v", f)
	}
}

// The interval of the mean contains that of a further period in nine of ten cases, and its width follows from the
// variation between the periods. One period alone says so.
func TestTheVariationBetweenPeriodsWidensTheInterval(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		periods   int
		spread    float64 // standard deviation of the logarithm
		low, high float64 // share of further periods in the interval
	}{{2, 0.2, 0.85, 0.95}, {3, 0.05, 0.85, 0.97}, {4, 0.2, 0.85, 0.95}, {7, 0.3, 0.85, 0.95}} {
		const repetitions = 200
		inside := 0
		random := draw.Of(uint64(c.periods), 903, 0, 0)
		mean := func() float64 { return 0.05 * math.Exp(c.spread*random.Normal()) }
		for range repetitions {
			var found analysis.Collector
			for p := range c.periods {
				m := mean()
				for i := range 300 { // one call at a time, with a time that varies by a tenth
					at := began.Add(time.Duration(p)*time.Hour + time.Duration(i)*200*time.Millisecond)
					took := time.Duration(m * (1 + 0.1*random.Normal()) * float64(time.Second))
					found.Add(analysis.Task{State: "Save", Callee: "db", MapRun: fmt.Sprint(p), Ending: analysis.Done,
						Attempts: []analysis.Attempt{{Start: at, End: at.Add(took)}}})
				}
			}
			f := fit(t, &found)
			if f.Periods != c.periods {
				t.Fatalf("%d periods", f.Periods)
			}
			if x := mean(); f.Mean.Low <= x && x <= f.Mean.High {
				inside++
			}
		}
		share := float64(inside) / repetitions
		t.Logf("%d periods, spread %.2f: %.1f %%", c.periods, c.spread, 100*share)
		if share < c.low || share > c.high {
			t.Errorf("%d periods, spread %.2f: %.1f %% of the further periods lie in the interval of 90 %%", c.periods, c.spread,
				100*share)
		}
	}
	f := fit(t, known(t, fmt.Sprintf(mapRun, 1, 20, 0.06)))
	middle := (f.Mean.Low + f.Mean.High) / 2
	if f.Periods != 1 || math.Abs(middle-0.06) > 0.003 || f.Mean.High-f.Mean.Low > 0.006 {
		t.Errorf("fitted %+v", f)
	}
}

// Between two periods a difference is variation; four slow ones after four fast ones are a change.
func TestAChangeIsToldFromVariation(t *testing.T) {
	t.Parallel()
	fast, slow := fmt.Sprintf(mapRun, 10, 20, 0.05), fmt.Sprintf(mapRun, 10, 20, 0.08)
	f := fit(t, known(t, fast, slow))
	if f.Mean.Low > 0.05 || f.Mean.High < 0.08 || f.Periods != 2 {
		t.Errorf("fitted %+v", f)
	}
	_, err := known(t, fast, fast, fast, fast, slow, slow, slow, slow).Fit("Save")
	if !errors.Is(err, analysis.ErrChanged) {
		t.Errorf("%v, want ErrChanged", err)
	}
	if f := fit(t, known(t, fast, slow, fast, slow, slow, fast, slow, fast)); f.Mean.Low > 0.05 || f.Mean.High < 0.08 {
		t.Errorf("fitted %+v", f)
	}
}
