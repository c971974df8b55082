package design_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"stepback/adaptive/breaker"
	"stepback/adaptive/design"
	"stepback/adaptive/lab/draw"
	"stepback/adaptive/limiter"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
	"stepback/retry"
)

const deployed = `
design: 1
name: deployed
state: Save
arrivals: {rate: 2}
callee: {servers: 2, mean: 0.3}
period: 300
faults: [{name: outage, for: 20, errors: 1, error: Away}]
objective: {saved: 0.98, within: 300}
allow: []
`

// limited is a problem that needs a limiter: retries alone end in an overload that lasts.
const limited = `
design: 1
name: limited
state: Save
arrivals: {rate: 3}
callee: {servers: 2, mean: 0.5, queue: 20}
period: 300
faults: [{name: brown-out, for: 60, speed: 0.3}]
objective: {saved: 0.97, within: 200, callsPerRecord: 1.6}
allow: [limiter, breaker]
`

// broken is a problem that needs a breaker: its objective leaves few calls for a long outage.
const broken = `
design: 1
name: broken
state: Save
arrivals: {rate: 3}
callee: {servers: 2, mean: 0.4, queue: 20}
period: 300
faults: [{name: outage, for: 60, errors: 1, error: Away}]
objective: {saved: 0.97, within: 200, callsPerRecord: 1.12}
allow: [limiter, breaker]
`

const machine = `{"StartAt":"Arrive","States":{
"Arrive":{"Type":"Wait","TimestampPath":"$.at","Next":"Save"},
"Save":{"Type":"Task","Resource":"arn:aws:states:::test:call","Retry":[],"End":true}}}`

// place is a deployed design: the problem's numbers as the engine test uses them, and what the function does.
type place struct {
	rate, mean float64 // records per second; mean time of a call in seconds
	servers    int
	queue      int
	warmup     float64 // seconds of arrivals before the measured period
	within     float64
	// after and lasts are the fault's time after the start of the period. Calls of an outage fail at once; otherwise
	// the servers have the speed.
	after, lasts time.Duration
	outage       bool
	speed        float64
	settings     *design.Settings
}

const period = 300 * time.Second

// callee is the service of a place as a task integration: servers with one queue in order of arrival. The calling
// function guards it with the limiter and the breaker of the settings.
type callee struct {
	place
	clock  *clock.Clock
	random draw.Stream
	fault  bool
	// limiter and breaker are nil if the settings have none.
	limiter *limiter.Limiter
	breaker *breaker.Breaker

	mu    sync.Mutex
	free  []time.Time
	begun []time.Time // of the requests that wait, ascending
	calls int
	done  map[int]time.Time
}

// Invoke implements engine.Integration: the function that calls the service.
func (c *callee) Invoke(ctx context.Context, task *engine.Task) (engine.Result, error) {
	var input struct{ Item int }
	if err := json.Unmarshal([]byte(task.Parameters), &input); err != nil {
		return nil, err
	}
	var pass breaker.Permit
	if c.breaker != nil {
		var err error
		if pass, err = c.breaker.Allow(); err != nil {
			return nil, &engine.Failure{Name: retry.CircuitOpen}
		}
	}
	var permit limiter.Permit
	if c.limiter != nil {
		var err error
		if permit, err = c.limiter.Allow(); err != nil {
			if c.breaker != nil {
				c.breaker.Record(pass, breaker.Ignored)
			}
			return nil, &engine.Failure{Name: retry.RetryBudgetExhausted}
		}
	}
	failed, err := c.call(ctx, input.Item)
	if err != nil {
		return nil, err
	}
	outcome := breaker.Success
	if failed != "" {
		outcome = breaker.FailureAs(failed)
	}
	away := false
	if c.breaker != nil {
		c.breaker.Record(pass, outcome)
		state := c.breaker.State()
		away = state.Circuit() != breaker.Closed
	}
	if c.limiter != nil {
		c.limiter.Record(permit, outcome)
		away = away || c.limiter.Limit() <= limiter.Standard().Min
	}
	switch {
	case failed == "":
		c.mu.Lock()
		c.done[input.Item] = c.clock.Now()
		c.mu.Unlock()
		return engine.TextResult("{}"), nil
	case away:
		return nil, &engine.Failure{Name: retry.RetryBudgetExhausted}
	}
	return nil, &engine.Failure{Name: failed}
}

// call makes one call. It returns the name of the call's error; empty if it succeeded. The function ends a call just
// before the state's timeout would, so that it can tell its limiter.
func (c *callee) call(ctx context.Context, item int) (string, error) {
	now := c.clock.Now()
	c.mu.Lock()
	if item >= 0 {
		c.calls++
	}
	lasts, name := 50*time.Millisecond, ""
	for len(c.begun) > 0 && !c.begun[0].After(now) {
		c.begun = c.begun[1:]
	}
	first := 0
	for i := range c.free {
		if c.free[i].Before(c.free[first]) {
			first = i
		}
	}
	switch {
	case c.outage && c.during(now):
		name = "Away"
	case c.free[first].After(now) && len(c.begun) >= c.queue:
		lasts, name = 0, "Full"
	default:
		begins := now
		if c.free[first].After(now) {
			begins = c.free[first]
			c.begun = append(c.begun, begins)
		}
		work := c.mean * c.random.Exp()
		if !c.outage && c.during(begins) {
			work /= c.speed
		}
		c.free[first] = begins.Add(time.Duration(work * float64(time.Second)))
		lasts = c.free[first].Sub(now)
	}
	c.mu.Unlock()
	if limit := time.Duration(
		c.settings.Timeout*float64(time.Second),
	) - time.Millisecond; c.settings.Timeout > 0 &&
		lasts > limit {
		lasts, name = limit, retry.StatesTimeout
	}
	return name, c.clock.Sleep(ctx, lasts)
}

