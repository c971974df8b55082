package simulation_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/simulation"
)

// letters has dead letters from an outage of 60 s, after which half of the capacity is free.
const letters = `
lab: 1
name: letters
duration: 1800
drain: 3600
workload: [{name: w, arrivals: {process: poisson, rate: 10}, machine: {state: S, retry: []}}]
service: {s: {servers: 4, time: {constant: 0.2}, queue: {capacity: 10, rejection: Busy}}}
calls: {S: {service: s, timeout: 2, timeoutError: Slow}}
faults: [{at: 300, for: 60, service: s, errors: {p: 1, after: 0.05, name: Away}}]
`

func redriving(t *testing.T, section string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("p.yaml", []byte("policy: 1\nname: p\n"+section))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRedrive redrives the some 600 dead letters of an outage, at several rates. Every record ends once.
func TestRedrive(t *testing.T) {
	t.Parallel()
	s := parse(t, letters)
	none := run(t, s, named(t, "none"), 1)
	if none.Check.Dead < 550 || none.Check.Dead > 700 {
		t.Fatalf("%d dead letters without a redrive", none.Check.Dead)
	}
	for _, c := range []struct {
		section string
		dead    int64         // at most
		least   int64         // dead at least
		ends    time.Duration // the last redriven record ends by then
	}{
		{"redrive: {rate: auto}", 5, 0, 800 * time.Second},
		{"redrive: {rate: 2}", 0, 0, 1100 * time.Second},
		{"redrive: {rate: 2, quiet: 600}", 0, 0, 1400 * time.Second},
		{"redrive: {rate: all, attempts: 1}", 600, 400, 0},
	} {
		redriven, last := 0, time.Duration(0)
		at := map[int][]time.Duration{}
		o := simulation.Options{
			Scenario: s,
			Policy:   redriving(t, c.section),
			Seed:     1,
			Trace: func(a simulation.Attempt) {
				if at[a.Item] = append(at[a.Item], a.Start); len(at[a.Item]) > 1 {
					redriven, last = redriven+1, a.End
				}
			},
		}
		r, err := simulation.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if k := r.Check; k.Arrived != none.Check.Arrived || k.Arrived != k.Done+k.Dead+k.Open || k.Open != 0 {
			t.Errorf("%s: the records do not add up: %+v", c.section, k)
		}
		if r.Check.Dead > c.dead || r.Check.Dead < c.least || redriven < 550 {
			t.Errorf("%s: %d dead, %d redriven", c.section, r.Check.Dead, redriven)
		}
		if c.ends > 0 && last > c.ends {
			t.Errorf("%s: the last ended at %s", c.section, last)
		}
		for item, starts := range at {
			if len(starts) > 1 && starts[1] < 660*time.Second {
				t.Fatalf("%s: record %d was redriven at %s, before five quiet minutes", c.section, item, starts[1])
			}
		}
		if got := metric(r, "deadLettered"); got != float64(r.Check.Dead) {
			t.Errorf("%s: %v dead letters by the metric, %d by the check", c.section, got, r.Check.Dead)
		}
	}
}

// TestRedrivesAreNewExecutions: a redriven record has all of its retries again, and draws other errors than before.
func TestRedrivesAreNewExecutions(t *testing.T) {
	t.Parallel()
	s := parse(t, strings.Replace(strings.Replace(letters, "retry: []",
		"retry: [{errors: [States.ALL], interval: 1, rate: 1, maxAttempts: 2}]", 1),
		"queue: {capacity: 10", "errors: [{name: E, p: 0.5, kind: load}], queue: {capacity: 10", 1))
	attempts := map[int]int{}
	o := simulation.Options{Scenario: s, Policy: redriving(t, "redrive: {attempts: 2, rate: 1}"), Seed: 2,
		Trace: func(a simulation.Attempt) { attempts[a.Item] = max(attempts[a.Item], a.Number) }}
	if _, err := simulation.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	most := 0
	for _, n := range attempts {
		most = max(most, n)
	}
	if most != 3 {
		t.Errorf("an execution made %d attempts; 3 are allowed", most)
	}
}

// TestPermanentErrorsAreNotRedrivenForEver: records that always fail are dead after Attempts redrives.
func TestPermanentErrorsAreNotRedrivenForEver(t *testing.T) {
	t.Parallel()
	s := parse(t, `
lab: 1
name: wrong
duration: 1200
drain: 3600
workload: [{name: w, arrivals: {process: poisson, rate: 10}, machine: {state: S, retry: []}}]
service: {s: {servers: 10, time: {constant: 0.1}, errors: [{name: Invalid, p: 0.05, by: item, kind: permanent}]}}
calls: {S: {service: s}}
`)
	r := run(t, s, redriving(t, "redrive: {attempts: 3, rate: 20, quiet: 60}"), 3)
	calls := map[int]int{}
	o := simulation.Options{Scenario: s, Policy: redriving(t, "redrive: {attempts: 3, rate: 20, quiet: 60}"), Seed: 3,
		Trace: func(a simulation.Attempt) { calls[a.Item]++ }}
	if _, err := simulation.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for item, n := range calls {
		if n != 1 && n != 4 {
			t.Fatalf("record %d was called %d times; 1 or 4 are right", item, n)
		}
		if n == 4 {
			wrong++
		}
	}
	if r.Check.Dead != int64(wrong) || math.Abs(float64(wrong)/float64(r.Check.Arrived)-0.05) > 0.01 {
		t.Errorf("%d dead, %d wrong of %d", r.Check.Dead, wrong, r.Check.Arrived)
	}
	if fmt.Sprint(r.Check.Open) != "0" {
		t.Errorf("%d records are open", r.Check.Open)
	}
}
