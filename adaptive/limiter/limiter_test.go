package limiter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/adaptive/breaker"
	"stepback/adaptive/limiter"
	"stepback/retry"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

// full takes all available permits.
func full(s *limiter.State, p *limiter.Policy, now time.Time) []limiter.Permit {
	var out []limiter.Permit
	for {
		permit, ok := s.Allow(p, now)
		if !ok {
			return out
		}
		out = append(out, permit)
	}
}

// Errors that come by chance, whatever the load, leave the limit alone, and so do slow ones while the limit is not in
// use. A callee that serves nothing any more gets single calls within a quarter of a minute.
func TestOnlyFailuresThatDependOnTheLimitLowerIt(t *testing.T) {
	t.Parallel()
	p := limiter.Standard()
	for _, c := range []struct {
		name     string
		failing  int // of ten calls
		took     float64
		min, max float64
	}{
		{"half of the calls fail", 5, 0.05, 20, 20},
		{"nine of ten calls fail", 9, 2, 20, 20},
		{"all calls fail", 10, 0.05, 1, 1.01},
	} {
		var s limiter.State
		for i := range 20 * 20 { // 20 a second, one at a time
			now := float64(i) / 20
			permit, ok := s.Allow(&p, at(now))
			if !ok {
				t.Fatalf("%s: refused", c.name)
			}
			outcome := breaker.Success
			if i%10 < c.failing {
				outcome = breaker.Failure
			}
			s.Record(&p, permit, at(now+c.took), outcome)
		}
		if got := s.Limit(&p); got < c.min || got > c.max {
			t.Errorf("%s: limit is %v, want %v to %v", c.name, got, c.min, c.max)
		}
	}
}

// A callee that refuses at once what is above its quota loses no time. Throttled calls lower the limit nevertheless,
// towards what the callee takes; failures of other names, which need not depend on the load, leave it alone.
func TestThrottledCallsLowerTheLimit(t *testing.T) {
	t.Parallel()
	p := limiter.Standard()
	for outcome, want := range map[breaker.Outcome][2]float64{
		breaker.Throttled: {12, 16}, breaker.Failure: {20, 20.1},
	} {
		var s limiter.State
		for round := range 600 { // of 0.1 s; ten calls at a time are served
			begin, end := at(float64(round)/10), at(float64(round+1)/10-0.001)
			for i, permit := range full(&s, &p, begin) {
				if i < 10 {
					s.Record(&p, permit, end, breaker.Success)
				} else {
					s.Record(&p, permit, begin, outcome)
				}
			}
		}
		if got := s.Limit(&p); got < want[0] || got > want[1] {
			t.Errorf("%s: the limit is %.1f, want %v", outcome, got, want)
		}
	}
}

// A callee that serves any number of calls fails every third by chance, after as long as a success takes. The limit is
// in use and grows. It falls if the same calls time out, and if errors take three times as long as successes.
func TestErrorsThatTakeAsLongAsSuccessesDoNotLowerTheLimit(t *testing.T) {
	t.Parallel()
	p := limiter.Standard()
	for _, c := range []struct {
		outcome  breaker.Outcome
		took     float64
		min, max float64
	}{
		{breaker.Failure, 0.5, 40, 50},
		{breaker.TimedOut, 0.5, 3, 6},
		{breaker.Failure, 1.5, 3, 6},
	} {
		var s limiter.State
		for round := range 60 { // a round every 1.5 s takes the whole limit
			now := float64(round) * 1.5
			permits := full(&s, &p, at(now))
			for i, permit := range permits {
				if i%3 != 0 {
					s.Record(&p, permit, at(now+0.5), breaker.Success)
				}
			}
			for i, permit := range permits {
				if i%3 == 0 {
					s.Record(&p, permit, at(now+c.took), c.outcome)
				}
			}
		}
		if got := s.Limit(&p); got < c.min || got > c.max {
			t.Errorf("%s after %v s: the limit is %.1f, want %v to %v", c.outcome, c.took, got, c.min, c.max)
		}
	}
	// The functions count the same in sums.
	var s limiter.State
	tally := limiter.Tally{Asked: 60, Admitted: 60, Successes: 40, Failures: 20, Busy: 30 * time.Second,
		Lost: 10 * time.Second, Spared: 10 * time.Second}
	s.Advance(&p, tally, time.Second, at(1))
	if got := s.Limit(&p); got < 21 {
		t.Errorf("the limit is %.1f after errors that took as long as successes, want it raised from 20", got)
	}
}

