package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/simulation"
)

// metric returns one of a result's metrics.
func metric(r *simulation.Result, name string) float64 {
	return r.Values[slices.Index(scenario.Metrics, name)]
}

func TestTheSameSeedGivesTheSameResult(t *testing.T) {
	t.Parallel()
	s := parse(t, blip)
	for _, name := range policy.Names() {
		a, b := run(t, s, named(t, name), 5), run(t, s, named(t, name), 5)
		if fmt.Sprintf("%+v", a) != fmt.Sprintf("%+v", b) {
			t.Errorf("%s: two runs with one seed differ", name)
		}
		if c := run(t, s, named(t, name), 6); reflect.DeepEqual(a.Bins, c.Bins) {
			t.Errorf("%s: another seed gives the same bins", name)
		}
	}
}

// A record's attempt draws the same numbers under every policy: the same arrival, and the same service time or error.
func TestPoliciesAreComparedOnTheSameFate(t *testing.T) {
	t.Parallel()
	s := parse(t, `
lab: 1
name: fate
duration: 300
workload: [{name: w, arrivals: {process: poisson, rate: 20}, machine: {state: S, retry: "pattern:database_optimized"}}]
service:
  s:
    servers: 1000
    time: {lognormal: {mean: 0.2, cv: 2}}
    errors: [{name: E, p: 0.3, kind: load}, {name: F, p: 0.1, by: item}]
calls: {S: {service: s}}
`)
	type key struct{ item, number int }
	fates := map[key]string{}
	shared := 0
	for _, name := range []string{"static", "none", "bucket", "breaker", "adaptive", "oracle"} {
		c := simulation.Options{Scenario: s, Policy: named(t, name), Seed: 3}
		c.Trace = func(a simulation.Attempt) {
			fate := fmt.Sprint(a.End-a.Start, a.Error)
			if a.Number == 1 && name != "breaker" && name != "adaptive" {
				fate += a.Start.String()
			}
			k := key{a.Item, a.Number}
			if name == "breaker" || name == "adaptive" {
				k.item += 1 << 30 // these may start later, so they are compared only with one another
			}
			if before, ok := fates[k]; ok && before != fate {
				t.Fatalf("record %d, attempt %d: %s under %s and %s before", a.Item, a.Number, fate, name, before)
			} else if ok {
				shared++
			}
			fates[k] = fate
		}
		if _, err := simulation.Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if shared < 10_000 {
		t.Errorf("only %d attempts were compared", shared)
	}
}

func TestOneOutageUnderThePolicies(t *testing.T) {
	t.Parallel()
	s := parse(t, blip)
	for name, success := range map[string][2]float64{
		"none": {0.98, 0.995}, "static": {0.05, 0.2}, "bucket": {0.98, 0.995}, "adaptive": {0.9999, 1},
		"oracle": {1, 1},
	} {
		r := run(t, s, named(t, name), 1)
		if got := metric(r, "success"); got < success[0] || got > success[1] {
			t.Errorf("%s: success is %.4f, want %v to %v", name, got, success[0], success[1])
		}
		if recovered := !math.IsInf(metric(r, "timeToRecover"), 1); recovered != (name != "static") {
			t.Errorf("%s: recovered is %v", name, recovered)
		}
	}
}

// A record that the limiter refuses for the moment waits 2 s and then 4 s. One that is refused a third time, or while
// many are, waits 100 s.
func TestMomentaryRefusalsWaitBriefly(t *testing.T) {
	t.Parallel()
	s := parse(t, `
lab: 1
name: two-at-a-time
duration: 20000
workload: [{name: w, arrivals: {process: poisson, rate: 0.2}, machine: {state: Call, retry: []}}]
service: {s: {servers: 2, time: 3, queue: {capacity: 1}}}
calls: {Call: {service: s, timeout: 10, timeoutError: TimeoutError, cost: lambda-1024}}
`)
	p, err := policy.Parse("p.yaml", []byte(`
policy: 1
name: p
limiter: {initial: 2, max: 2}
deferral:
  {interval: 100, rate: 1, maxDelay: 101, maxAttempts: 20, jitter: NONE,
   brief: {interval: 2, rate: 2, maxDelay: 4, maxAttempts: 2, jitter: NONE}}
`))
	if err != nil {
		t.Fatal(err)
	}
	type wait struct {
		brief int // the number of brief waits before, or −1
		began time.Duration
	}
	waits, briefs, seen := map[int]wait{}, map[int]int{}, map[int]int{}
	ended := func(item int, at time.Duration) {
		w, waiting := waits[item]
		if !waiting {
			return
		}
		want := map[int]time.Duration{-1: 100 * time.Second, 0: 2 * time.Second, 1: 4 * time.Second}[w.brief]
		if at-w.began != want {
			t.Errorf("record %d waited %s after %d brief waits, want %s", item, at-w.began, w.brief, want)
		}
		seen[w.brief]++
		delete(waits, item)
	}
	_, err = simulation.Run(t.Context(), simulation.Options{Scenario: s, Policy: p, Seed: 1,
		Refused: func(r simulation.Refusal) {
			ended(r.Item, r.At)
			w := wait{-1, r.At}
			if r.Brief {
				w.brief = briefs[r.Item]
				briefs[r.Item]++
			}
			waits[r.Item] = w
		},
		Trace: func(a simulation.Attempt) { ended(a.Item, a.Start) },
	})
	if err != nil || seen[-1] == 0 || seen[0] == 0 || seen[1] == 0 {
		t.Errorf("%v; waits by kind: %v", err, seen)
	}
}

func TestStaleLimitersStillProtect(t *testing.T) {
	t.Parallel()
	s := parse(t, blip)
	for staleness, least := range map[time.Duration]float64{time.Second: 0.98, 10 * time.Second: 0.7} {
		p := *named(t, "adaptive")
		p.Staleness = staleness
		if got := metric(run(t, s, &p, 1), "success"); got < least {
			t.Errorf("success is %.4f with %s of staleness, want at least %v", got, staleness, least)
		}
	}
}

func TestMapsRunAsManyAsTheyMay(t *testing.T) {
	t.Parallel()
	s := parse(t, `
lab: 1
name: map
duration: 100
workload: [{name: w, map: {items: 1003, maxConcurrency: 7, start: 5, batch: 10}, machine: {state: S, retry: none}}]
service: {s: {servers: 100, time: {constant: 0.1}}}
calls: {S: {service: s, cost: lambda-512}}
`)
	r := run(t, s, named(t, "none"), 1)
	// 101 children of one second each, except the last with 0.3 s, seven at a time: 14 rounds, and 3 children in the
	// last one.
	if got := metric(r, "timeToDrain"); math.Abs(got-15) > 1e-9 {
		t.Errorf("the Map lasts %v s, want 15", got)
	}
	if r.Check.Done != 1003 || r.Check.Calls != 101 {
		t.Errorf("%d records done with %d calls, want 1003 and 101", r.Check.Done, r.Check.Calls)
	}
	// One transition and one invocation each, and 100.3 s of half a GB.
	if want := 101*25e-6 + 101*0.2e-6 + 100.3/2*0.0000166667; math.Abs(metric(r, "costUSD")-want) > 1e-9 {
		t.Errorf("it costs %v, want %v", metric(r, "costUSD"), want)
	}
}

func TestRunsStopWithTheirContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := simulation.Run(ctx, simulation.Options{Scenario: parse(t, blip),
		Policy: named(t, "none")}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want that of the context", err)
	}
}

// Events allocate nothing: a run with twenty times as many records makes hardly more allocations.
func TestEventsAllocateNothing(t *testing.T) {
	counts := map[int]float64{}
	for _, duration := range []int{200, 4000} {
		s, p := parse(t, queue(20, duration, 5, "{exp: 0.2}", endless, ", timeout: 2")), named(t, "adaptive")
		counts[duration] = testing.AllocsPerRun(2, func() { run(t, s, p, 1) })
	}
	// The controller, which decides once a minute, may allocate.
	if more := counts[4000] - counts[200]; more > 5000 {
		t.Errorf("76,000 more records make %.0f more allocations", more)
	}
}

func ExampleRun() {
	s, err := scenario.Parse("blip.yaml", []byte(blip), scenario.Options{})
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"static", "none", "adaptive"} {
		p, err := policy.Named(name)
		if err != nil {
			panic(err)
		}
		r, err := simulation.Run(context.Background(), simulation.Options{Scenario: s, Policy: p, Seed: 1})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %.0f %% of the records are saved\n", name, 100*r.Values[0])
	}
	// Output:
	// static: 9 % of the records are saved
	// none: 99 % of the records are saved
	// adaptive: 100 % of the records are saved
}
