package breaker_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/adaptive/breaker"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

// call makes one call that ends at once; it returns false if the call was refused.
func call(s *breaker.State, p *breaker.Policy, now time.Time, outcome breaker.Outcome) bool {
	permit, ok := s.Allow(p, now)
	if ok {
		s.Record(p, permit, now, outcome)
	}
	return ok
}

func TestSourcePolicyOpensAfterFiveFailuresAndClosesAfterThreeSuccesses(t *testing.T) {
	t.Parallel()
	p := breaker.Conservative()
	var s breaker.State
	for i := range 4 {
		call(&s, &p, at(float64(i)), breaker.Failure)
	}
	call(&s, &p, at(4), breaker.Success) // restarts the count
	for i := range 5 {
		if s.Circuit() != breaker.Closed {
			t.Fatalf("%s after %d failures in a row, want closed", s.Circuit(), i)
		}
		call(&s, &p, at(5+float64(i)), breaker.Failure)
	}
	if s.Circuit() != breaker.Open {
		t.Fatalf("%s after five failures in a row, want open", s.Circuit())
	}
	if call(&s, &p, at(68.9), breaker.Success) {
		t.Error("a call was admitted 59.9 s after the circuit opened")
	}
	if got := s.RetryAfter(&p, at(68.9)); got != 100*time.Millisecond {
		t.Errorf("try again after %s, want 100ms", got)
	}
	for range 3 {
		if !call(&s, &p, at(69), breaker.Success) {
			t.Fatal("a probe was refused after 60 s")
		}
	}
	if s.Circuit() != breaker.Closed {
		t.Errorf("%s after three successful probes, want closed", s.Circuit())
	}
}

// A callee's circuit opens if nothing succeeds for 15 s: not for a shorter pause, and not for fewer than ten failures.
func TestCalleeOpensWhenNothingSucceeds(t *testing.T) {
	t.Parallel()
	p := breaker.Callee()
	for _, c := range []struct {
		name      string
		successes int     // in the minutes before
		failures  int     // in a row
		over      float64 // seconds
		want      breaker.Circuit
	}{
		{"an outage", 100, 20, 15, breaker.Open},
		{"a pause", 100, 20, 14.9, breaker.Closed},
		{"few failures", 100, 9, 30, breaker.Closed},
		{"no success ever", 0, 10, 15, breaker.Open},
		// (1 − 1/3)ⁿ ≤ 10⁻⁶ takes 34 failures; with them among the calls of the window it takes more.
		{"a run that a callee with that rate has at times", 10, 20, 15, breaker.Closed},
		{"a run that it never has", 10, 200, 15, breaker.Closed},
		// (1 − 10/510)⁵⁰⁰ = 5 × 10⁻⁵, so the circuit opens after 15 s × 2.7.
		{"an outage soon after the first calls", 10, 500, 41, breaker.Open},
		{"an outage soon after the first calls that is shorter", 10, 500, 40, breaker.Closed},
		// (1 − 15/35)²⁰ = 1.4 × 10⁻⁵: 15 s × 2.14.
		{"an outage with few calls", 15, 20, 32.5, breaker.Open},
		{"an outage with few calls that is shorter", 15, 20, 31.5, breaker.Closed},
		{"an outage after one call", 1, 10, 104, breaker.Open}, // (1 − 1/11)¹⁰ = 0.386: 15 s × 6.59
	} {
		var s breaker.State
		for range c.successes {
			call(&s, &p, at(0), breaker.Success)
		}
		for i := range c.failures {
			call(&s, &p, at(c.over*float64(i)/float64(c.failures-1)), breaker.Failure)
		}
		if s.Circuit() != c.want {
			t.Errorf("%s: %s, want %s", c.name, s.Circuit(), c.want)
		}
	}
}

// No partial outage latches the circuit: from 5 % to 95 % of failing calls and from one call in two seconds to 50 a
// second, half an hour of it lets most calls through, and so many succeed as would without a circuit.
func TestNoPartialOutageLatches(t *testing.T) {
	t.Parallel()
	for _, failing := range []float64{0.05, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95} {
		for _, perSecond := range []float64{0.5, 3, 20, 50} {
			p := breaker.Callee()
			var s breaker.State
			random := rand.New(rand.NewPCG(1, uint64(1000*failing+perSecond)))
			var asked, admitted int
			for i := range int(perSecond * 2400) {
				now := float64(i) / perSecond
				outcome := breaker.Success
				if now >= 600 && random.Float64() < failing {
					outcome = breaker.Failure
				}
				ok := call(&s, &p, at(now), outcome)
				if now >= 600 {
					asked++
					if ok {
						admitted++
					}
				}
			}
			if share := float64(admitted) / float64(asked); share < 0.9 {
				t.Errorf("%.0f %% of %v calls a second fail: %.1f %% are let through (%+v)", 100*failing, perSecond,
					100*share, s.Statistics(&p, at(2400)).Totals)
			}
		}
	}
}

