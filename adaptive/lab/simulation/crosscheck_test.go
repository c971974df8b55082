package simulation_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/adaptive/lab/draw"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/simulation"
)

// The tests in this file compare the simulation with theory, to within 3.5 standard errors over 20 seeds. The seeds
// are fixed, so each of the about 60 comparisons always passes or always fails.
const (
	checkSeeds = 20
	tolerance  = 3.5
)

// agrees compares the mean of a measurement over the seeds with the theoretical value want. bias is the additional
// error allowed for the finite length of a run.
func agrees(t *testing.T, what string, want, bias float64, measure func(seed uint64) float64) {
	t.Helper()
	var values [checkSeeds]float64
	mean := 0.0
	for i := range values {
		values[i] = measure(uint64(1000 + i))
		mean += values[i] / checkSeeds
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	se := math.Sqrt(squares / (checkSeeds - 1) / checkSeeds)
	if math.Abs(mean-want) > tolerance*se+bias {
		t.Errorf("%s is %.5f ± %.5f (standard error), and theory says %.5f", what, mean, se, want)
	}
}

// queue returns a scenario with one stream and one service without retries.
func queue(rate float64, duration int, servers int, service, rest, call string) string {
	return fmt.Sprintf(`
lab: 1
name: queue
duration: %d
warmup: %d
drain: 100000
workload: [{name: w, arrivals: {process: poisson, rate: %g}, machine: {state: S, retry: none}}]
service: {s: {servers: %d, time: %s%s}}
calls: {S: {service: s%s}}
`, duration, duration/10, rate, servers, service, rest, call)
}

func erlangB(c int, a float64) float64 {
	b := 1.0
	for k := 1; k <= c; k++ {
		b = a * b / (float64(k) + a*b)
	}
	return b
}

func erlangC(c int, a float64) float64 {
	b := erlangB(c, a)
	rho := a / float64(c)
	return b / (1 - rho*(1-b))
}

const endless = ", queue: {capacity: 10000000}"

// Cross-check 1: the mean wait of M/M/c is Erlang's C divided by cμ − λ.
func TestMMcWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		servers  int
		rate     float64
		duration int
	}{{10, 40, 2000}, {10, 45, 4000}, {1, 4.5, 20000}, {3, 7.5, 5000}} {
		s := parse(t, queue(c.rate, c.duration, c.servers, "{exp: 0.2}", endless, ""))
		want := erlangC(c.servers, c.rate/5) / (float64(c.servers)*5 - c.rate)
		agrees(t, fmt.Sprintf("mean wait with %d servers at %v/s", c.servers, c.rate), want, 0,
			func(seed uint64) float64 {
				return run(t, s, named(t, "none"), seed).Check.Waited
			})
	}
}

// Cross-check 2: blocking of M/M/1/K.
func TestMM1KBlocks(t *testing.T) {
	t.Parallel()
	for _, k := range []int{4, 9} {
		const rho = 0.9
		s := parse(t, queue(4.5, 6000, 1, "{exp: 0.2}", fmt.Sprintf(", queue: {capacity: %d}", k-1), ""))
		want := (1 - rho) * math.Pow(rho, float64(k)) / (1 - math.Pow(rho, float64(k+1)))
		agrees(t, fmt.Sprintf("blocking with K = %d", k), want, 0, func(seed uint64) float64 {
			c := run(t, s, named(t, "none"), seed).Check
			return float64(c.Rejected) / float64(c.Asked)
		})
	}
}

// Cross-check 3: blocking of M/G/c/c is Erlang's B, whatever the distribution of service times.
func TestErlangBIsInsensitive(t *testing.T) {
	t.Parallel()
	for _, service := range []string{"{exp: 0.2}", "{constant: 0.2}", "{lognormal: {mean: 0.2, cv: 2}}",
		"{gamma: {mean: 0.2, cv: 0.5}}"} {
		s := parse(t, queue(40, 1500, 10, service, ", queue: {capacity: 0}", ""))
		agrees(t, "blocking with "+service, erlangB(10, 8), 0, func(seed uint64) float64 {
			c := run(t, s, named(t, "none"), seed).Check
			return float64(c.Rejected) / float64(c.Asked)
		})
	}
}

