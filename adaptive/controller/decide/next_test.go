package decide_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/adaptive/controller/decide"
	"stepback/retrypatterns"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func minute(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }

// subject returns a state with the retriers of ProcessSingleUserRecord that matter here, and one that paces refused
// calls.
func subject() decide.Subject {
	return decide.Subject{State: "Save", Timeout: 30 * time.Second, Base: []retrypatterns.Retrier{
		{ErrorEquals: []string{"ValidationError"}},
		{
			ErrorEquals:     []string{"DatabaseConnectionError", "States.Timeout"},
			IntervalSeconds: 2,
			MaxAttempts:     4,
			BackoffRate:     1.8,
			MaxDelaySeconds: 30,
			JitterStrategy:  "FULL",
		},
		{
			ErrorEquals:     []string{"DeadlockException"},
			IntervalSeconds: 1,
			MaxAttempts:     5,
			BackoffRate:     2,
			MaxDelaySeconds: 15,
			JitterStrategy:  "FULL",
		},
		{
			ErrorEquals:     []string{"CircuitOpen", "RetryBudgetExhausted"},
			IntervalSeconds: 30,
			MaxAttempts:     20,
			BackoffRate:     1.5,
			MaxDelaySeconds: 300,
			JitterStrategy:  "FULL",
		},
	}}
}

// load returns a minute with perSecond first attempts a second, of which the share failing fails with load errors.
func load(at, perSecond int, failing, overload float64) decide.Point {
	attempts := float64(60 * perSecond)
	return decide.Point{
		Start: minute(at), Attempts: attempts, FirstAttempts: attempts, LoadFailures: attempts * failing,
		Overload:  attempts * failing * overload,
		Successes: attempts * (1 - failing), Exhausted: attempts * failing / 2,
	}
}

// minutes returns a measurement of the minutes from…to, taken at the end of the last one plus the age of metrics.
func minutes(from, to int, capacity float64, point func(at int) decide.Point) decide.Measurement {
	m := decide.Measurement{
		Now:      minute(to).Add(decide.Age),
		Capacity: decide.Capacity{PerSecond: capacity, Saturated: true},
	}
	for at := from; at < to; at++ {
		m.Points = append(m.Points, point(at))
	}
	return m
}

func storm(at int) decide.Point { return load(at, 20, 0.9, 0.5) }
func calm(at int) decide.Point  { return load(at, 20, 0.01, 0.5) }

func retries(d decide.Decision) string {
	var all []int
	for _, r := range d.Retry {
		all = append(all, r.MaxAttempts)
	}
	return fmt.Sprint(all)
}

func rules(d decide.Decision) string {
	var all []string
	for _, r := range d.Reasons {
		all = append(all, r.Rule)
	}
	return strings.Join(all, " ")
}

func TestCapKeepsWhatTheCapacityCovers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		capacity float64
		paced    bool
		closed   bool
		failing  float64
		overload float64
		want     string
	}{
		{"20 a second at 0.9 do not fit 25 with any retry", 25, true, false, 0.9, 0.5, "[0 0 5 20]"},
		{"none is left where nothing paces, too", 25, false, false, 0.9, 0.5, "[0 0 5]"},
		{"20·(1+0.31+0.31²) = 28.2 fit, a third retry does not", 28.5, true, false, 0.3, 1, "[0 2 5 20]"},
		{"four retries fit", 1000, true, false, 0.3, 1, "[]"},
		{"errors without overload do not count", 25, true, false, 0.45, 0.1, "[]"},
		{"inside a Map nothing is cut", 25, true, true, 0.4, 1, "[]"},
		{"unknown capacity", 0, true, false, 0.4, 1, "[]"},
	} {
		s := subject()
		s.Closed = c.closed
		if !c.paced {
			s.Base = s.Base[:3]
		}
		p := decide.Defaults()
		p.Stretch = 0.99 // another rule
		m := minutes(0, 5, c.capacity, func(at int) decide.Point { return load(at, 20, c.failing, c.overload) })
		if d := decide.Next(s, p, decide.Memory{}, m); retries(d) != c.want {
			t.Errorf("%s: retries are %s, want %s (%s)", c.name, retries(d), c.want, d)
		}
	}
}

