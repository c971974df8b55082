package poison_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"stepback/adaptive/poison"
)

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

// learned returns the state after 20 records a second for so many seconds. A record fails each call with the
// probability chance, and always if it is one of the share of poison. A record that fails is retried once a second up
// to three times.
func learned(seconds int, poisonous, chance float64) *poison.State {
	var s poison.State
	random := rand.New(rand.NewPCG(1, 2))
	type record struct {
		poison bool
		calls  int
	}
	var again []record
	for second := range seconds {
		now := at(float64(second))
		records := again
		again = nil
		for range 20 {
			records = append(records, record{poison: random.Float64() < poisonous})
		}
		for _, r := range records {
			failed := r.poison || random.Float64() < chance
			s.Record(poison.Attempt{Retry: r.calls, Failed: failed}, now)
			if r.calls++; failed && r.calls <= 3 {
				again = append(again, r)
			}
		}
	}
	return &s
}

func TestPoisonIsToldFromAnIllCallee(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		poisonous float64
		chance    float64
		blameless [2]bool // a record that failed 3 times, and 7 times
		futile    [3]bool // the first, second and third retry
	}{
		{"nothing fails", 0, 0, [2]bool{}, [3]bool{}},
		{"poison", 0.04, 0, [2]bool{false, false}, [3]bool{true, true, true}},
		{"chance errors", 0, 0.05, [2]bool{}, [3]bool{}},
		{"half as many chance errors as poison: the second retry is futile, not the first", 0.04, 0.02, [2]bool{false, false},
			[3]bool{false, true, true}},
		{"every third call fails", 0, 0.33, [2]bool{true, false}, [3]bool{}},
		{"an outage", 0, 1, [2]bool{true, true}, [3]bool{}},
		{"poison during an outage", 0.04, 1, [2]bool{true, true}, [3]bool{}},
	} {
		s := learned(300, c.poisonous, c.chance)
		if got := [2]bool{s.Blameless(3, poison.Answered), s.Blameless(7, poison.Answered)}; got != c.blameless {
			t.Errorf("%s: records that failed 3 and 7 times are blameless: %v, want %v", c.name, got, c.blameless)
		}
		for i, want := range c.futile {
			if got := s.Futile(i+1, poison.Answered); got != want {
				t.Errorf("%s: retry %d is futile: %v, want %v (%v of %v)", c.name, i+1, got, want, s.Recovered, s.Retried)
			}
		}
	}
}

// Timeouts of ordinary records say nothing about records that the callee answers with an error.
func TestKindsOfFailuresAreToldApart(t *testing.T) {
	t.Parallel()
	var s poison.State
	for second := range 40 {
		now := at(float64(second))
		for range 20 {
			s.Record(poison.Attempt{}, now)
		}
		s.Record(poison.Attempt{Retry: 1, After: poison.TimedOut}, now)
		s.Record(poison.Attempt{Retry: 1, Failed: true}, now)
	}
	if s.Futile(1, poison.TimedOut) {
		t.Error("records that timed out recover, and another retry is futile")
	}
	if !s.Futile(1, poison.Answered) {
		t.Errorf("none of %v recovered, and another retry is not futile", s.Retried)
	}
}

// While a callee that poison makes ill fails every fourth first attempt, records that failed as often as poison are not
// waited for. They are while it fails every second one, because part of it is down.
func TestPoisonIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		every     int
		recovers  bool
		blameless bool
	}{{4, false, false}, {4, true, true}, {2, false, true}} {
		var s poison.State
		for second := range 60 {
			now := at(float64(second))
			for i := range 20 {
				s.Record(poison.Attempt{Failed: i%c.every == 0}, now)
			}
			for i := range 4 {
				s.Record(poison.Attempt{Retry: 3, Failed: !c.recovers || i == 0}, now)
			}
		}
		if got := s.Blameless(4, poison.Answered); got != c.blameless {
			t.Errorf("every %d. call fails, third retries recover: %v; a record that failed four times is blameless: %v",
				c.every, c.recovers, got)
		}
	}
}