// Cross-check 4: the mean wait of M/G/1 by Pollaczek and Khinchine.
func TestPollaczekKhinchine(t *testing.T) {
	t.Parallel()
	for service, cv := range map[string]float64{
		"{constant: 0.2}": 0, "{lognormal: {mean: 0.2, cv: 1.5}}": 1.5, "{gamma: {mean: 0.2, cv: 0.5}}": 0.5,
		"{gamma: {mean: 0.2, cv: 2}}": 2,
	} {
		const rate, mean = 3.5, 0.2
		s := parse(t, queue(rate, 15000, 1, service, endless, ""))
		want := rate * mean * mean * (1 + cv*cv) / (2 * (1 - rate*mean))
		agrees(t, "mean wait with "+service, want, 0, func(seed uint64) float64 {
			return run(t, s, named(t, "none"), seed).Check.Waited
		})
	}
}

// Cross-check 5: with independent failures the number of attempts has a truncated geometric distribution, and full
// jitter waits half of every delay on average.
func TestIndependentFailures(t *testing.T) {
	t.Parallel()
	for _, p := range []float64{0.5, 0.9} {
		const m = 4
		s := parse(t, fmt.Sprintf(`
lab: 1
name: failures
duration: 400
workload: [{name: w, arrivals: {process: poisson, rate: 20}, machine: {state: S, retry: "pattern:database_optimized"}}]
service: {s: {servers: 10000, time: {constant: 0.01}, errors: [{name: E, p: %g}]}}
calls: {S: {service: s}}
`, p))
		var attempts, success, wait float64
		delay := 2.0
		for k := range m + 1 {
			attempts += math.Pow(p, float64(k))
			if k > 0 {
				wait += math.Pow(p, float64(k)) * delay / 2
				delay = min(delay*1.8, 30)
			}
		}
		success = 1 - math.Pow(p, m+1)
		agrees(t, fmt.Sprintf("attempts at p = %v", p), attempts, 0, func(seed uint64) float64 {
			c := run(t, s, named(t, "static"), seed).Check
			return float64(c.Calls) / float64(c.Arrived)
		})
		agrees(t, fmt.Sprintf("success at p = %v", p), success, 0, func(seed uint64) float64 {
			return run(t, s, named(t, "static"), seed).Values[0]
		})
		agrees(t, fmt.Sprintf("mean wait at p = %v", p), wait, 0, func(seed uint64) float64 {
			waits, records := traced(t, s, "static", seed, nil)
			return waits / records
		})
	}
}

// traced sums the waits between the attempts of all records, in seconds, and counts the records.
func traced(t *testing.T, s *scenario.Scenario, policy string, seed uint64, delay func(*draw.Stream) time.Duration,
) (waits, records float64) {
	t.Helper()
	ends := map[int]time.Duration{}
	c := simulation.Options{Scenario: s, Policy: named(t, policy), Seed: seed, Trace: func(a simulation.Attempt) {
		if a.Number > 1 {
			waits += (a.Start - ends[a.Item]).Seconds()
		}
		ends[a.Item] = a.End
	}}
	if _, err := simulation.RunWithDelay(t.Context(), c, delay); err != nil {
		t.Fatal(err)
	}
	return waits, float64(len(ends))
}