func TestSuccessAddsOneARoundAndFailureTakesAFifthOnceASecond(t *testing.T) {
	t.Parallel()
	p := limiter.Standard()
	p.Initial = 10
	var s limiter.State
	round := full(&s, &p, at(0))
	if len(round) != 10 {
		t.Fatalf("%d calls at a time, want 10", len(round))
	}
	for _, permit := range round {
		s.Record(&p, permit, at(0.1), breaker.Success)
	}
	// The first four calls did not use half of the limit; six of ten did, each adding a tenth or a little less.
	if got := s.Limit(&p); math.Abs(got-10.585) > 0.001 {
		t.Errorf("limit is %.4f after a round, want 10.585", got)
	}
	round = full(&s, &p, at(0.2))
	for _, permit := range round[:5] {
		s.Record(&p, permit, at(0.3), breaker.Success)
	}
	for _, permit := range round[5:] { // they take eight times as long as the successes
		s.Record(&p, permit, at(1), breaker.Failure)
	}
	before := s.Limit(&p)
	s.Record(&p, limiter.Permit{}, at(1.2), breaker.Failure)
	if got := s.Limit(&p); math.Abs(got-before*0.8) > 0.001 {
		t.Errorf("limit is %.4f after failures within a second, want 0.8 of %.3f", got, before)
	}
	for i := range 100 {
		permit, ok := s.Allow(&p, at(float64(2+i)))
		if !ok {
			t.Fatal("nothing is admitted although nothing is under way")
		}
		s.Record(&p, permit, at(float64(2+i)), breaker.Failure)
	}
	if got := s.Limit(&p); got != 1 {
		t.Errorf("limit is %v after a hundred seconds of failures, want the floor 1", got)
	}
}

func TestCallsThatAreNeverRecordedAreForgotten(t *testing.T) {
	t.Parallel()
	p := limiter.Standard()
	var s limiter.State
	lost := full(&s, &p, at(0))
	if n := s.InFlight(&p, at(59)); n != 20 {
		t.Errorf("%d under way after 59 s, want 20", n)
	}
	if n := s.InFlight(&p, at(76)); n != 0 {
		t.Errorf("%d under way after a timeout of 60 s and a quarter of it, want 0", n)
	}
	fresh := full(&s, &p, at(76))
	for _, permit := range lost {
		s.Record(&p, permit, at(77), breaker.Ignored)
	}
	if n := s.InFlight(&p, at(77)); n != int64(len(fresh)) {
		t.Errorf("%d under way after late records, want the %d fresh ones", n, len(fresh))
	}
}

func TestNeverMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := limiter.Standard()
		p.Initial = rapid.Float64Range(1, 50).Draw(t, "initial")
		p.Max = rapid.Float64Range(50, 60).Draw(t, "max")
		var s limiter.State
		var out []limiter.Permit
		now := 0.0
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			now += rapid.Float64Range(-1, 5).Draw(t, "later")
			before := s.InFlight(&p, at(now))
			if rapid.Bool().Draw(t, "ask") {
				permit, ok := s.Allow(&p, at(now))
				if ok != (float64(before)+1 <= s.Limit(&p)) {
					t.Fatalf("admitted: %v with %d under way and a limit of %v", ok, before, s.Limit(&p))
				}
				if ok {
					out = append(out, permit)
				}
			} else if len(out) > 0 {
				i := rapid.IntRange(0, len(out)-1).Draw(t, "which")
				s.Record(&p, out[i], at(now), breaker.Outcome(rapid.IntRange(0, 2).Draw(t, "outcome")))
				out = append(out[:i], out[i+1:]...)
			}
			if n := s.InFlight(&p, at(now)); n < 0 || n > int64(len(out)) || s.Limit(&p) < 1 || s.Limit(&p) > p.Max {
				t.Fatalf("%d under way of %d, limit %v", n, len(out), s.Limit(&p))
			}
		}
	})
}

