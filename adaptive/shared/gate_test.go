package shared_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"stepback/adaptive/breaker"
	"stepback/adaptive/limiter"
	"stepback/adaptive/shared"
	"stepback/adaptive/shared/storetest"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func TestMemory(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) shared.Store { return &shared.Memory{} })
}

// fleet is a number of processes with one gate each, over one store.
type fleet struct {
	now   time.Time
	gates []*shared.Gate
	draw  int
}

func newFleet(t *testing.T, n int, store shared.Store, p shared.Policies, unavailable func(error)) *fleet {
	t.Helper()
	f := &fleet{now: noon}
	for range n {
		g, err := shared.NewGate(store, "db", p, shared.Config{
			Now: func() time.Time { return f.now }, Unavailable: unavailable,
			Draw: func() float64 { f.draw++; return float64(f.draw*61%100) / 100 },
		})
		if err != nil {
			t.Fatal(err)
		}
		f.gates = append(f.gates, g)
	}
	return f
}

// second lets the processes make 100 calls during a second, each with the given duration and outcome, and returns how
// many were admitted.
func (f *fleet) second(t *testing.T, took time.Duration, outcome breaker.Outcome) (admitted int) {
	t.Helper()
	const calls = 100
	begin := f.now
	for i := range calls {
		f.now = begin.Add(time.Duration(i) * time.Second / time.Duration(calls))
		g := f.gates[i%len(f.gates)]
		permit, err := g.Allow(t.Context())
		if err != nil {
			continue
		}
		admitted++
		f.now = f.now.Add(took)
		g.Record(t.Context(), permit, outcome)
	}
	f.now = begin.Add(time.Second)
	return admitted
}

func TestProcessesLearnFromOneAnother(t *testing.T) {
	t.Parallel()
	p := shared.Callee()
	p.Breaker.OpenFor, p.Breaker.Window = 5*time.Second, 10*time.Second
	f := newFleet(t, 50, &shared.Memory{}, p, nil)
	var admitted []int
	for range 3 {
		admitted = append(admitted, f.second(t, 10*time.Millisecond, breaker.Success))
	}
	for range 7 { // no process makes more than two calls a second: none could open a circuit alone
		admitted = append(admitted, f.second(t, 10*time.Millisecond, breaker.Failure))
	}
	for i, n := range admitted[:3] {
		if n != 100 {
			t.Errorf("%d of 100 calls admitted in second %d, when all is well", n, i)
		}
	}
	if n := admitted[9]; n > 1 {
		t.Errorf("%d of 100 calls admitted in the seventh second of the outage, want one to find out, or none: %v", n,
			admitted)
	}
	var probes []int
	for range 30 {
		probes = append(probes, f.second(t, 10*time.Millisecond, breaker.Success))
	}
	t.Log(admitted, probes)
	if probes[29] != 100 {
		t.Errorf("calls admitted after the outage are %v, want all of them in the end", probes)
	}
}

// A call that the callee refuses at once because it gets too many counts with the time of a success: half of the time
// is lost then, and the limit falls. A failure that takes no time costs nothing.
func TestThrottledCallsLowerTheSharedLimit(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[breaker.Outcome]bool{breaker.Throttled: true, breaker.Failure: false} {
		store := &shared.Memory{}
		p := shared.Callee()
		p.Limiter.Initial = 20
		f := newFleet(t, 5, store, p, nil)
		least := p.Limiter.Initial
		for range 5 {
			begin := f.now
			for i := range 20 { // pairs of calls, of which the second one fails at once
				f.now = begin.Add(time.Duration(i) * time.Second / 20)
				g := f.gates[i%len(f.gates)]
				for _, o := range []breaker.Outcome{breaker.Success, outcome} {
					permit, err := g.Allow(t.Context())
					if err != nil {
						continue
					}
					if o == breaker.Success {
						f.now = f.now.Add(500 * time.Millisecond)
					}
					g.Record(t.Context(), permit, o)
				}
			}
			f.now = begin.Add(time.Second)
			record, _, err := store.Add(t.Context(), "db", limiter.Tally{})
			if err != nil {
				t.Fatal(err)
			}
			least = min(least, record.Limiter.Limit(&p.Limiter))
		}
		if fell := least < 0.9*p.Limiter.Initial; fell != want {
			t.Errorf("%s: the limit was %.2f at least", outcome, least)
		}
	}
}

func TestProbesAreSharedToo(t *testing.T) {
	t.Parallel()
	store, p := &shared.Memory{}, shared.Callee()
	var r shared.Record
	r.Breaker.Trip(noon.Add(-time.Hour))
	r.Version, r.At = 1, noon
	if won, err := store.Replace(t.Context(), "db", r, limiter.Tally{}); !won || err != nil {
		t.Fatal(won, err)
	}
	f := newFleet(t, 30, store, p, nil)
	permits := map[int]shared.Permit{}
	ask := func() {
		for i, g := range f.gates {
			if permit, err := g.Allow(t.Context()); err == nil {
				permits[i] = permit
			} else if _, ok := errors.AsType[*breaker.OpenError](err); !ok {
				t.Fatal(err)
			}
		}
	}
	ask()
	if len(permits) != 1 {
		t.Fatalf("%d probes at once, want 1", len(permits))
	}
	for i, permit := range permits {
		f.gates[i].Record(t.Context(), permit, breaker.Success)
	}
	clear(permits)
	f.now = f.now.Add(2 * time.Second)
	ask()
	if len(permits) != 2 {
		t.Errorf("%d probes after one success, want 2", len(permits))
	}
}