// Retries that bring the tasks through are left alone, however many attempts fail: half of the attempts of a partial
// outage do, and 97 % of the tasks succeed.
func TestCapLeavesRetriesThatHelp(t *testing.T) {
	t.Parallel()
	m := minutes(0, 5, 25, func(at int) decide.Point {
		return decide.Point{Start: minute(at), Attempts: 2400, FirstAttempts: 1200, LoadFailures: 1200, Overload: 1200,
			Successes: 1164, Exhausted: 36}
	})
	p := decide.Defaults()
	p.Stretch = 0.99 // another rule
	d := decide.Next(subject(), p, decide.Memory{}, m)
	if want := "R-cap: at least 49 % of the attempts are overload, but 97.0 % of the tasks succeed"; d.Changes() ||
		!strings.Contains(d.String(), want) {
		t.Errorf("%s; want %q", d, want)
	}
}

// Two states that call the same callee are one load on it: 8 and 12 a second fit a capacity of 20 without retries,
// though the 8 alone fit with two.
func TestStatesOnOneCalleeAreOneLoad(t *testing.T) {
	t.Parallel()
	one := func(perSecond int) *decide.Measurement {
		m := minutes(0, 5, 0, func(at int) decide.Point { return load(at, perSecond, 0.9, 0.5) })
		m.Points[0] = load(0, perSecond, 0, 0)
		m.Capacity = decide.Capacity{PerSecond: float64(perSecond), Saturated: true}
		return &m
	}
	ours, theirs := one(8), one(12)
	decide.Together([]*decide.Measurement{ours, theirs})
	if want := (decide.Capacity{PerSecond: 20, Saturated: true}); ours.Capacity != want || theirs.Capacity != want ||
		ours.Others != 12 || theirs.Others != 8 {
		t.Errorf("%+v beside %v, and %+v beside %v; want %+v beside 12 and 8", ours.Capacity, ours.Others, theirs.Capacity,
			theirs.Others, want)
	}
	p := decide.Defaults()
	p.Stretch = 0.99 // another rule
	if d := decide.Next(subject(), p, decide.Memory{}, *ours); retries(d) != "[0 0 5 20]" {
		t.Errorf("with the others: %s", d)
	}
	ours.Others = 0
	if d := decide.Next(subject(), p, decide.Memory{}, *ours); retries(d) != "[0 2 5 20]" {
		t.Errorf("alone: %s", d)
	}
	ours.Others = math.NaN()
	if d := decide.Next(subject(), p, decide.Memory{}, *ours); d.Verdict != decide.Unknown {
		t.Errorf("with an impossible rate: %s", d)
	}
}