// during reports whether the fault lasts at a time.
func (c *callee) during(at time.Time) bool {
	since := at.Sub(began)
	return c.fault && since >= c.after && since < c.after+c.lasts
}

// inEngine runs one period of the definition in the engine.
func inEngine(t *testing.T, p place, text string, seed uint64, fault bool) design.Outcome {
	t.Helper()
	random := draw.Of(seed, 901, 0, 0)
	from := began.Add(-time.Duration(p.warmup * float64(time.Second)))
	c := clock.Virtual(from)
	defer c.Close()
	s := &callee{place: p, clock: c, random: draw.Of(seed, 902, 0, 0), fault: fault, done: map[int]time.Time{},
		free: make([]time.Time, p.servers)}
	if p.settings.Limiter {
		policy := *p.settings.Policy().Limiter
		var err error
		if s.limiter, err = limiter.New(limiter.Config{Policy: policy, Now: c.Now}); err != nil {
			t.Fatal(err)
		}
	}
	if p.settings.Breaker {
		var err error
		if s.breaker, err = breaker.New(breaker.Config{Policy: breaker.Callee(), Now: c.Now}); err != nil {
			t.Fatal(err)
		}
	}
	e, err := engine.New(engine.Config{
		Clock:        c,
		Journal:      journal.NewMemory(),
		Seed:         seed,
		Integrations: new(engine.Integrations).Handle("test", "call", s),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	m, err := e.Compile(engine.Definition{Name: "m", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	c.Hold()
	arrivals := map[int]time.Time{}
	var started []*engine.Started
	for at := -p.warmup; ; {
		if at += random.Exp() / p.rate; at >= period.Seconds() {
			break
		}
		arrival := began.Add(time.Duration(at * float64(time.Second)))
		item := len(started)
		if at < 0 {
			item = -item - 1 // the calls of the warm-up are not counted
		} else {
			arrivals[item] = arrival
		}
		x, err := e.Start(t.Context(), &engine.Start{Machine: m, Origin: engine.Origin{
			Name:  fmt.Sprint("e", len(started)),
			Input: fmt.Sprintf(`{"item":%d,"at":%q}`, item, arrival.Format("2006-01-02T15:04:05.000000000Z")),
		}})
		if err != nil {
			t.Fatal(err)
		}
		started = append(started, x)
	}
	c.Release()
	for _, x := range started {
		if _, err := x.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var took []float64
	saved := 0.0
	for item, arrival := range arrivals {
		if end, ok := s.done[item]; ok {
			took = append(took, end.Sub(arrival).Seconds())
			if took[len(took)-1] <= p.within {
				saved++
			}
		}
	}
	slices.Sort(took)
	at := func(q float64) float64 { return took[int(math.Ceil(q*float64(len(took))))-1] }
	return design.Outcome{Saved: saved / float64(len(arrivals)), P50: at(0.5), P99: at(0.99),
		CallsPerRecord: float64(s.calls) / float64(len(arrivals))}
}

// covered counts the values of periods in the engine, and those in their 90 % intervals. Periods take turns between
// calm and the fault.
func covered(t *testing.T, p place, text string, predicted []design.Prediction, periods int) (inside, values int) {
	t.Helper()
	for i := range periods {
		d := predicted[i%2]
		x := inEngine(t, p, text, uint64(i), i%2 == 1)
		for name, value := range map[string]float64{"saved": x.Saved, "p50": x.P50, "p99": x.P99, "callsPerRecord": x.CallsPerRecord} {
			interval := d.Metrics[name]
			if interval.Low == interval.High {
				continue // a certain value would count as covered always
			}
			values++
			if interval.Contains(value) {
				inside++
			} else {
				t.Logf(
					"period %d, %s: %s is %.4g, predicted %.4g to %.4g",
					i,
					d.Condition,
					name,
					value,
					interval.Low,
					interval.High,
				)
			}
		}
	}
	t.Logf("%d of %d values lie in their 90 %% intervals", inside, values)
	return inside, values
}

// The intervals of a design cover what the engine does in virtual time with the definition that the design wrote.
func TestPredictionsCoverWhatTheEngineDoes(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name, text       string
		place            place
		limiter, breaker bool
		periods, atLeast int
	}{
		{"Retry block", deployed, place{rate: 2, mean: 0.3, servers: 2, queue: 1000, within: 300, after: 30 * time.Second,
			lasts: 20 * time.Second, outage: true}, false, false, 80, 200},
		{"limiter", limited, place{rate: 3, mean: 0.5, servers: 2, queue: 20, warmup: 20, within: 200, after: 30 * time.Second,
			lasts: 60 * time.Second, speed: 0.3}, true, false, 60, 200},
		{"breaker", broken, place{rate: 3, mean: 0.4, servers: 2, queue: 20, warmup: 20, within: 200, after: 30 * time.Second,
			lasts: 60 * time.Second, outage: true}, true, true, 60, 200},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			d := solve(t, x.text, 0)
			if !d.Result.Feasible {
				t.Fatal(d.Result.Because)
			}
			if s := &d.Result.Settings; s.Limiter != x.limiter || s.Breaker != x.breaker {
				t.Fatalf("the design is %s", &d.Result.Settings)
			}
			change, err := d.Apply("machine.asl.json", machine)
			if err != nil {
				t.Fatal(err)
			}
			x.place.settings = &d.Result.Settings
			inside, values := covered(t, x.place, change.Text, d.Result.Predictions, x.periods)
			if share := float64(inside) / float64(values); share < 0.85 || share > 0.95 || values < x.atLeast {
				t.Errorf("%d of %d values lie in their 90 %% intervals", inside, values)
			}
		})
	}
}
