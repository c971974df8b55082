package simulation_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/simulation"
)

func static(t *testing.T) *policy.Policy {
	t.Helper()
	p, err := policy.Named("static")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Retries multiply through tiers: 1 + 2 attempts of the state, each with 1 + 3 calls of the service in between, are 12
// calls of the last one for a record that never succeeds.
func TestRetriesMultiplyThroughTiers(t *testing.T) {
	t.Parallel()
	s := parse(t, `
lab: 1
name: tiers
duration: 100
workload: [{name: w, arrivals: {process: constant, rate: 5}, machine: {state: S, retry: [{errors: [States.ALL], maxAttempts: 2}]}}]
service:
  last: {servers: 1000, time: 0.01, errors: [{name: ServiceUnavailableError, p: 1, after: 0.01}]}
  middle:
    servers: 1000
    time: 0.02
    calls: {service: last, timeout: 1, retry: [{errors: [ServiceUnavailableError], interval: 1, rate: 1, maxAttempts: 3}]}
calls: {S: {service: middle}}
`)
	attempts := map[int]int{}
	var took []float64
	r, err := simulation.Run(t.Context(), simulation.Options{Scenario: s, Policy: static(t), Seed: 1,
		Trace: func(a simulation.Attempt) {
			attempts[a.Number]++
			took = append(took, (a.End - a.Start).Seconds())
		}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Check.Arrived != 500 || r.Check.Dead != 500 || r.Check.Calls != 1500 || r.Check.Asked != 6000 {
		t.Errorf("%+v; want 500 dead records, 1,500 calls of the first tier and 6,000 of the last", r.Check)
	}
	// An attempt takes the middle's work, four failing calls and three waits of a second.
	if want := 0.02 + 4*0.01 + 3; math.Abs(slices.Min(took)-want) > 1e-6 || math.Abs(slices.Max(took)-want) > 1e-6 {
		t.Errorf("attempts take %v to %v s, want %v", slices.Min(took), slices.Max(took), want)
	}
}

// A service holds its servers while it waits for the next one. If it does not wait any longer, the next one works on.
func TestATierThatTimesOutLeavesWorkBehind(t *testing.T) {
	t.Parallel()
	s := parse(t, `
lab: 1
name: slow
duration: 100
workload: [{name: w, arrivals: {process: constant, rate: 1}, machine: {state: S, retry: none}}]
service:
  last: {servers: 1000, time: 5}
  middle: {servers: 1000, time: 0.5, calls: {service: last, timeout: 2, retry: [{errors: [States.Timeout], interval: 1, maxAttempts: 1}]}}
calls: {S: {service: middle}}
`)
	r := run(t, s, static(t), 1)
	if r.Check.Dead != 100 || r.Check.Asked != 200 || math.Abs(r.Check.Worked-1000) > 1e-6 {
		t.Errorf("%+v; want 100 dead records whose 200 calls keep the last tier busy for 1,000 s", r.Check)
	}
}

// Behind a tier with servers to spare, Poisson arrivals remain Poisson, and the next tier waits as M/M/c does.
func TestTheLastTierIsAQueueOfItsOwn(t *testing.T) {
	t.Parallel()
	s := parse(t, `
lab: 1
name: tandem
duration: 4000
warmup: 400
drain: 10000
workload: [{name: w, arrivals: {process: poisson, rate: 8}, machine: {state: S, retry: none}}]
service:
  last: {servers: 2, time: {exp: 0.2}, queue: {capacity: 100000}}
  middle: {servers: 100000, time: {exp: 0.5}, calls: {service: last}}
calls: {S: {service: middle}}
`)
	agrees(t, "wait of the last tier", erlangC(2, 1.6)/(10-8), 0.003, func(seed uint64) float64 {
		return run(t, s, static(t), seed).Check.Waited
	})
}

// A token bucket lets its burst through and then its rate. The test counts by itself what it admits.
func TestQuotaIsATokenBucket(t *testing.T) {
	t.Parallel()
	s := parse(t, `
lab: 1
name: quota
duration: 100
workload: [{name: w, arrivals: {process: constant, rate: 10}, machine: {state: S, retry: none}}]
service: {api: {servers: 1000, time: 0.1, quota: {rate: 4, burst: 20}}}
calls: {S: {service: api}}
`)
	tokens, admitted := 20.0, int64(0)
	for i := range 1000 {
		if i > 0 {
			tokens = min(20, tokens+0.4)
		}
		if tokens > 1-1e-6 {
			tokens--
			admitted++
		}
	}
	r := run(t, s, static(t), 1)
	if r.Check.Asked != admitted || r.Check.Throttled != 1000-admitted || r.Check.Dead != 1000-admitted {
		t.Errorf("%+v; want %d admitted and %d throttled calls", r.Check, admitted, 1000-admitted)
	}
	if math.Abs(float64(admitted)-(20+4*100)) > 1 {
		t.Errorf("%d calls are admitted, want burst + rate × time, 420", admitted)
	}
}

// TestLambdasRamp sends 2,000 calls a second, of 100 s each, to a function: 1,000 environments start at once and 100
// more each second, so that after 10 s 2,000 calls have been admitted; calls on warm environments need no more.
func TestLambdasRamp(t *testing.T) {
	t.Parallel()
	s := parse(t, `
lab: 1
name: ramp
duration: 10
drain: 200
workload: [{name: w, arrivals: {process: constant, rate: 2000}, machine: {state: S, retry: none}}]
service: {f: {servers: 100000, time: {constant: 100}, coldStart: {time: {constant: 0.5}, ramp: lambda}}}
calls: {S: {service: f}}
`)
	r := run(t, s, static(t), 1)
	if r.Check.Cold != r.Check.Asked || math.Abs(float64(r.Check.Cold-2000)) > 1 ||
		r.Check.Throttled+r.Check.Cold != r.Check.Arrived {
		t.Errorf("%+v; want 2,000 cold starts and the other calls throttled", r.Check)
	}
	short := parse(t, `
lab: 1
name: warm
duration: 10
drain: 10
workload: [{name: w, arrivals: {process: constant, rate: 2000}, machine: {state: S, retry: none}}]
service: {f: {servers: 100000, time: {constant: 0.1}, coldStart: {time: {constant: 0.001}, ramp: {servers: 250, every: 1000}}}}
calls: {S: {service: f}}
`)
	if r := run(t, short, static(t), 1); r.Check.Throttled != 0 || r.Check.Cold < 200 || r.Check.Cold > 203 {
		t.Errorf("%+v; want a cold start for each of the 202 calls at a time and nothing throttled", r.Check)
	}
}

// Partitions are queues of their own: 30 % of 10 calls a second wait at the hot one, 7.8 % at each other.
func TestHotPartitions(t *testing.T) {
	t.Parallel()
	s := parse(t, `
lab: 1
name: hot
duration: 4000
warmup: 400
drain: 10000
workload: [{name: w, arrivals: {process: poisson, rate: 20}, machine: {state: S, retry: none}}]
service: {db: {servers: 1, partitions: {count: 10, hot: 0.3}, time: {exp: 0.1}, queue: {capacity: 100000}}}
calls: {S: {service: db}}
`)
	wait := func(rate float64) float64 { return rate / 10 / (10 - rate) }
	agrees(t, "wait", 0.3*wait(6)+0.7*wait(14.0/9), 0.002, func(seed uint64) float64 {
		return run(t, s, static(t), seed).Check.Waited
	})
}

// Half of the capacity has two meanings: half as many servers, or servers that take twice as long. Waits differ.
func TestCapacityHasTwoMeanings(t *testing.T) {
	t.Parallel()
	text := `
lab: 1
name: half
duration: 4000
warmup: 400
drain: 10000
workload: [{name: w, arrivals: {process: poisson, rate: 15}, machine: {state: S, retry: none}}]
service: {db: {servers: 4, time: {exp: 0.1}, queue: {capacity: 100000}}}
calls: {S: {service: db}}
faults: [{at: 0, for: 14000, service: db, %s: 0.5}]
`
	for member, want := range map[string]float64{
		"servers":  erlangC(2, 1.5) / (20 - 15), // M/M/2 with a mean of 0.1 s
		"capacity": erlangC(4, 3) / (20 - 15),   // M/M/4 with 0.2 s
	} {
		s := parse(t, fmt.Sprintf(text, member))
		agrees(t, member, want, 0.004, func(seed uint64) float64 { return run(t, s, static(t), seed).Check.Waited })
	}
}

// With one call at a time, a start is cold if nothing was called for longer than servers are kept: e^(−λ·keep).
func TestColdStarts(t *testing.T) {
	t.Parallel()
	s := parse(t, `
lab: 1
name: cold
duration: 20000
workload: [{name: w, arrivals: {process: poisson, rate: 0.1}, machine: {state: S, retry: none}}]
service: {f: {servers: 1000, time: 0.000001, coldStart: {time: 0.000001, keep: 10}}}
calls: {S: {service: f}}
`)
	agrees(t, "share of cold starts", math.Exp(-1), 0.001, func(seed uint64) float64 {
		c := run(t, s, static(t), seed).Check
		return float64(c.Cold) / float64(c.Begun)
	})
	burst := parse(t, `
lab: 1
name: burst
duration: 100
workload: [{name: w, map: {items: 300, maxConcurrency: 30}, machine: {state: S, retry: none}}]
service: {f: {servers: 1000, time: 1, coldStart: {time: 2, keep: 60}}}
calls: {S: {service: f}}
`)
	r := run(t, burst, static(t), 1)
	if r.Check.Cold != 30 || math.Abs(r.Check.Worked-(300*1+30*2)) > 1e-6 {
		t.Errorf("%+v; want a cold start for each of 30 at a time, which take 360 s together", r.Check)
	}
}

// A key that is kept for T from its miss is hit with probability λT ÷ (1 + λT), where λ is the rate of its calls.
func TestCache(t *testing.T) {
	t.Parallel()
	s := parse(t, `
lab: 1
name: cache
duration: 4000
workload: [{name: w, arrivals: {process: poisson, rate: 20}, machine: {state: S, retry: none}}]
service: {db: {servers: 1000, time: 0.000001, cache: {keys: 100, keep: 10, time: 0}}}
calls: {S: {service: db}}
`)
	agrees(t, "share of hits", 2.0/3, 0.002, func(seed uint64) float64 {
		c := run(t, s, static(t), seed).Check
		return float64(c.Hits) / float64(c.Begun)
	})
	emptied := parse(t, `
lab: 1
name: emptied
duration: 100
workload: [{name: w, arrivals: {process: constant, rate: 1}, machine: {state: S, retry: none}}]
service: {db: {servers: 10, time: 0.5, cache: {keys: 1, time: 0.1}}}
calls: {S: {service: db}}
faults: [{at: 49.9, for: 1, service: db, cache: empty}]
`)
	r := run(t, emptied, static(t), 1)
	if r.Check.Hits != 98 || math.Abs(r.Check.Worked-(98*0.1+2*0.5)) > 1e-6 {
		t.Errorf("%+v; want two misses: the first call, and the one after the cache was emptied", r.Check)
	}
}

// An autoscaler sees 5 servers saturated by 20 calls a second at the end of each minute and aims at 10, which come two
// minutes later. Until then 10 calls a second are done; from then on 20, by arithmetic.
func TestAutoscalerIsLate(t *testing.T) {
	t.Parallel()
	s := parse(t, `
lab: 1
name: autoscaler
duration: 230
workload: [{name: w, arrivals: {process: constant, rate: 20}, machine: {state: S, retry: none}}]
service: {db: {servers: 5, time: 0.5, queue: {capacity: 100000}, autoscale: {max: 100, target: 0.5, every: 60, delay: 120}}}
calls: {S: {service: db}}
`)
	r := run(t, s, static(t), 1)
	for i := 1; i < 23; i++ {
		want := int32(100)
		if i >= 18 {
			want = 200
		}
		if got := r.Bins[i].Done; i != 18 && math.Abs(float64(got-want)) > 5 {
			t.Errorf("%d done from %d s, want %d", got, 10*i, want)
		}
	}
}

// A workload with a policy of its own follows it whatever policy is compared: it is another client.
func TestAnotherClientHasItsOwnPolicy(t *testing.T) {
	t.Parallel()
	text := `
lab: 1
name: clients
duration: 300
workload:
  - {name: ours, arrivals: {process: constant, rate: 2}, machine: {state: S, retry: [{errors: [States.ALL], maxAttempts: 1}]}}
  - {name: theirs, policy: %s, arrivals: {process: constant, rate: 2}, machine: {state: S, retry: [{errors: [States.ALL], maxAttempts: 5}]}}
service: {db: {servers: 100, time: 0.1}}
calls: {S: {service: db}}
faults: [{at: 100, for: 50, service: db, errors: {p: 1}}]
`
	for name, most := range map[string]int{"none": 1, "static": 6} {
		s := parse(t, fmt.Sprintf(text, name))
		adaptive, err := policy.Named("adaptive")
		if err != nil {
			t.Fatal(err)
		}
		var calls, highest [2]int
		_, err = simulation.Run(t.Context(), simulation.Options{Scenario: s, Policy: adaptive, Seed: 1,
			Trace: func(a simulation.Attempt) {
				if a.Start.Seconds() >= 100 && a.Start.Seconds() < 150 && a.Number == 1 {
					calls[a.Workload]++
				}
				highest[a.Workload] = max(highest[a.Workload], a.Number)
			}})
		if err != nil {
			t.Fatal(err)
		}
		if highest[1] != most || calls[1] != 100 || calls[0] >= 50 {
			t.Errorf(
				"%s: up to %d attempts and %d first calls in the outage, ours make %d; want %d, 100 and fewer than 50",
				name,
				highest[1],
				calls[1],
				calls[0],
				most,
			)
		}
	}
	for name, want := range map[string]string{"wild": `there is no policy "wild"`, "adaptive": "not one that a client can have"} {
		_, err := simulation.Run(t.Context(), simulation.Options{Scenario: parse(t, fmt.Sprintf(text, name)),
			Policy: static(t)})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "workload theirs") {
			t.Errorf("error is %v, want %q and the workload in it", err, want)
		}
	}
}

// A poison record holds a server for ten seconds in each of its attempts.
func TestPoisonRecords(t *testing.T) {
	t.Parallel()
	s := parse(t, `
lab: 1
name: poison
duration: 1000
workload: [{name: w, arrivals: {process: constant, rate: 10}, machine: {state: S, retry: [{errors: [States.ALL], maxAttempts: 3}]}}]
service: {db: {servers: 1000, time: 0.1, errors: [{name: E, p: 0.04, after: 10, kind: permanent, by: item}]}}
calls: {S: {service: db}}
`)
	r := run(t, s, static(t), 1)
	want := float64(r.Check.Done)*0.1 + float64(r.Check.Dead)*4*10
	if math.Abs(r.Check.Worked-want) > 1e-3 || math.Abs(float64(r.Check.Dead)-400) > 3.5*math.Sqrt(400) {
		t.Errorf("%+v; want %.1f s of work, and about 400 of 10,000 records dead", r.Check, want)
	}
}

// The trace of an incident gives the same run as its windows written out.
func TestTraceOfAnIncident(t *testing.T) {
	t.Parallel()
	text := `
lab: 1
name: incident
duration: 600
workload: [{name: w, arrivals: {process: poisson, rate: 5}, machine: {state: S, retry: [{errors: [States.ALL], jitter: FULL}]}}]
service: {db: {servers: 2, time: {exp: 0.2}}}
calls: {S: {service: db, timeout: 2}}
faults: [%s]
`
	options := scenario.Options{ReadFile: func(string) ([]byte, error) {
		return []byte("seconds,speed,errors\n0,1,0\n60,0.5,0\n120,0,0\n150,1,0.3\n200,1,0\n"), nil
	}}
	traced, err := scenario.Parse(
		"incident.yaml",
		fmt.Appendf(nil, text, "{trace: incident.csv, service: db}"),
		options,
	)
	if err != nil {
		t.Fatal(err)
	}
	if len(traced.Faults) != 3 {
		t.Fatalf("%d windows, want 3", len(traced.Faults))
	}
	written := parse(
		t,
		fmt.Sprintf(
			text,
			"{at: 60, for: 60, service: db, capacity: 0.5}, {at: 120, for: 30, service: db, capacity: 0}, "+
				"{at: 150, for: 50, service: db, errors: {p: 0.3}}",
		),
	)
	a, b := run(t, traced, static(t), 1), run(t, written, static(t), 1)
	if fmt.Sprint(a.Values) != fmt.Sprint(b.Values) || a.Check != b.Check {
		t.Errorf("the trace gives %v, its windows %v", a.Values, b.Values)
	}
}