func TestNoDecisionOnBadMeasurements(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(m *decide.Measurement){
		"only 2 of the last 5 minutes were measured, 3 are needed": func(m *decide.Measurement) {
			m.Points = m.Points[3:]
		},
		"only 0 of the last 5 minutes were measured, 3 are needed": func(m *decide.Measurement) {
			m.Points = nil
		},
		"only 90 attempts in the last 5 minutes, 100 are needed": func(m *decide.Measurement) {
			each(m, func(p *decide.Point) { *p = decide.Point{Start: p.Start, Attempts: 18} })
		},
		"the minute of 2026-11-22T12:00:00Z has NaN attempts": func(m *decide.Measurement) {
			m.Points[0].Attempts = math.NaN()
		},
		"the minute of 2026-11-22T12:00:00Z has -1 load failures": func(m *decide.Measurement) {
			m.Points[0].LoadFailures = -1
		},
		"the minute of 2026-11-22T12:00:00Z has +Inf successes": func(m *decide.Measurement) {
			m.Points[0].Successes = math.Inf(1)
		},
		"failure rate above 1: 540 overloads and 1300 load failures of 1200 attempts": func(m *decide.Measurement) {
			m.Points[0].LoadFailures = 1300
		},
		"a minute was measured twice": func(m *decide.Measurement) {
			m.Points = append(m.Points, m.Points[0])
		},
		"the minute of 2026-11-22T13:00:00Z is in the future": func(m *decide.Measurement) {
			m.Points[4].Start = minute(60)
		},
		"does not begin with a minute": func(m *decide.Measurement) {
			m.Points[4].Start = noon.Add(time.Second)
		},
		"the metrics are inconsistent: 6000 successes and 5400 load failures of 6000 atte": func(m *decide.Measurement) {
			each(m, func(p *decide.Point) { p.Successes = 1200 })
		},
		"the capacity is NaN a second": func(m *decide.Measurement) {
			m.Capacity.PerSecond = math.NaN()
		},
		"the measurement has no time": func(m *decide.Measurement) {
			m.Now = time.Time{}
		},
		"the Map Run's concurrency is 0 of 5; it must be between 1 and 10000": func(m *decide.Measurement) {
			m.MapRun = &decide.MapRun{Base: 5}
		},
	} {
		m := minutes(0, 5, 25, storm)
		spoil(&m)
		d := decide.Next(subject(), decide.Defaults(), decide.Memory{}, m)
		if d.Verdict != decide.Unknown || d.Changes() || !strings.Contains(d.Reasons[0].Text, want) {
			t.Errorf("%s: %s", want, d)
		}
	}
}

func each(m *decide.Measurement, change func(*decide.Point)) {
	for i := range m.Points {
		change(&m.Points[i])
	}
}

func TestTheSameMeasurementTwiceIsOneDecision(t *testing.T) {
	t.Parallel()
	m := minutes(0, 5, 25, storm)
	d := decide.Next(subject(), decide.Defaults(), decide.Memory{}, m)
	mem := decide.Memory{}.After(d)
	again := decide.Next(subject(), decide.Defaults(), mem, m)
	if want := "this measurement is of 2026-11-22T12:07:00Z, but one of 2026-11-22T12:07:00Z was already used"; again.Verdict != decide.Unknown ||
		again.Reasons[0].Text != want {
		t.Errorf("the second time: %s", again)
	}
}

// TestTheClockIsSetBack decides with a memory of a day ahead: a storm is cut all the same.
func TestTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	tomorrow := decide.Next(subject(), decide.Defaults(), decide.Memory{}, minutes(24*60, 24*60+5, 25, storm))
	mem := decide.Memory{}.After(tomorrow)
	if len(mem.Changes) != 1 {
		t.Fatalf("tomorrow's storm: %s", tomorrow)
	}
	mem.Setting, mem.Watch, mem.PausedUntil = decide.Setting{}, nil, mem.Seen.Add(time.Hour)
	if d := decide.Next(subject(), decide.Defaults(), mem, minutes(0, 5, 25, storm)); d.Verdict != tomorrow.Verdict {
		t.Errorf("%s, want %s", d, tomorrow.Verdict)
	}
}

// A storm of ten minutes, measured once a minute, causes a cut and then a restore.
func TestAnOutageIsCutAndRestored(t *testing.T) {
	t.Parallel()
	var mem decide.Memory
	var got []string
	for now := 10; now < 120; now++ {
		m := minutes(max(now-60, 0), now, 25, func(at int) decide.Point {
			if at >= 20 && at < 30 {
				return storm(at)
			}
			return calm(at)
		})
		d := decide.Next(subject(), decide.Defaults(), mem, m)
		mem = mem.After(d)
		if d.Changes() {
			got = append(got, fmt.Sprintf("%s %s (%s)", d.At.Format("15:04"), d.Setting, rules(d)))
		}
	}
	want := []string{"12:25 at most 0 retries (R-cap)", "12:55 base (R-restore)"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("changes are %q\nwant %q", got, want)
	}
}