// Cross-check 6: the M/M/1 retrial queue of Falin and Artalejo: a caller that finds the server busy comes back after
// an exponentially distributed time.
func TestRetrialQueue(t *testing.T) {
	t.Parallel()
	for _, theta := range []float64{0.5, 20} {
		const lambda, mu = 0.7, 1.0
		const rho = lambda / mu
		s := parse(t, fmt.Sprintf(`
lab: 1
name: orbit
duration: 20000
drain: 100000
workload:
  - name: w
    arrivals: {process: poisson, rate: %g}
    machine: {state: S, retry: [{errors: [States.ALL], maxAttempts: 99999999}]}
service: {s: {servers: 1, time: {exp: 1}, queue: {capacity: 0}}}
calls: {S: {service: s}}
`, lambda))
		delay := func(s *draw.Stream) time.Duration { return time.Duration(s.Exp() / theta * 1e9) }
		agrees(t, fmt.Sprintf("mean orbit at θ = %v", theta), rho*(lambda+rho*theta)/((1-rho)*theta), 0,
			func(seed uint64) float64 {
				waits, _ := traced(t, s, "static", seed, delay)
				return waits / 20000
			})
	}
}

// Cross-check 7: M/M/1 with a deadline on the wait (Barrer): the share whose wait exceeds it.
func TestDeadlinesOnTheWait(t *testing.T) {
	t.Parallel()
	for _, tau := range []float64{0.2, 1} {
		const lambda, mu = 4.5, 5.0
		const rho = lambda / mu
		s := parse(t, queue(lambda, 8000, 1, "{exp: 0.2}", endless+", dropsExpired: true", fmt.Sprintf(", timeout: %g",
			tau)))
		e := math.Exp(-(mu - lambda) * tau)
		agrees(t, fmt.Sprintf("loss with a deadline of %v s", tau), (1-rho)*rho*e/(1-rho*rho*e), 0,
			func(seed uint64) float64 {
				c := run(t, s, named(t, "none"), seed).Check
				return float64(c.Dropped) / float64(c.Asked)
			})
	}
}

// Cross-check 8: conservation, in runs of every kind, and Little's law.
func TestConservation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := randomScenario(rt)
		s := parse(t, text)
		policy := rapid.SampledFrom([]string{"none", "static", "bucket", "budget-20", "sre-k2", "breaker", "aimd",
			"adaptive", "oracle"}).Draw(rt, "policy")
		traced := int64(0)
		lasted := 0.0
		res, err := simulation.Run(t.Context(), simulation.Options{
			Scenario: s, Policy: named(t, policy), Seed: rapid.Uint64().Draw(rt, "seed"),
			Trace: func(a simulation.Attempt) { traced++; lasted += (a.End - a.Start).Seconds() },
		})
		if err != nil {
			rt.Fatal(err)
		}
		c := res.Check
		if c.Arrived != c.Done+c.Dead+c.Open {
			rt.Fatalf("%d records arrived, %d done, %d dead, %d open under %s\n%s", c.Arrived, c.Done, c.Dead, c.Open,
				policy, text)
		}
		if open := c.Calls - traced; open < 0 || open > c.Open {
			rt.Fatalf("%d calls, %d attempts ended, %d records open", c.Calls, traced, c.Open)
		}
		if c.Asked != c.Rejected+c.Begun+c.Dropped+c.Queued {
			rt.Fatalf("%d requests, %d rejected, %d begun, %d dropped, %d queued", c.Asked, c.Rejected, c.Begun,
				c.Dropped, c.Queued)
		}
		if c.InService == 0 && math.Abs(c.Busy-c.Worked) > 1e-6*(1+c.Worked) {
			rt.Fatalf("servers were busy for %v s, service times add up to %v s", c.Busy, c.Worked)
		}
	})
}