// The first probes of an outage follow each other soon, because it may be short; the time between them doubles up to
// OpenFor. A circuit that has closed starts over. A State stored in between continues.
func TestTheTimeBetweenProbesDoubles(t *testing.T) {
	t.Parallel()
	p := breaker.Callee()
	p.ConsecutiveFailures, p.FailingFor, p.HalfOpenFailures, p.SuccessThreshold, p.Chance = 1, 0, 0, 1, 0
	var s breaker.State
	waits := func(now float64, n int) (got []time.Duration) {
		for range n {
			call(&s, &p, at(now), breaker.Failure) // the circuit opens
			wait := s.RetryAfter(&p, at(now))
			got = append(got, wait)
			now += wait.Seconds()
			stored, err := json.Marshal(s)
			if err == nil {
				err = json.Unmarshal(stored, &s)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return got
	}
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	want := []time.Duration{seconds(2.5), seconds(5), seconds(10), seconds(10)}
	if got := waits(0, 4); !slices.Equal(got, want) {
		t.Errorf("the circuit is open for %v, want %v", got, want)
	}
	if call(&s, &p, at(100), breaker.Success); s.Circuit() != breaker.Closed {
		t.Fatalf("%s after a successful probe", s.Circuit())
	}
	if got := waits(200, 2); !slices.Equal(got, want[:2]) {
		t.Errorf("the next time the circuit is open for %v, want %v", got, want[:2])
	}
	p.OpenFirst = 11 * time.Second
	if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "OpenFirst is 11s") {
		t.Errorf("a first time above OpenFor is accepted: %v", err)
	}
}

// A total outage of ten minutes gets two probes every 10 s, and the circuit closes within seconds of its end.
func TestATotalOutageGetsProbesOnly(t *testing.T) {
	t.Parallel()
	p := breaker.Callee()
	var s breaker.State
	during, closed := 0, 0.0
	for i := range 20 * 900 {
		now := float64(i) / 20
		outcome := breaker.Success
		if now >= 100 && now < 700 {
			outcome = breaker.Failure
		}
		if call(&s, &p, at(now), outcome) && outcome == breaker.Failure {
			during++
		}
		if now >= 700 && closed == 0 && s.Circuit() == breaker.Closed {
			closed = now - 700
		}
	}
	if during < 350 || during > 450 || closed > 12 || closed == 0 {
		t.Errorf("%d of 12,000 calls were made during the outage, and the circuit closed %.1f s after it", during, closed)
	}
}

func TestFailureOfAProbeOpensAgain(t *testing.T) {
	t.Parallel()
	p := breaker.Conservative()
	var s breaker.State
	s.Trip(at(0))
	call(&s, &p, at(60), breaker.Success)
	call(&s, &p, at(61), breaker.Failure)
	if s.Circuit() != breaker.Open || s.RetryAfter(&p, at(61)) != time.Minute {
		t.Errorf("%s for another %s, want open for another 1m0s", s.Circuit(), s.RetryAfter(&p, at(61)))
	}
}

func TestErrorRateOverAWindowOfTime(t *testing.T) {
	t.Parallel()
	p := breaker.Conservative()
	p.ConsecutiveFailures, p.FailureRate, p.MinimumRequests, p.MinimumFailures, p.Window = 0, 0.5, 10, 6, 10*time.Second
	for _, c := range []struct {
		name                string
		successes, failures int
		after               float64 // seconds between the first calls and the last failure
		want                breaker.Circuit
	}{
		{"too few calls", 0, 9, 0, breaker.Closed},
		{"too few failures", 5, 5, 0, breaker.Closed},
		{"rate too low", 7, 6, 0, breaker.Closed},
		{"rate reached", 6, 6, 0, breaker.Open},
		{"the earlier calls have left the window", 6, 6, 11, breaker.Closed},
		{"the earlier calls are still in the window", 6, 6, 8.9, breaker.Open},
	} {
		var s breaker.State
		for range c.successes {
			call(&s, &p, at(0), breaker.Success)
		}
		for range c.failures - 1 {
			call(&s, &p, at(0), breaker.Failure)
		}
		call(&s, &p, at(c.after), breaker.Failure)
		if s.Circuit() != c.want {
			t.Errorf("%s: %s, want %s", c.name, s.Circuit(), c.want)
		}
	}
}

func TestErrorRateOverAWindowOfCalls(t *testing.T) {
	t.Parallel()
	p := breaker.Conservative()
	p.ConsecutiveFailures, p.FailureRate, p.MinimumRequests, p.WindowRequests = 0, 0.5, 4, 4
	var s breaker.State
	for range 100 {
		call(&s, &p, at(0), breaker.Success)
	}
	call(&s, &p, at(0), breaker.Failure)
	for range 3 {
		call(&s, &p, at(0), breaker.Success)
	}
	call(&s, &p, at(0), breaker.Failure) // the first failure leaves the window with this call
	if s.Circuit() != breaker.Closed {
		t.Fatal("open with one failure among the last four calls")
	}
	call(&s, &p, at(0), breaker.Failure)
	if s.Circuit() != breaker.Open {
		t.Error("closed with two failures among the last four calls")
	}
}

func TestCountOfFailuresAlone(t *testing.T) {
	t.Parallel()
	p := breaker.Conservative()
	p.ConsecutiveFailures, p.MinimumFailures, p.Window = 0, 3, time.Minute
	var s breaker.State
	for i := range 3 {
		for range 50 {
			call(&s, &p, at(float64(i)), breaker.Success)
		}
		call(&s, &p, at(float64(i)), breaker.Failure)
	}
	if s.Circuit() != breaker.Open {
		t.Error("closed with three failures in the window")
	}
}

func TestHalfOpenStartsSlowly(t *testing.T) {
	t.Parallel()
	p := breaker.Conservative()
	p.HalfOpenConcurrency, p.SuccessThreshold = 8, 100
	var s breaker.State
	s.Trip(at(0))
	var admitted []int
	for range 6 { // all admitted calls succeed before more are requested
		var permits []breaker.Permit
		for {
			permit, ok := s.Allow(&p, at(60))
			if !ok {
				break
			}
			permits = append(permits, permit)
		}
		admitted = append(admitted, len(permits))
		for _, permit := range permits {
			s.Record(&p, permit, at(60), breaker.Success)
		}
	}
	if got, want := text(admitted), "[1,2,4,8,8,8]"; got != want {
		t.Errorf("admitted %s at a time, want %s", got, want)
	}
}

func TestProbesExpireAndCountOnce(t *testing.T) {
	t.Parallel()
	p := breaker.Conservative()
	var s breaker.State
	s.Trip(at(0))
	lost, _ := s.Allow(&p, at(60)) // its caller dies
	if _, ok := s.Allow(&p, at(119)); ok {
		t.Fatal("two probes at a time")
	}
	if got := s.RetryAfter(&p, at(119)); got != time.Second {
		t.Errorf("try again after %s, want 1s", got)
	}
	second, ok := s.Allow(&p, at(120))
	if !ok {
		t.Fatal("the lost probe still holds its place after its timeout")
	}
	s.Record(&p, lost, at(121), breaker.Failure) // too late to count
	s.Record(&p, second, at(121), breaker.Success)
	s.Record(&p, second, at(121), breaker.Success) // a second time
	got := s.Statistics(&p, at(121))
	if got.Circuit != breaker.HalfOpen || got.ProbeSuccesses != 1 || got.Probes != 0 || got.Totals.Late != 2 ||
		got.Totals.Expired != 1 {
		t.Errorf("statistics are %+v; want half-open, 1 success, no probe out, 2 late, 1 expired", got)
	}
}

func TestResultsOfAnEarlierCircuitDoNotCount(t *testing.T) {
	t.Parallel()
	p := breaker.Conservative()
	var s breaker.State
	slow, _ := s.Allow(&p, at(0))
	s.Trip(at(1))
	for range 3 {
		call(&s, &p, at(61), breaker.Success)
	}
	for range 4 {
		call(&s, &p, at(62), breaker.Failure)
	}
	s.Record(&p, slow, at(63), breaker.Failure)
	if s.Circuit() != breaker.Closed {
		t.Error("a call from before the outage opened the circuit after it")
	}
}

func TestIgnoredOutcomesGiveTheProbeBack(t *testing.T) {
	t.Parallel()
	p := breaker.Conservative()
	var s breaker.State
	s.Trip(at(0))
	for range 10 {
		if !call(&s, &p, at(60), breaker.Ignored) {
			t.Fatal("an ignored outcome kept the probe's place")
		}
	}
	if s.Circuit() != breaker.HalfOpen {
		t.Errorf("%s, want half-open", s.Circuit())
	}
}

func TestReset(t *testing.T) {
	t.Parallel()
	p := breaker.Conservative()
	var s breaker.State
	permit, _ := s.Allow(&p, at(0))
	s.Trip(at(0))
	s.Reset(at(1))
	s.Record(&p, permit, at(1), breaker.Failure)
	got := s.Statistics(&p, at(1))
	want := breaker.Statistics{Circuit: breaker.Closed, Since: at(1), Totals: breaker.Totals{Late: 1}}
	if got != want {
		t.Errorf("after a reset: %+v\nwant %+v", got, want)
	}
}

func TestStoredStateGoesOnAsItWas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := policies(t)
		var s breaker.State
		drive(t, &p, &s, nil)
		var back breaker.State
		stored, err := json.Marshal(s)
		if err == nil {
			err = json.Unmarshal(stored, &back)
		}
		if err != nil {
			t.Fatalf("%s: %v", stored, err)
		}
		if again := text(back); again != string(stored) {
			t.Fatalf("stored %s\nread %s", stored, again)
		}
		if a, b := s.Statistics(&p, at(500)), back.Statistics(&p, at(500)); a != b {
			t.Fatalf("statistics are %+v, were %+v", b, a)
		}
	})
}