func TestIndependentErrorsAndCalmChangeNothing(t *testing.T) {
	t.Parallel()
	for name, failing := range map[string]float64{"2 %": 0.02, "20 %": 0.2, "40 %": 0.4} {
		var mem decide.Memory
		for now := 10; now < 300; now++ {
			d := decide.Next(subject(), decide.Defaults(), mem,
				minutes(now-10, now, 25, func(at int) decide.Point { return load(at, 15, failing, 0) }))
			mem = mem.After(d)
			if d.Changes() {
				t.Fatalf("%s: %s", name, d)
			}
		}
	}
}

func TestStretchReachesAsFarAsTheOutage(t *testing.T) {
	t.Parallel()
	s := subject()
	noCapacity := func(now int) decide.Measurement { return minutes(0, now, 0, storm) }
	d := decide.Next(s, decide.Defaults(), decide.Memory{}, noCapacity(30))
	// Four waits of 2, 3.6, 6.48 and 11.66 s, half of each on average, and five of 1 to 15 s: 11.9 s and 15 s. A
	// factor of 8 is the maximum.
	if got := d.Setting.String(); got != "waits × 8" || d.Retry[1].IntervalSeconds != 16 ||
		d.Retry[1].MaxDelaySeconds != 240 ||
		d.Retry[1].MaxAttempts != 4 {
		t.Errorf("after 30 minutes: %s, %+v", d, d.Retry)
	}
	if d.Retry[3].IntervalSeconds != 30 || d.Retry[2].IntervalSeconds != 1 {
		t.Errorf("retriers that are not for load were stretched: %+v", d.Retry)
	}
	s.MachineTimeout = 500 * time.Second // five and ten attempts of 30 s, and the pacing retrier, do not fit anyway
	if d := decide.Next(s, decide.Defaults(), decide.Memory{}, noCapacity(30)); d.Changes() {
		t.Errorf("beyond the state machine's timeout: %s", d)
	}
}

func TestMapRunHalvesAndComesBack(t *testing.T) {
	t.Parallel()
	s := subject()
	s.Closed = true
	p := decide.Defaults()
	p.Stretch = 0.99
	var mem decide.Memory
	concurrency := 100
	var got []string
	for now := 10; now < 200; now++ {
		m := minutes(max(now-60, 0), now, 0, func(at int) decide.Point {
			if at >= 20 && at < 35 {
				return storm(at)
			}
			return calm(at)
		})
		m.MapRun = &decide.MapRun{ARN: "run", Concurrency: concurrency, Base: 100}
		d := decide.Next(s, p, mem, m)
		mem = mem.After(d)
		if d.Verdict == decide.ChangeMapRun {
			concurrency = d.MapRun.Concurrency
			got = append(got, fmt.Sprintf("%s %d", d.At.Format("15:04"), concurrency))
		}
	}
	if want := []string{"12:24 50", "12:31 25", "13:24 50", "13:54 100"}; !reflect.DeepEqual(got, want) {
		t.Errorf("concurrency is set %q, want %q", got, want)
	}
}

func TestMapRunThatSomebodyElseSetIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := subject()
	s.Closed = true
	p := decide.Defaults()
	p.Stretch = 0.99
	m := minutes(0, 10, 0, storm)
	m.MapRun = &decide.MapRun{ARN: "run", Concurrency: 60, Base: 100}
	d := decide.Next(s, p, decide.Memory{Concurrency: map[string]int{"run": 50}}, m)
	if d.Changes() ||
		!strings.Contains(d.String(), "MaxConcurrency of run was set to 60 by another program or person (the controller had set 50)") {
		t.Error(d)
	}
}