// randomScenario draws a small scenario with everything in it.
func randomScenario(t *rapid.T) string {
	workload := fmt.Sprintf("arrivals: {process: %s}", rapid.SampledFrom([]string{
		"poisson, rate: 5", "constant, rate: 3", "mmpp, rates: [1, 10], holds: [20, 5]", "diurnal, rate: 4, period: 60",
	}).Draw(t, "arrivals"))
	if rapid.Bool().Draw(t, "closed") {
		workload = fmt.Sprintf("map: {items: %d, maxConcurrency: %d, start: 3, batch: %d}",
			rapid.IntRange(1, 300).Draw(t, "items"), rapid.IntRange(1, 50).Draw(t, "concurrency"),
			rapid.IntRange(1, 7).Draw(t, "batch"))
	}
	fault := rapid.SampledFrom([]string{
		"at: 20, for: 30, service: s, capacity: 0", "at: 20, for: 30, service: s, errors: {p: 1}",
		"at: 20, for: 60, service: s, capacity: {from: 1, to: 0.3}",
		"gilbert: {meanGood: 20, meanBad: 5}, service: s, errors: {p: 0.7}",
		"at: 10, for: 100, metric: ErrorRate, says: 1",
	}).Draw(t, "fault")
	return fmt.Sprintf(`
lab: 1
name: random
duration: 120
warmup: 10
drain: %d
workload: [{name: w, %s, machine: {state: S, retry: "table:ProcessSingleUserRecord"}}]
service:
  s:
    servers: %d
    time: %s
    queue: {capacity: %d, order: %s}
    dropsExpired: %v
    loadSlowdown: %g
    errors:
      - {name: DeadlockException, p: 0.05}
      - {name: ValidationError, p: 0.02, by: item, kind: permanent, after: 0.01}
calls: {S: {service: s, timeout: %g, timeoutError: TimeoutError}}
faults: [{%s}]
`, rapid.IntRange(0, 1000).Draw(t, "drain"), workload, rapid.IntRange(1, 4).Draw(t, "servers"),
		rapid.SampledFrom([]string{"{exp: 0.5}", "0.3", "{lognormal: {mean: 0.4, cv: 2}}",
			"{gamma: {mean: 0.4, cv: 0.7}}"}).Draw(t, "time"),
		rapid.IntRange(0, 60).Draw(t, "queue"), rapid.SampledFrom([]string{"fifo", "lifo", "codel"}).Draw(t, "order"),
		rapid.Bool().Draw(t, "drops"), rapid.SampledFrom([]float64{0, 0.05}).Draw(t, "slowdown"),
		rapid.Float64Range(0.2, 3).Draw(t, "timeout"), fault)
}

// Little's law: the mean number in the system is the arrival rate times the mean time there.
func TestLittlesLaw(t *testing.T) {
	t.Parallel()
	s := parse(t, queue(40, 2000, 10, "{exp: 0.2}", endless, ""))
	lasted, n := 0.0, 0.0
	res, err := simulation.Run(t.Context(), simulation.Options{Scenario: s, Policy: named(t, "none"), Seed: 1,
		Trace: func(a simulation.Attempt) {
			n++
			lasted += (a.End - a.Start).Seconds()
		}})
	if err != nil {
		t.Fatal(err)
	}
	inSystem := res.Check.Busy + res.Check.Waited*float64(res.Check.Begun)
	if math.Abs(inSystem/lasted-1) > 0.01 {
		t.Errorf("the area under the number in the system is %.0f, the sum of the times there %.0f", inSystem, lasted)
	}
}

// Cross-check 9: where λ(1 + m) < 0.95 C, no fault keeps goodput down after its end.
func TestStability(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := rapid.IntRange(0, 6).Draw(rt, "retries")
		servers := rapid.IntRange(4, 12).Draw(rt, "servers")
		rate := float64(servers) * 5 * 0.94 / float64(1+m)
		length := rapid.IntRange(1, 300).Draw(rt, "length")
		fault := rapid.SampledFrom([]string{"capacity: 0", "capacity: 0.1", "capacity: 0.5", "errors: {p: 1, after: 0}",
			"errors: {p: 0.7}"}).Draw(rt, "fault")
		s := parse(t, fmt.Sprintf(`
lab: 1
name: stable
duration: 4000
workload:
  - name: w
    arrivals: {process: poisson, rate: %g}
    machine: {state: S, retry: [{errors: [States.ALL], interval: %d, rate: %g, maxAttempts: %d, jitter: %s}]}
service: {s: {servers: %d, time: {exp: 0.2}, queue: {capacity: 1000}}}
calls: {S: {service: s, timeout: 2}}
faults: [{at: 300, for: %d, service: s, %s}]
`, rate, rapid.IntRange(1, 5).Draw(rt, "interval"), rapid.Float64Range(1, 2).Draw(rt, "rate"), m,
			rapid.SampledFrom([]string{"FULL", "NONE"}).Draw(rt, "jitter"), servers, length, fault))
		res := run(t, s, named(t, "static"), rapid.Uint64().Draw(rt, "seed"))
		if recovered := res.Values[6]; math.IsInf(recovered, 1) {
			rt.Fatalf("%d retries at %.1f/s of %d/s: goodput did not recover after %s for %d s", m, rate, servers*5,
				fault, length)
		}
	})
}