// A breaker driven at random never has more probes out in a half-open circuit than its concurrency, none of them
// holds a slot for ever, and no count goes below zero.
func TestNeverMoreProbesThanAdmitted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := policies(t)
		var s breaker.State
		drive(t, &p, &s, func(now time.Time) {
			st := s.Statistics(&p, now)
			if st.Probes > int64(p.HalfOpenConcurrency) || st.Admits > int64(p.HalfOpenConcurrency) ||
				st.Requests < 0 || st.Failures < 0 ||
				st.Failures > st.Requests ||
				st.RetryAfter < 0 {
				t.Fatalf("statistics are %+v", st)
			}
		})
		// A lost probe does not block the circuit for ever.
		end := at(1e6)
		for range p.SuccessThreshold * 2 {
			if _, ok := s.Allow(&p, end); !ok && s.Circuit() == breaker.HalfOpen && s.Statistics(&p, end).Probes == 0 {
				t.Fatal("a half-open circuit without probes refuses one")
			}
		}
	})
}

func policies(t *rapid.T) breaker.Policy {
	p := breaker.Policy{
		ConsecutiveFailures: rapid.IntRange(0, 5).Draw(t, "consecutive"),
		OpenFor:             time.Duration(rapid.IntRange(1, 20).Draw(t, "openFor")) * time.Second,
		HalfOpenConcurrency: rapid.IntRange(1, breaker.MaxProbes).Draw(t, "concurrency"),
		SuccessThreshold:    rapid.IntRange(1, 20).Draw(t, "successes"),
		HalfOpenFailures:    rapid.IntRange(0, 2).Draw(t, "failures"),
		OpenFirst:           time.Duration(rapid.IntRange(0, 1).Draw(t, "openFirst")) * time.Second,
		ProbeTimeout:        time.Duration(rapid.IntRange(1, 20).Draw(t, "probeTimeout")) * time.Second,
		FailureRate:         0.5, MinimumRequests: 3,
	}
	if rapid.Bool().Draw(t, "by calls") {
		p.WindowRequests = rapid.IntRange(3, breaker.MaxWindowRequests).Draw(t, "calls")
	} else {
		p.Window = time.Duration(rapid.IntRange(1, 60).Draw(t, "window")) * time.Second
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	return p
}

// drive makes random overlapping calls; the clock may also run backwards.
func drive(t *rapid.T, p *breaker.Policy, s *breaker.State, check func(time.Time)) {
	var out []breaker.Permit
	now := 100.0
	for range rapid.IntRange(1, 200).Draw(t, "steps") {
		now += rapid.Float64Range(-0.5, 5).Draw(t, "later")
		if rapid.Bool().Draw(t, "ask") {
			if permit, ok := s.Allow(p, at(now)); ok {
				out = append(out, permit)
			}
		} else if len(out) > 0 {
			i := rapid.IntRange(0, len(out)-1).Draw(t, "which")
			s.Record(p, out[i], at(now), breaker.Outcome(rapid.IntRange(0, 2).Draw(t, "outcome")))
			if rapid.Bool().Draw(t, "once") {
				out = append(out[:i], out[i+1:]...)
			}
		}
		if check != nil {
			check(at(now))
		}
	}
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func FuzzStoredState(f *testing.F) {
	var s breaker.State
	p := breaker.Callee()
	call(&s, &p, at(0), breaker.Failure)
	f.Add(text(s))
	s.Trip(at(1))
	s.Allow(&p, at(30))
	f.Add(text(s))
	f.Fuzz(func(t *testing.T, stored string) {
		var s breaker.State
		if json.Unmarshal([]byte(stored), &s) != nil {
			return
		}
		for i := range 40 {
			call(&s, &p, at(float64(i)*7), breaker.Outcome(i%2))
			s.Statistics(&p, at(float64(i)*7))
		}
	})
}

func TestTallyOfOthersOpensTheCircuit(t *testing.T) {
	t.Parallel()
	p := breaker.Callee()
	p.ConsecutiveFailures, p.FailureRate, p.MinimumRequests, p.MinimumFailures = 0, 0.5, 20, 10
	var s breaker.State
	s.Tally(&p, 30, 9, at(0))
	s.Tally(&p, 0, 20, at(1))
	if s.Circuit() != breaker.Closed {
		t.Fatal("open with 29 failures of 59 calls")
	}
	s.Tally(&p, 0, 1, at(2))
	if s.Circuit() != breaker.Open {
		t.Fatal("closed with 30 failures of 60 calls")
	}
	s.Tally(&p, 5, 5, at(3))
	if got := s.Statistics(&p, at(3)).Totals; got.Late != 10 || got.Failures != 30 {
		t.Errorf("totals are %+v, want 10 late", got)
	}
	five := breaker.Conservative()
	var row breaker.State
	row.Tally(&five, 0, 4, at(0))
	row.Tally(&five, 1, 3, at(0))
	row.Tally(&five, 0, 4, at(0))
	if row.Circuit() != breaker.Closed {
		t.Fatal("a success did not end the row of failures")
	}
	row.Tally(&five, 0, 1, at(0))
	if row.Circuit() != breaker.Open {
		t.Error("closed after five failures in a row")
	}
}

// TestTheClockIsSetBack sets the clock back by an hour: the circuit is not open for that hour, a lost probe does not
// hold its slot for it, and failures of the past do not stay in the window for it.
func TestTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	const hour = 3600
	p := breaker.Conservative()
	var s breaker.State
	s.Trip(at(hour))
	if call(&s, &p, at(hour-30), breaker.Success) {
		t.Error("a call was admitted while the clock was only half a minute behind")
	}
	if got := s.RetryAfter(&p, at(hour-30)); got != 90*time.Second {
		t.Errorf("try again after %s, want 1m30s", got)
	}
	if got := s.RetryAfter(&p, at(0)); got != 0 {
		t.Errorf("try again after %s, want at once", got)
	}
	if !call(&s, &p, at(0), breaker.Success) {
		t.Error("the circuit is open for as long as the clock was set back")
	}

	s = breaker.State{}
	s.Trip(at(hour))
	if _, ok := s.Allow(&p, at(hour+60)); !ok { // a probe that is never recorded
		t.Fatal("no probe is admitted")
	}
	if _, ok := s.Allow(&p, at(hour+30)); ok {
		t.Error("a second probe was admitted while the first may run")
	}
	if _, ok := s.Allow(&p, at(0)); !ok {
		t.Error("a lost probe holds its slot for as long as the clock was set back")
	}

	window := breaker.Callee()
	s = breaker.State{}
	for range 9 {
		call(&s, &window, at(hour), breaker.Failure)
	}
	call(&s, &window, at(0), breaker.Success)
	if got := s.Statistics(&window, at(0)); got.Failures != 9 || got.Requests != 10 {
		t.Errorf("%d failures of %d calls, want 9 of 10", got.Failures, got.Requests)
	}
	if got := s.Statistics(&window, at(301)); got.Requests != 0 {
		t.Errorf("%d calls are in the window five minutes after the clock was set back", got.Requests)
	}
}