func TestNothingIsKnownAtFirst(t *testing.T) {
	t.Parallel()
	var s poison.State
	if s.Blameless(1, poison.Answered) || s.Futile(1, poison.Answered) {
		t.Error("the zero State knows something")
	}
	for i := range 4 { // too few to judge
		s.Record(poison.Attempt{Failed: true}, at(float64(i)))
	}
	if s.Blameless(1, poison.Answered) {
		t.Error("four calls are enough for a judgement")
	}
	if s = *learned(10, 0.04, 0); s.Futile(1, poison.Answered) {
		t.Error("ten seconds are enough for a judgement")
	}
}

// A record that has used up its retries in an outage is not to blame for a failure ten minutes later, and is after an
// hour.
func TestAnOutageIsRemembered(t *testing.T) {
	t.Parallel()
	s := learned(60, 0, 1)
	for second := 60; second < 3600; second++ {
		for range 20 {
			s.Record(poison.Attempt{}, at(float64(second)))
		}
		if want := second < 660; second%600 == 59 && s.Blameless(5, poison.Answered) != want {
			t.Errorf("after %d s it is blameless: %v (%+v)", second, !want, s)
		}
	}
}

// Records that recover again, as one futile retry in fifty shows, are retried again.
func TestAVerdictIsTakenBack(t *testing.T) {
	t.Parallel()
	s := learned(300, 0.04, 0)
	for i := range 30 {
		now := at(300 + float64(i))
		for range 20 {
			s.Record(poison.Attempt{}, now)
		}
		s.Record(poison.Attempt{Retry: 1}, now)
	}
	if s.Futile(1, poison.Answered) {
		t.Errorf("%v of %v recovered, and the first retry is still futile", s.Recovered, s.Retried)
	}
}

func TestAStateIsStored(t *testing.T) {
	t.Parallel()
	s := learned(60, 0.1, 0.1)
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back poison.State
	if err := json.Unmarshal(text, &back); err != nil || back != *s {
		t.Errorf("%s is read as %+v, %v", text, back, err)
	}
	s.Record(poison.Attempt{Failed: true}, at(-3600)) // the clock was set back
	if s.Began != at(-3600).UnixNano() {
		t.Errorf("the present slice began at %d", s.Began)
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	var m poison.Memory
	m.Ended(7, true, poison.Answered)
	m.Ended(7, true, poison.TimedOut)
	m.Ended(8, true, poison.TimedOut)
	m.Ended(8, false, poison.Answered)
	m.Ended(9, false, poison.Answered)
	if a, b, c := m.Failures(7), m.Failures(8), m.Failures(9); a != 2 || b != 0 || c != 0 {
		t.Errorf("failures are %d, %d, %d; want 2, 0, 0", a, b, c)
	}
	if got := m.Last(7); got != poison.TimedOut {
		t.Errorf("the last failure is of kind %d, want the timeout", got)
	}
	for i := range uint64(poison.Remembered) {
		m.Ended(100+i, true, poison.Answered)
	}
	if m.Failures(7) != 0 || m.Failures(100+poison.Remembered-1) != 1 {
		t.Error("the oldest record is not forgotten for the newest")
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	var c poison.Counts
	for _, a := range []poison.Attempt{
		{}, {Failed: true, Cheap: true}, {Retry: 1, Failed: true}, {Retry: 1}, {Retry: 1, Failed: true, Cheap: true},
		{Retry: 2, Failed: true}, {Retry: 3}, {Retry: 9, Failed: true}, {Retry: -1, Failed: true},
		{Retry: 1, After: poison.TimedOut},
	} {
		c.Add(a)
	}
	want := poison.Counts{Ended: 10, Failed: 6, First: 2, FirstFailed: 1,
		Retried: [2][3]int64{{2, 1, 2}, {1, 0, 0}}, Recovered: [2][3]int64{{1, 0, 1}, {1, 0, 0}}}
	if c != want {
		t.Errorf("counts are %+v, want %+v", c, want)
	}
	if twice := c.Plus(c); twice.Retried[0][2] != 4 || twice.Plus(c.Negative()) != c {
		t.Errorf("sums are %+v", twice)
	}
}