func TestPayDropsWhatEvenTheOptimistLoses(t *testing.T) {
	t.Parallel()
	m := minutes(0, 10, 0, calm)
	m.Recoveries = []decide.Recovery{
		{Error: "DeadlockException", Retry: 1, Started: 100, Succeeded: 50, Value: 0.001, Cost: 0.00003},
		{Error: "DeadlockException", Retry: 3, Started: 400, Succeeded: 0, Value: 0.001, Cost: 0.00003},
		{
			Error:     "DeadlockException",
			Retry:     2,
			Started:   41,
			Succeeded: 0,
			Value:     0.001,
			Cost:      0.00003,
		}, // upper bound 8.6 %
		{Error: "DatabaseConnectionError", Retry: 1, Started: 10, Succeeded: 0, Value: 0.001, Cost: 0.5},
		{Error: "CircuitOpen", Retry: 1, Started: 1000, Succeeded: 0, Value: 0.001, Cost: 0.5},
	}
	d := decide.Next(subject(), decide.Defaults(), decide.Memory{}, m)
	if got := retries(d); got != "[0 4 2 20]" || rules(d) != "R-pay R-pay" {
		t.Fatalf("retries are %s, want the third of DeadlockException dropped and those after it: %s", got, d)
	}
	mem := decide.Memory{}.After(d)
	later := minutes(60, 70, 0, calm)
	if d := decide.Next(subject(), decide.Defaults(), mem, later); d.Changes() {
		t.Errorf("an hour later: %s", d)
	}
	week := minutes(7*24*60+60, 7*24*60+70, 0, calm)
	if d := decide.Next(subject(), decide.Defaults(), mem, week); d.Setting.String() != "base" || !d.Changes() {
		t.Errorf("a week later: %s", d)
	}
}

func TestAChangeThatMakesThingsWorseIsTakenBack(t *testing.T) {
	t.Parallel()
	p := decide.Defaults()
	var mem decide.Memory
	cut := decide.Next(subject(), p, mem,
		minutes(0, 10, 25, func(at int) decide.Point { return load(at, 20, 0.4, 0.8) }))
	if !cut.Changes() {
		t.Fatal(cut)
	}
	mem = mem.After(cut)
	worse := func(at int) decide.Point {
		point := load(at, 20, 0.4, 0.1)
		point.Exhausted = point.LoadFailures
		return point
	}
	back := decide.Next(subject(), p, mem, minutes(10, 20, 25, worse))
	if !back.RollBack || back.Setting.String() != "base" {
		t.Fatal(back)
	}
	mem = mem.After(back)
	paused := decide.Next(subject(), p, mem, minutes(90, 100, 25, storm))
	if want := "paused until 2026-11-23T12:22:00Z after a roll-back"; paused.Changes() ||
		paused.Reasons[0].Text != want {
		t.Error(paused)
	}
	if d := decide.Next(subject(), p, mem, minutes(1470, 1480, 25, storm)); !d.Changes() {
		t.Errorf("after the pause: %s", d)
	}
}

