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

	"stepback/adaptive/design"
	"stepback/adaptive/lab/draw"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
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

const machine = `{"StartAt":"Arrive","States":{
"Arrive":{"Type":"Wait","TimestampPath":"$.at","Next":"Save"},
"Save":{"Type":"Task","Resource":"arn:aws:states:::test:call","Retry":[],"End":true}}}`

// callee is the service of deployed as a task integration: two servers with one queue in order of arrival.
type callee struct {
	clock  *clock.Clock
	random draw.Stream
	outage bool

	mu    sync.Mutex
	free  [2]time.Time
	calls int
	done  map[int]time.Time
}

func (c *callee) Invoke(ctx context.Context, task *engine.Task) (engine.Result, error) {
	var input struct{ Item int }
	if err := json.Unmarshal([]byte(task.Parameters), &input); err != nil {
		return nil, err
	}
	now := c.clock.Now()
	c.mu.Lock()
	c.calls++
	lasts, away := 50*time.Millisecond, false
	if at := now.Sub(began); c.outage && at >= 30*time.Second && at < 50*time.Second {
		away = true
	} else {
		first := 0
		if c.free[1].Before(c.free[0]) {
			first = 1
		}
		start := now
		if c.free[first].After(now) {
			start = c.free[first]
		}
		c.free[first] = start.Add(time.Duration(0.3 * c.random.Exp() * float64(time.Second)))
		lasts = c.free[first].Sub(now)
	}
	c.mu.Unlock()
	if err := c.clock.Sleep(ctx, lasts); err != nil {
		return nil, err
	}
	if away {
		return nil, &engine.Failure{Name: "Away"}
	}
	c.mu.Lock()
	c.done[input.Item] = c.clock.Now()
	c.mu.Unlock()
	return engine.TextResult("{}"), nil
}

// inEngine runs one period of the definition in the engine.
func inEngine(t *testing.T, text string, seed uint64, outage bool) design.Outcome {
	t.Helper()
	random := draw.Of(seed, 901, 0, 0)
	c := clock.Virtual(began)
	defer c.Close()
	s := &callee{clock: c, random: draw.Of(seed, 902, 0, 0), outage: outage, done: map[int]time.Time{}}
	e, err := engine.New(engine.Config{
		Clock: c, Journal: journal.NewMemory(), Seed: seed, Integrations: new(engine.Integrations).Handle("test", "call", s),
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
	var arrivals []time.Time
	var started []*engine.Started
	for at := 0.0; ; {
		if at += random.Exp() / 2; at >= 300 {
			break
		}
		arrival := began.Add(time.Duration(at * float64(time.Second)))
		x, err := e.Start(t.Context(), &engine.Start{Machine: m, Origin: engine.Origin{
			Name:  fmt.Sprint("e", len(arrivals)),
			Input: fmt.Sprintf(`{"item":%d,"at":%q}`, len(arrivals), arrival.Format("2006-01-02T15:04:05.000000000Z")),
		}})
		if err != nil {
			t.Fatal(err)
		}
		arrivals, started = append(arrivals, arrival), append(started, x)
	}
	c.Release()
	var took []float64
	for _, x := range started {
		if _, err := x.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for i := range started {
		if end, ok := s.done[i]; ok {
			took = append(took, end.Sub(arrivals[i]).Seconds())
		}
	}
	slices.Sort(took)
	at := func(q float64) float64 { return took[int(math.Ceil(q*float64(len(took))))-1] }
	return design.Outcome{Saved: float64(len(took)) / float64(len(arrivals)), P50: at(0.5), P99: at(0.99),
		CallsPerRecord: float64(s.calls) / float64(len(arrivals))}
}

// The intervals of a design cover what the engine does in virtual time with the definition that the design wrote.
func TestPredictionsCoverWhatTheEngineDoes(t *testing.T) {
	t.Parallel()
	d := solve(t, deployed, 0)
	if !d.Result.Feasible {
		t.Fatal(d.Result.Because)
	}
	change, err := d.Apply("machine.asl.json", machine)
	if err != nil {
		t.Fatal(err)
	}
	const periods = 80
	inside, values := 0, 0
	for i := range periods {
		p := d.Result.Predictions[i%2]
		x := inEngine(t, change.Text, uint64(i), i%2 == 1)
		for name, value := range map[string]float64{"saved": x.Saved, "p50": x.P50, "p99": x.P99, "callsPerRecord": x.CallsPerRecord} {
			interval := p.Metrics[name]
			if interval.Low == interval.High {
				continue // a certain value would count as covered always
			}
			values++
			if interval.Contains(value) {
				inside++
			} else {
				t.Logf("period %d, %s: %s is %.4g, predicted %.4g to %.4g", i, p.Condition, name, value, interval.Low, interval.High)
			}
		}
	}
	t.Logf("%d of %d values lie in their 90 %% intervals", inside, values)
	if share := float64(inside) / float64(values); share < 0.85 || share > 0.95 || values < 200 {
		t.Errorf("%d of %d values lie in their 90 %% intervals", inside, values)
	}
}
