package simulation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/simulation"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
)

// Cross-check 14: the laboratory against the engine in virtual time. The same definition runs in both; the service
// is simulated in the laboratory and is a task integration in the engine.

// definition waits until a record's arrival time and then saves the record, with two retriers that count separately.
const definition = `{"StartAt":"Arrive","States":{
"Arrive":{"Type":"Wait","TimestampPath":"$.at","Next":"Save"},
"Save":{"Type":"Task","Resource":"arn:aws:states:::test:call","End":true,"Retry":[
 {"ErrorEquals":["Busy"],"IntervalSeconds":1,"MaxAttempts":2,"BackoffRate":3,"JitterStrategy":"JITTER"},
 {"ErrorEquals":["States.TaskFailed"],"IntervalSeconds":2,"MaxAttempts":4,"BackoffRate":1.8,"MaxDelaySeconds":5,"JitterStrategy":"JITTER"}]}}}`

const definitionScenario = `
lab: 1
name: engine
duration: 3600
workload: [{name: w, arrivals: {trace: arrivals}, machine: {state: Save, definition: machine.asl.json}}]
service: {s: {servers: 2, time: {constant: 0.613}, queue: {capacity: 3, rejection: Busy}}}
calls: {Save: {service: s, timeout: 1.009, timeoutError: Slow}}
faults: [{at: 20, for: 11, service: s, errors: {p: 1, after: 0.053, name: Away}}]
`

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// servers is the service of definitionScenario as a task integration.
type servers struct {
	clock   *clock.Clock
	mu      sync.Mutex
	free    [2]time.Time
	starts  []time.Time
	attempt map[int]int
	log     []string
	waits   map[int][]time.Duration
	ends    map[int]time.Time
}

// Invoke responds like the simulated service: in a FIFO queue, the end of a request is known when it arrives.
func (s *servers) Invoke(ctx context.Context, task *engine.Task) (engine.Result, error) {
	var input struct{ Item int }
	if err := json.Unmarshal([]byte(task.Parameters), &input); err != nil {
		return nil, err
	}
	now := s.clock.Now()
	lasts, name := s.ask(now)
	s.mu.Lock()
	s.attempt[input.Item]++
	n := s.attempt[input.Item]
	s.log = append(s.log, line(input.Item, n, now.Sub(began), now.Add(lasts).Sub(began), name))
	if n > 1 {
		s.waits[n] = append(s.waits[n], now.Sub(s.ends[input.Item]))
	}
	s.ends[input.Item] = now.Add(lasts)
	s.mu.Unlock()
	if err := s.clock.Sleep(ctx, lasts); err != nil {
		return nil, err
	}
	if name != "" {
		return nil, &engine.Failure{Name: name}
	}
	return engine.TextResult("{}"), nil
}