func TestLimitIsSharedByTurns(t *testing.T) {
	t.Parallel()
	p := shared.Callee()
	p.Breaker.FailureRate, p.Breaker.MinimumRequests = 1, 100_000 // only the limiter
	p.Limiter.Initial, p.Limiter.Max = 5, 5
	f := newFleet(t, 50, &shared.Memory{}, p, nil)
	var last int
	for range 5 {
		last = f.second(t, 200*time.Millisecond, breaker.Success)
	}
	// 100 calls of 0.2 s a second would be 20 at a time; five at a time are 25 a second.
	if last < 20 || last > 32 {
		t.Errorf("%d calls a second admitted, want about 25", last)
	}
}

// Each process sees some of the attempts of a record. Together they find that retries of poison are futile while the
// callee serves the others, and that no record is to blame while it serves few.
func TestProcessesTellPoisonFromAnIllCallee(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 4, &shared.Memory{}, shared.Callee(), nil)
	const perSecond = 20
	second := func(s int, failing func(record int) bool) (blameless bool, futile int) {
		for i := range perSecond {
			f.now = noon.Add(time.Duration(s)*time.Second + time.Duration(i)*time.Second/perSecond)
			record := s*perSecond + i
			for retry := range 6 {
				g := f.gates[(i+retry/5)%len(f.gates)]
				permit, err := g.Allow(t.Context())
				if err != nil {
					break
				}
				permit = permit.Of(uint64(record), retry)
				if !failing(record) {
					g.Record(t.Context(), permit, breaker.Success)
					break
				}
				g.Record(t.Context(), permit, breaker.Failure)
				blameless = g.Blameless(permit)
				if g.Futile(permit, 0) { // all calls take no time here
					futile++
					break
				}
			}
		}
		return blameless, futile
	}
	poisonous := func(record int) bool { return record%20 == 7 }
	var blameless bool
	futile := 0
	for s := range 300 {
		var n int
		if _, n = second(s, poisonous); s >= 200 {
			futile += n
		}
	}
	if futile < 80 {
		t.Errorf("with one poison record a second, %d of 100 are given up", futile)
	}
	futile = 0
	for s := 300; s < 330; s++ {
		var n int
		if blameless, n = second(s, func(record int) bool { return record%2 == 0 || poisonous(record) }); s >= 302 {
			futile += n
		}
	}
	if !blameless || futile > 0 {
		t.Errorf("while every other call fails, records are blameless: %v, and %d are given up", blameless, futile)
	}
}

type broken struct{}

func (broken) Add(context.Context, string, limiter.Tally) (shared.Record, limiter.Tally, error) {
	return shared.Record{}, limiter.Tally{}, errors.New("no network")
}

func (broken) Replace(context.Context, string, shared.Record, limiter.Tally) (bool, error) {
	return false, errors.New("no network")
}

func TestAStoreOutOfReachStopsNothing(t *testing.T) {
	t.Parallel()
	var told []string
	f := newFleet(t, 1, broken{}, shared.Callee(), func(err error) { told = append(told, err.Error()) })
	if n := f.second(t, 0, breaker.Failure) + f.second(t, 0, breaker.Failure); n != 200 {
		t.Errorf("%d of 200 calls admitted, want all", n)
	}
	if got := strings.Join(told, ", "); got != "no network, no network" {
		t.Errorf("told %q, want it once a second", got)
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	store := &shared.Memory{}
	g, err := shared.NewGate(store, "db", shared.Callee(), shared.Config{Cache: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for i := range 300 {
				if permit, err := g.Allow(t.Context()); err == nil {
					g.Record(t.Context(), permit, breaker.Outcome(i%3))
				}
			}
		})
	}
	callers.Wait()
}

func TestNewGate(t *testing.T) {
	t.Parallel()
	if _, err := shared.NewGate(&shared.Memory{}, "", shared.Callee(), shared.Config{}); err == nil {
		t.Error("a gate without a callee")
	}
	if _, err := shared.NewGate(&shared.Memory{}, "db", shared.Policies{}, shared.Config{}); err == nil {
		t.Error("a gate without policies")
	}
}

// TestTheClockIsSetBack sets the clock of all processes back by a day while the circuit is open and calls are limited:
// they do not wait for that day.
func TestTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	p := shared.Callee()
	p.Breaker.OpenFor, p.Breaker.Window = 5*time.Second, 10*time.Second
	f := newFleet(t, 3, &shared.Memory{}, p, nil)
	for range 20 {
		f.second(t, 10*time.Millisecond, breaker.Failure)
	}
	if f.gates[0].Circuit() != breaker.Open {
		t.Fatalf("the circuit is %s", f.gates[0].Circuit())
	}
	f.now = f.now.Add(-24 * time.Hour)
	for range 60 {
		f.second(t, 10*time.Millisecond, breaker.Success)
	}
	if got := f.second(t, 10*time.Millisecond, breaker.Success); f.gates[0].Circuit() != breaker.Closed || got != 100 {
		t.Errorf("a minute after the clock was set back the circuit is %s, and %d of 100 calls are admitted",
			f.gates[0].Circuit(), got)
	}
}

// The health of a callee contains how long no call has succeeded.
func TestHealthOfACallee(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, &shared.Memory{}, shared.Callee(), nil)
	if _, known := f.gates[0].Callee(); known {
		t.Error("the health of a callee that was never called is known")
	}
	// One call every 2 s: too few failures to open the circuit.
	for i := range 8 {
		permit, err := f.gates[0].Allow(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		outcome := breaker.Success
		if i > 3 {
			outcome = breaker.Failure
		}
		f.gates[0].Record(t.Context(), permit, outcome)
		f.now = f.now.Add(2 * time.Second)
	}
	h, known := f.gates[0].Callee()
	if !known || h.FailureRate != 1 || !h.Succeeded || h.FailingFor != 8*time.Second {
		t.Errorf("health is %+v, %v; want only failures, and 8 s since the gate learned of the last success", h, known)
	}
}