func TestAdvanceFollowsTheSumsOfOthers(t *testing.T) {
	t.Parallel()
	p := limiter.Standard()
	var s limiter.State
	// 20 at a time for a second, 0.1 s each: 200 successes are ten rounds.
	s.Advance(&p, limiter.Tally{Asked: 200, Admitted: 200, Successes: 200, Busy: 20 * time.Second}, time.Second, at(1))
	if got := s.Limit(&p); math.Abs(got-28.4) > 0.3 {
		t.Errorf("limit is %.2f after 200 successes at 20, want about √(20²+2·200) = 28.3", got)
	}
	s.Advance(&p, limiter.Tally{Successes: 50, Failures: 5, Busy: 60 * time.Second, Lost: 6 * time.Second},
		2*time.Second,
		at(2.5))
	if got := s.Limit(&p); math.Abs(got-30.1*0.95*0.95) > 0.3 {
		t.Errorf("limit is %.2f after two seconds of which a tenth was lost, want 0.95² of it", got)
	}
	s = limiter.State{}
	s.Advance(&p, limiter.Tally{Asked: 200, Admitted: 200, Successes: 200, Busy: 20 * time.Second}, time.Second, at(1))
	s.Advance(&p, limiter.Tally{Failures: 50}, 2*time.Second, at(3))
	if got := s.Limit(&p); math.Abs(got-28.4*0.64) > 0.3 {
		t.Errorf("limit is %.2f after two seconds of failures, want 0.64 of it", got)
	}
	idle := s.Limit(&p)
	s.Advance(&p, limiter.Tally{Asked: 5, Admitted: 5, Successes: 5, Busy: time.Second}, time.Second, at(4))
	if got := s.Limit(&p); got != idle {
		t.Errorf("limit is %v after calls that did not need it, want it unchanged at %v", got, idle)
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	tally := limiter.Tally{
		Asked:     100,
		Successes: 20,
		Failures:  20,
		Busy:      20 * time.Second,
	} // half a second each: 50 at a time
	for _, c := range []struct {
		limit, want float64
	}{{100, 1}, {50, 1}, {25, 0.5}, {1, 0.02}} {
		if got := limiter.Share(c.limit, tally, time.Second); got != c.want {
			t.Errorf("share at limit %v is %v, want %v", c.limit, got, c.want)
		}
	}
	if got := limiter.Share(1, limiter.Tally{}, time.Second); got != 1 {
		t.Errorf("share is %v when nothing is known, want 1", got)
	}
}

func TestPacerSpacesCallsEvenly(t *testing.T) {
	t.Parallel()
	var pc limiter.Pacer
	var got []string
	for range 3 {
		got = append(got, pc.Reserve(4, at(0)).Sub(noon).String())
	}
	got = append(got, pc.Waiting(at(0)).String(), pc.Reserve(4, at(10)).Sub(noon).String(),
		pc.Reserve(0, at(10)).Sub(noon).String(), pc.Reserve(1, at(10)).Sub(noon).String())
	if want := "0s 250ms 500ms 750ms 10s 10.25s 24h0m10.25s"; strings.Join(got, " ") != want {
		t.Errorf("times are %s, want %s", strings.Join(got, " "), want)
	}
	if r := limiter.Rate(10, 200*time.Millisecond); r != 50 {
		t.Errorf("10 at a time of 200 ms are %v a second, want 50", r)
	}
}

func TestStored(t *testing.T) {
	t.Parallel()
	p := limiter.Standard()
	var s, back limiter.State
	s.Advance(&p, limiter.Tally{Asked: 3, Admitted: 1, Failures: 1}, time.Second, at(1))
	text, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if err != nil || back != s {
		t.Errorf("%s reads back as %+v, %v; want %+v", text, back, err, s)
	}
	for _, bad := range []string{`{}`, `{"v":2}`, `{"v":1,"limit":-1}`, `{"v":1,"limit":0.5}`,
		`{"v":1,"limit":1e999}`, `[]`, `{"v":1,"asked":1,"refused":2}`, `{"v":1,"refused":-1}`, `{"v":1,"counted":-1}`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

// After a restart a limiter starts with what an earlier one learned, if that is at most ten minutes old.
func TestALimiterStartsWithWhatAnEarlierOneLearned(t *testing.T) {
	t.Parallel()
	now := at(0)
	clock := func() time.Time { return now }
	first, err := limiter.New(limiter.Config{Policy: limiter.Standard(), Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	for range 15 { // nothing succeeds
		for range 10 {
			permit, err := first.Allow()
			if err != nil {
				break
			}
			first.Record(permit, breaker.Failure)
		}
		now = now.Add(time.Second)
	}
	if _, err := first.Allow(); err != nil { // under way when the process ends
		t.Fatal(err)
	}
	if limit := first.Limit(); limit < 1 || limit > 4 {
		t.Fatalf("the limit is %v", limit)
	}
	text, err := json.Marshal(first.State())
	if err != nil {
		t.Fatal(err)
	}
	var stored limiter.State
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	ended := now
	for _, c := range []struct {
		state limiter.State
		after time.Duration
		want  float64
	}{
		{stored, time.Minute, first.Limit()},
		{first.State(), 10 * time.Minute, first.Limit()},
		{stored, 10*time.Minute + 1, 20},
		{stored, -time.Second, 20}, // the clock was set back
		{limiter.State{}, 0, 20},
	} {
		now = ended.Add(c.after)
		l, err := limiter.New(limiter.Config{Policy: limiter.Standard(), Now: clock, State: c.state})
		if err != nil {
			t.Fatal(err)
		}
		state, p := l.State(), limiter.Standard()
		if l.Limit() != c.want || state.InFlight(&p, now) != 0 {
			t.Errorf("after %s the limit is %v with %d calls under way, want %v", c.after, l.Limit(),
				state.InFlight(&p, now), c.want)
		}
	}
}

// A limiter that refuses at most one call in five of the last half minute says that a refusal is momentary.
func TestRefusalsAreMomentaryWhileTheyAreFew(t *testing.T) {
	t.Parallel()
	p := limiter.Standard()
	var s limiter.State
	if !s.Momentary() {
		t.Error("a limiter that has refused nothing does not keep up")
	}
	permits := full(&s, &p, at(0)) // 20 of 21 calls admitted
	if !s.Momentary() {
		t.Error("one refusal in 21 calls is not momentary")
	}
	for range 4 {
		s.Allow(&p, at(0)) // 5 of 25 refused
	}
	if !s.Momentary() {
		t.Error("five refusals in 25 calls are not momentary")
	}
	s.Allow(&p, at(0)) // 6 of 26 refused
	if s.Momentary() {
		t.Error("six refusals in 26 calls are momentary")
	}
	for _, permit := range permits {
		s.Record(&p, permit, at(1), breaker.Success)
	}
	s.Allow(&p, at(15)) // 6 of 26 have the weight exp(−0.5): 3.64 of 16.77
	if s.Momentary() {
		t.Error("after 15 s the refusals are forgotten")
	}
	s.Allow(&p, at(60)) // 0.81 of 4.96
	if !s.Momentary() {
		t.Error("after a minute the refusals are remembered")
	}
}

// The sums of other processes count as single calls do.
func TestRefusalsOfOthersAreCounted(t *testing.T) {
	t.Parallel()
	p := limiter.Standard()
	for admitted, want := range map[int64]bool{100: true, 80: true, 79: false, 0: false} {
		var s limiter.State
		s.Advance(&p, limiter.Tally{Asked: 100, Admitted: admitted}, time.Second, at(1))
		if s.Momentary() != want {
			t.Errorf("%d of 100 calls admitted: momentary is %v", admitted, !want)
		}
	}
}

func TestLimiterRefusesByName(t *testing.T) {
	t.Parallel()
	p := limiter.Standard()
	p.Initial = 1
	l, err := limiter.New(limiter.Config{Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	permit, err := l.Allow()
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Allow()
	var refused *limiter.ExhaustedError
	if want := "RetryBudgetExhausted: the callee is called 1 at a time and 1 are under way; try again later"; !errors.As(
		err, &refused) ||
		err.Error() != want || refused.Momentary { // one of two calls
		t.Errorf("error is %v (%+v), want %q", err, refused, want)
	}
	momentary := &limiter.ExhaustedError{Limit: 1.5, InFlight: 1, Momentary: true}
	if c, ok := retry.Classify(momentary); !ok || c.Error != retry.LimitReached ||
		momentary.Error() != "LimitReached: the callee is called 1 at a time and 1 are under way; try again in a moment" {
		t.Errorf("%v is classified as %v", momentary, c)
	}
	l.Record(permit, breaker.Success)
	if _, err := l.Allow(); err != nil || l.Limit() != 2 {
		t.Errorf("%v with limit %v, want a second call at limit 2", err, l.Limit())
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	if err := limiter.Standard().Validate(); err != nil {
		t.Error(err)
	}
	err := limiter.Policy{Decrease: 1, Min: math.NaN(), DecreaseEvery: -1}.Validate()
	for _, want := range []string{"Min is NaN", "Max is 0", "Initial is 0", "Increase is 0", "Decrease is 1",
		"DecreaseEvery is -1ns", "PermitTimeout is 0s"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q in it", err, want)
		}
	}
}

func BenchmarkAllowRecord(b *testing.B) {
	p := limiter.Standard()
	var s limiter.State
	b.ReportAllocs()
	for b.Loop() {
		permit, _ := s.Allow(&p, noon)
		s.Record(&p, permit, noon, breaker.Success)
	}
}

func ExampleState() {
	p := limiter.Standard()
	p.Initial = 1
	var s limiter.State
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	permit, ok := s.Allow(&p, now)
	s.Record(&p, permit, now.Add(time.Second), breaker.Success)
	fmt.Println(ok, s.Limit(&p))
	// Output: true 2
}

func TestHeadroomWhileTheCalleeConvalesces(t *testing.T) {
	t.Parallel()
	p := limiter.Standard()
	var s limiter.State
	tally := limiter.Tally{Asked: 100, Successes: 20}
	if got := s.Headroom(tally, time.Second, at(0)); got != 1 {
		t.Errorf("headroom is %v before any failure, want 1", got)
	}
	s.Advance(&p, limiter.Tally{Failures: 5}, time.Second, at(1))
	for want, tally := range map[float64]limiter.Tally{0.26: tally, 0.01: {Asked: 100}, 1: {Asked: 20, Successes: 20}} {
		if got := s.Headroom(tally, time.Second, at(2)); math.Abs(got-want) > 1e-9 {
			t.Errorf("headroom of %+v is %v after a failure, want %v", tally, got, want)
		}
	}
	if got := s.Headroom(tally, time.Second, at(602)); got != 1 {
		t.Errorf("headroom is %v after ten calm minutes, want 1", got)
	}
}

// TestTheClockIsSetBack sets the clock back by an hour: calls that were never recorded do not block others for that
// hour, failures lower the limit, and deferred calls do not wait for it.
func TestTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	const hour = 3600
	p := limiter.Standard()
	var s limiter.State
	if n := len(full(&s, &p, at(hour))); n != 20 {
		t.Fatalf("%d calls at a time, want 20", n)
	}
	if n := len(full(&s, &p, at(0))); n != 0 {
		t.Errorf("%d more calls, want none while the others may run", n)
	}
	if n := len(full(&s, &p, at(76))); n != 20 {
		t.Errorf("%d calls a minute and a quarter after the clock was set back, want 20", n)
	}

	s = limiter.State{}
	for _, now := range []float64{hour, hour + 1, 0, 0.5} { // the last is within a second of the one before
		for range 5 {
			s.Record(&p, limiter.Permit{}, at(now), breaker.Failure)
		}
	}
	if got := s.Limit(&p); math.Abs(got-20*0.8*0.8) > 0.001 {
		t.Errorf("limit is %.3f after two decreases, want 12.8", got)
	}
	if got := s.Headroom(limiter.Tally{Asked: 100}, time.Second, at(-hour)); got != 1 {
		t.Errorf("a share of %.2f is admitted because of failures in the future", got)
	}

	var pc limiter.Pacer
	for range 3 {
		pc.Reserve(1, at(hour))
	}
	if got := pc.Waiting(at(0)); got != 3*time.Second {
		t.Errorf("a deferred call waits %s, want 3s", got)
	}
	if got := pc.Reserve(1, at(0)); !got.Equal(at(3)) {
		t.Errorf("a deferred call waits until %s, want %s", got, at(3))
	}
}