// Cross-check 9, the fluid limit: a backlog of B drains in the time B/(C − λ).
func TestFluidDrain(t *testing.T) {
	t.Parallel()
	s := parse(t, `
lab: 1
name: fluid
duration: 2000
workload: [{name: w, arrivals: {process: poisson, rate: 80}, machine: {state: S, retry: none}}]
service: {s: {servers: 20, time: {exp: 0.2}, queue: {capacity: 100000}}}
calls: {S: {service: s}}
faults: [{at: 300, for: 100, service: s, capacity: 0}]
`)
	var calm time.Duration
	if _, err := simulation.Run(t.Context(), simulation.Options{Scenario: s, Policy: named(t, "none"), Seed: 1,
		Trace: func(a simulation.Attempt) {
			if calm == 0 && a.Start > 400*time.Second && a.End-a.Start < time.Second/10 {
				calm = a.Start
			}
		}}); err != nil {
		t.Fatal(err)
	}
	// 80/s for 100 s are 8,000 records; 20/s more are served than arrive.
	if got := (calm - 400*time.Second).Seconds(); math.Abs(got-400) > 40 {
		t.Errorf("the backlog has drained after %.0f s, want 400 s within 10 %%", got)
	}
}

// Cross-check 10: Brooker's model of collapse: every request in service makes a new one slower.
func TestServiceThatSlowsUnderLoad(t *testing.T) {
	t.Parallel()
	slow := ", queue: {capacity: 0}, loadSlowdown: 0.01"
	s := parse(t, queue(40, 3000, 1_000_000, "{constant: 1}", slow, ""))
	agrees(t, "mean number in service at 40/s", 40/(1-0.4), 0.7, func(seed uint64) float64 {
		c := run(t, s, named(t, "none"), seed).Check
		return c.Busy / c.End
	})
	// Above 100/s there is no fixed point: the number in service grows as long as the stream lasts.
	number := func(duration int) float64 {
		s := parse(t, queue(120, duration, 1_000_000, "{constant: 1}", slow, ""))
		c := run(t, s, named(t, "none"), 1).Check
		return c.Busy / float64(duration)
	}
	if short, long := number(30), number(300); long < 3*short {
		t.Errorf("%.0f in service on average over 30 s and %.0f over 300 s, want growth without end", short, long)
	}
}

// Cross-check 12: Brooker's retry curves at p = 0.5: three retries turn one call into 1.875; a bucket that earns 0.1
// per success admits r = 0.1 · (1 + r)/2 retries.
func TestRetryCurves(t *testing.T) {
	t.Parallel()
	s := parse(t, `
lab: 1
name: curve
duration: 2000
workload:
  - name: w
    arrivals: {process: poisson, rate: 20}
    machine: {state: S, retry: [{errors: [States.ALL], maxAttempts: 3}]}
service: {s: {servers: 10000, time: {constant: 0.01}, errors: [{name: E, p: 0.5}]}}
calls: {S: {service: s}}
`)
	for policy, want := range map[string]float64{"static": 1.875, "bucket": 1 / 0.95} {
		agrees(t, "calls per record under "+policy, want, 0.0004, func(seed uint64) float64 {
			c := run(t, s, named(t, policy), seed).Check
			return float64(c.Calls) / float64(c.Arrived)
		})
	}
}