// ask returns how long a call made at now lasts, and the error with which it ends.
func (s *servers) ask(now time.Time) (time.Duration, string) {
	const service, patience, capacity = 613 * time.Millisecond, 1009 * time.Millisecond, 3
	if at := now.Sub(began); at >= 20*time.Second && at < 31*time.Second {
		return 53 * time.Millisecond, "Away"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starts = slices.DeleteFunc(s.starts, func(t time.Time) bool { return !t.After(now) })
	if len(s.starts) >= capacity {
		return 0, "Busy"
	}
	first := 0
	if s.free[1].Before(s.free[0]) {
		first = 1
	}
	start := now
	if s.free[first].After(now) {
		start = s.free[first]
		s.starts = append(s.starts, start)
	}
	s.free[first] = start.Add(service)
	if lasts := start.Add(service).Sub(now); lasts <= patience {
		return lasts, ""
	}
	return patience, "Slow"
}

func line(item, attempt int, start, end time.Duration, name string) string {
	return fmt.Sprintf("record %d, attempt %d: %s to %s %s", item, attempt, start, end, name)
}

// inEngine runs a definition in the engine, one execution for each arrival.
func inEngine(t *testing.T, text string, arrivals []time.Duration) *servers {
	t.Helper()
	c := clock.Virtual(began)
	defer c.Close()
	s := &servers{clock: c, attempt: map[int]int{}, waits: map[int][]time.Duration{}, ends: map[int]time.Time{}}
	e, err := engine.New(engine.Config{
		Clock: c, Journal: journal.NewMemory(), Seed: 7, Integrations: new(engine.Integrations).Handle("test", "call", s),
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
	var started []*engine.Started
	for i, at := range arrivals {
		x, err := e.Start(t.Context(), &engine.Start{
			Machine: m, Origin: engine.Origin{
				Name:  fmt.Sprint("e", i),
				Input: fmt.Sprintf(`{"item":%d,"at":%q}`, i, began.Add(at).Format("2006-01-02T15:04:05.000000000Z")),
			},
		})
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
	return s
}

// inLab runs the same definition in the laboratory.
func inLab(t *testing.T, text string, arrivals []time.Duration) (log []string, waits map[int][]time.Duration) {
	t.Helper()
	var trace strings.Builder
	for _, at := range arrivals {
		fmt.Fprintf(&trace, "%.9f\n", at.Seconds())
	}
	s, err := scenario.Parse("engine.yaml", []byte(definitionScenario),
		scenario.Options{ReadFile: func(name string) ([]byte, error) {
			if name == "arrivals" {
				return []byte(trace.String()), nil
			}
			return []byte(text), nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	waits = map[int][]time.Duration{}
	ends := map[int]time.Duration{}
	c := simulation.Options{Scenario: s, Policy: named(t, "static"), Seed: 1}
	c.Trace = func(a simulation.Attempt) {
		log = append(log, line(a.Item, a.Number, a.Start, a.End, a.Error))
		if a.Number > 1 {
			waits[a.Number] = append(waits[a.Number], a.Start-ends[a.Item])
		}
		ends[a.Item] = a.End
	}
	if _, err := simulation.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return log, waits
}

func TestAttemptForAttemptAsTheEngine(t *testing.T) {
	t.Parallel()
	var arrivals []time.Duration
	at := time.Duration(0)
	for i := range 120 {
		at += time.Duration(211+i*i%401)*time.Millisecond + time.Duration(i*104_729+1)
		arrivals = append(arrivals, at)
	}
	text := strings.ReplaceAll(definition, "JITTER", "NONE")
	want := inEngine(t, text, arrivals).log
	got, _ := inLab(t, text, arrivals)
	slices.Sort(want)
	slices.Sort(got)
	if len(got) < 200 || !strings.Contains(strings.Join(got, "\n"), "Busy") ||
		!strings.Contains(strings.Join(got, "\n"), "Slow") {
		t.Fatalf("%d attempts are no test of retries", len(got))
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("attempt %d of %d and %d differs:\nlaboratory: %s\nengine:     %s", i, len(got), len(want),
				strings.Join(got[i:min(i+3, len(got))], "; "), strings.Join(want[i:min(i+3, len(want))], "; "))
		}
	}
}

// With full jitter the waits have the same distribution: the maximum distance between the two empirical distribution
// functions stays below what chance explains in 999 of 1000 cases.
func TestFullJitterAsTheEngine(t *testing.T) {
	t.Parallel()
	var arrivals []time.Duration
	for i := range 400 {
		arrivals = append(arrivals, 20*time.Second+time.Duration(i)*time.Millisecond)
	}
	text := strings.ReplaceAll(definition, "JITTER", "FULL")
	want := inEngine(t, text, arrivals).waits
	_, got := inLab(t, text, arrivals)
	for n := 2; n <= 3; n++ {
		a, b := got[n], want[n]
		slices.Sort(a)
		slices.Sort(b)
		distance, i, j := 0.0, 0, 0
		for i < len(a) && j < len(b) {
			if a[i] <= b[j] {
				i++
			} else {
				j++
			}
			distance = max(distance, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
		}
		if len(a) < 300 || len(b) < 300 || distance > 1.95*math.Sqrt(1/float64(len(a))+1/float64(len(b))) {
			t.Errorf("waits before attempt %d: %d in the laboratory and %d in the engine are %.3f apart", n, len(a),
				len(b), distance)
		}
	}
}