// A cut is judged against the spell in which it was made, not against good minutes before it, and not while the
// newest minutes are good, because the backlog of an overload takes time to clear.
func TestACutThatWorksIsNotTakenBack(t *testing.T) {
	t.Parallel()
	p := decide.Defaults()
	// Two good minutes, then three of a storm in which hardly any task succeeds.
	lost := func(at int) decide.Point {
		point := load(at, 20, 0.9, 0.5)
		point.Exhausted, point.Successes = point.Attempts*0.9, point.Attempts*0.1
		return point
	}
	cut := decide.Next(subject(), p, decide.Memory{}, minutes(0, 5, 25, func(at int) decide.Point {
		if at < 2 {
			return calm(at)
		}
		return lost(at)
	}))
	if !cut.Changes() {
		t.Fatal(cut)
	}
	mem := decide.Memory{}.After(cut)
	if got := mem.Watch.Done.Rate(); math.Abs(got-0.1) > 0.001 {
		t.Errorf("the cut is judged against %.3f of the tasks that end well, want 0.1 of the storm", got)
	}
	for name, after := range map[string]func(at int) decide.Point{
		"the queue is worked off for four minutes": func(at int) decide.Point {
			if at < 11 {
				point := load(at, 20, 0.85, 0.5)
				point.Exhausted, point.Successes = point.Attempts*0.95, point.Attempts*0.05
				return point
			}
			return calm(at)
		},
		"no better and no worse": lost,
	} {
		if d := decide.Next(subject(), p, mem, minutes(7, 12, 25, after)); d.RollBack {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestRestoreNeedsRoom(t *testing.T) {
	t.Parallel()
	mem := decide.Memory{
		Setting: decide.Setting{Retries: 1, Stretch: 1},
		Changes: []decide.Change{{At: minute(-60), Direction: decide.Cut}},
	}
	d := decide.Next(subject(), decide.Defaults(), mem, minutes(0, 20, 20.5, calm))
	if d.Changes() ||
		!strings.Contains(d.String(),
			"calm, but 20 per second exceed 95 % of the capacity of 20.5: the base is not restored") {
		t.Error(d)
	}
}

// With arbitrary metrics, the controller makes at most two changes and one reversal within any hour, and never sets
// anything outside the bounds of the base and of AWS.
func TestAnySequence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := subject()
		s.Closed = rapid.Bool().Draw(t, "closed")
		if rapid.Bool().Draw(t, "machine timeout") {
			s.MachineTimeout = time.Duration(rapid.IntRange(0, 20000).Draw(t, "seconds")) * time.Second
		}
		p := decide.Defaults()
		p.Rules = rapid.SampledFrom([]decide.Rules{decide.Standard, decide.SourceRules}).Draw(t, "rules")
		var mem decide.Memory
		if rapid.Bool().Draw(t, "edited row") {
			mem.Setting = decide.Setting{
				Retries: rapid.IntRange(-9, 999).Draw(t, "row retries"),
				Stretch: rapid.Float64().Draw(t, "row stretch"),
				Pay:     map[string]int{"DeadlockException": rapid.IntRange(-9, 99).Draw(t, "row pay")},
			}
		}
		run := &decide.MapRun{ARN: "run", Concurrency: 100, Base: 100}
		var points []decide.Point
		var changes, reversals []time.Time
		var last decide.Direction
		var failing, overload float64
		now := 0
		for range rapid.IntRange(1, 120).Draw(t, "ticks") {
			if rapid.IntRange(0, 9).Draw(t, "turn") == 0 {
				failing = rapid.SampledFrom([]float64{0, 0.01, 0.3, 0.6, 1}).Draw(t, "failing")
				overload = rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "overload")
			}
			for range rapid.IntRange(1, 12).Draw(t, "minutes") {
				points = append(points, load(now, 20, failing, overload))
				now++
			}
			points = points[max(len(points)-30, 0):]
			m := decide.Measurement{Now: minute(now).Add(decide.Age), Points: points, MapRun: nil,
				Capacity: decide.Capacity{
					PerSecond: rapid.SampledFrom([]float64{0, 25, 25, 1000, -1}).Draw(t, "capacity"),
					Saturated: rapid.Bool().Draw(t, "saturated"),
				},
				Function: &decide.Function{
					ErrorRate:  rapid.SampledFrom([]float64{0, 0.15, 0.5, 7, math.NaN()}).Draw(t, "rate"),
					Concurrent: 60,
				},
				Recoveries: []decide.Recovery{
					{
						Error:   "DeadlockException",
						Retry:   rapid.IntRange(-1, 9).Draw(t, "k"),
						Started: 400,
						Value:   0.001,
						Cost:    rapid.SampledFrom([]float64{0, 1, math.NaN()}).Draw(t, "cost"),
					},
				},
			}
			if rapid.Bool().Draw(t, "map") {
				m.MapRun = run
			}
			d := decide.Next(s, p, mem, m)
			if !reflect.DeepEqual(d, decide.Next(s, p, mem, m)) && !math.IsNaN(m.Function.ErrorRate) {
				t.Fatalf("the same decision twice differs: %s", d)
			}
			inBounds(t, s, d)
			if !d.Changes() {
				if rapid.Bool().Draw(t, "remember") {
					mem = mem.After(d)
				}
				continue
			}
			if rapid.IntRange(0, 4).Draw(t, "application fails") == 0 {
				continue
			}
			mem = mem.After(d)
			if d.MapRun != nil {
				run = &decide.MapRun{ARN: "run", Concurrency: d.MapRun.Concurrency, Base: 100}
			}
			changes = append(changes, d.At)
			if last != 0 && last != d.Direction {
				reversals = append(reversals, d.At)
			}
			last = d.Direction
			if n := len(changes); n > 2 && changes[n-1].Sub(changes[n-3]) < time.Hour {
				t.Fatalf("three changes within an hour: %v", changes[n-3:])
			}
			if n := len(reversals); n > 1 && reversals[n-1].Sub(reversals[n-2]) < time.Hour {
				t.Fatalf("two reversals within an hour: %v", reversals[n-2:])
			}
			// A memory survives a round trip through JSON.
			stored, err := json.Marshal(mem)
			if err != nil {
				t.Fatal(err)
			}
			mem = decide.Memory{}
			if err := json.Unmarshal(stored, &mem); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func inBounds(t *rapid.T, s decide.Subject, d decide.Decision) {
	if d.MapRun != nil && (d.MapRun.Concurrency < 1 || d.MapRun.Concurrency > d.MapRun.Base) {
		t.Fatalf("MaxConcurrency %d of %d", d.MapRun.Concurrency, d.MapRun.Base)
	}
	for i, r := range d.Retry {
		base := s.Base[i]
		switch {
		case r.MaxAttempts < 0 || r.MaxAttempts > base.MaxAttempts:
			t.Fatalf("MaxAttempts %d of %d", r.MaxAttempts, base.MaxAttempts)
		case i == 3 && !reflect.DeepEqual(r, base), i == 0 && !reflect.DeepEqual(r, base):
			t.Fatalf("retrier %+v was changed to %+v", base, r)
		case r.MaxAttempts == 0:
		case r.IntervalSeconds < base.IntervalSeconds || r.IntervalSeconds > 8*3*base.IntervalSeconds ||
			r.BackoffRate < 1 ||
			r.MaxDelaySeconds <= r.IntervalSeconds || r.MaxDelaySeconds >= 31622400:
			t.Fatalf("retrier %+v of %+v", r, base)
		}
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	if err := decide.Defaults().Validate(); err != nil {
		t.Error(err)
	}
	err := decide.Parameters{Rules: "mine", Overload: math.NaN(), CutDwell: time.Minute, ChangesAnHour: 3}.Validate()
	for _, want := range []string{`Rules is "mine"`, "Overload is NaN", "CutDwell is 1m0s; it must be at least 7m0s",
		"ChangesAnHour is 3", "PayFor above 0"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q in it", err, want)
		}
	}
	if d := decide.Next(subject(), decide.Parameters{}, decide.Memory{}, minutes(0, 5, 25,
		storm)); d.Verdict != decide.Unknown {
		t.Errorf("with parameters that are out of range: %s", d)
	}
}

func TestWilson(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ of, have, low, high float64 }{
		{0, 0, 0, 1}, {41, 0, 0, 0.0857}, {100, 50, 0.4038, 0.5962}, {10, 10, 0.7225, 1},
	} {
		low, high := decide.Share{Of: c.of, Have: c.have}.Interval()
		if math.Abs(low-c.low) > 5e-5 || math.Abs(high-c.high) > 5e-5 {
			t.Errorf("%v of %v is between %.4f and %.4f, want %.4f and %.4f", c.have, c.of, low, high, c.low, c.high)
		}
	}
}

func ExampleNext() {
	m := decide.Measurement{Now: noon.Add(7 * time.Minute), Capacity: decide.Capacity{PerSecond: 25}}
	for i := range 5 { // 20 a second come in, and nine of ten attempts time out
		m.Points = append(m.Points, decide.Point{
			Start: noon.Add(time.Duration(i) * time.Minute), Attempts: 6000, FirstAttempts: 1200,
			LoadFailures: 5400, Overload: 5400, Successes: 600, Exhausted: 600,
		})
	}
	fmt.Println(decide.Next(subject(), decide.Defaults(), decide.Memory{}, m).Setting)
	// Output: at most 0 retries
}
