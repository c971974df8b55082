package budget_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/adaptive/budget"
	"stepback/retry"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

// retries counts how many retries in a row are granted.
func retries(s *budget.State, p *budget.Policy, now time.Time) (n int) {
	for s.Retry(p, now, retry.CauseOther) {
		n++
	}
	return n
}

func TestFinagle(t *testing.T) {
	t.Parallel()
	p := budget.Finagle()
	var s budget.State
	for range 1000 {
		s.Request(&p, at(0))
	}
	if n := retries(&s, &p, at(0)); n != 300 {
		t.Errorf("%d retries for 1000 requests within 10 s, want a fifth and ten a second: 300", n)
	}
	if n := retries(&s, &p, at(5)); n != 0 {
		t.Errorf("%d retries after 5 s, want 0", n)
	}
	if n := retries(&s, &p, at(10.5)); n != 100 {
		t.Errorf("%d retries when the requests have left the window, want the reserve of 100", n)
	}
}

func TestGRPC(t *testing.T) {
	t.Parallel()
	p := budget.GRPC()
	var s budget.State
	var allowed []string
	for range 6 {
		s.Failure(&p, at(0))
		allowed = append(allowed, fmt.Sprint(s.Retry(&p, at(0), retry.CauseOther)))
	}
	if got := strings.Join(allowed, " "); got != "true true true true false false" {
		t.Errorf("retries after each of six failures: %s; want only while more than 5 of 10 tokens are there", got)
	}
	for range 11 {
		s.Success(&p, at(0), false, retry.CauseOther)
	}
	if !s.Retry(&p, at(0), retry.CauseOther) {
		t.Errorf("no retry with %v tokens", s.Tokens(&p, at(0)))
	}
	for range 100 {
		s.Failure(&p, at(0))
	}
	if got := s.Tokens(&p, at(0)); got != 0 {
		t.Errorf("%v tokens, want 0 and not less", got)
	}
}

// A retry of the SDK of 2026 costs 14 tokens, after a throttle 5. Its success returns them, and any other one earns 1.
func TestSDK2026(t *testing.T) {
	t.Parallel()
	p := budget.SDK(retry.SDK2026())
	var s budget.State
	got := fmt.Sprint(
		s.Retry(&p, at(0), retry.CauseOther), s.Tokens(&p, at(0)),
		s.Retry(&p, at(0), retry.CauseTimeout), s.Tokens(&p, at(0)),
		s.Retry(&p, at(0), retry.CauseThrottle), s.Tokens(&p, at(0)))
	s.Success(&p, at(0), true, retry.CauseOther)
	got += fmt.Sprint(" ", s.Tokens(&p, at(0)))
	s.Success(&p, at(0), false, retry.CauseOther)
	got += fmt.Sprint(" ", s.Tokens(&p, at(0)))
	if want := "true 486 true 472 true 467 481 482"; got != want {
		t.Errorf("retries and tokens are %s, want %s", got, want)
	}
	if n := retries(&s, &p, at(0)); n != 34 {
		t.Errorf("%d retries from 482 tokens, want 34", n)
	}
}

// A retry of the SDK of 2025 costs 5 tokens, after a timeout 10. Its success returns them and earns 1 besides.
func TestSDK2025(t *testing.T) {
	t.Parallel()
	p := budget.SDK(retry.SDK2025())
	var s budget.State
	got := fmt.Sprint(
		s.Retry(&p, at(0), retry.CauseThrottle), s.Tokens(&p, at(0)),
		s.Retry(&p, at(0), retry.CauseTimeout), s.Tokens(&p, at(0)))
	s.Success(&p, at(0), true, retry.CauseTimeout)
	if got += fmt.Sprint(" ", s.Tokens(&p, at(0))); got != "true 495 true 485 496" {
		t.Errorf("retries and tokens are %s, want true 495 true 485 496", got)
	}
}

// When half of the calls fail, retries are bounded by what the successes earn.
func TestBucketBoundsTheLoad(t *testing.T) {
	t.Parallel()
	p := budget.Bucket()
	var s budget.State
	rnd := rand.New(rand.NewPCG(1, 2))
	const requests = 200_000
	calls := 0
	for range requests {
		for {
			calls++
			if rnd.Float64() >= 0.5 {
				s.Success(&p, at(0), false, retry.CauseOther)
				break
			}
			if !s.Retry(&p, at(0), retry.CauseOther) {
				break
			}
		}
	}
	// A request earns 0.1 × (successes per request) retries: r = 0.1 × (1 + r) ÷ 2.
	if got, want := float64(calls)/requests, 1+0.05/0.95; math.Abs(got-want) > 0.003 {
		t.Errorf("%.4f calls per request, want %.4f", got, want)
	}
}

func TestBucketRefillsByTime(t *testing.T) {
	t.Parallel()
	p := budget.Policy{Capacity: 10, PerSecond: 2, RetryCost: 1}
	var s budget.State
	got := fmt.Sprint(retries(&s, &p, at(0)), retries(&s, &p, at(1)), retries(&s, &p, at(0)), retries(&s, &p, at(100)))
	if got != "10 2 0 10" {
		t.Errorf("retries are %s, want 10 2 0 10", got)
	}
}

func TestThrottleRefusesWhatIsNotAccepted(t *testing.T) {
	t.Parallel()
	p := budget.SRE(2)
	var th budget.Throttle
	for range 100 {
		th.Allow(&p, at(0), 0.99)
	}
	for range 20 {
		th.Accepted(&p, at(1))
	}
	if got, want := th.Refuses(&p, at(1)), 60.0/101; got != want {
		t.Errorf("refuses with %v, want %v", got, want)
	}
	if th.Allow(&p, at(1), 0.5) || !th.Allow(&p, at(1), 0.7) {
		t.Error("draws below the probability are refused and those above are not")
	}
	if got := th.Refuses(&p, at(200)); got != 0 {
		t.Errorf("refuses with %v when the window is over, want 0", got)
	}
}

func TestNeverBelowNothing(t *testing.T) {
	t.Parallel()
	presets := map[string]budget.Policy{
		"finagle": budget.Finagle(), "source": budget.Standard(), "grpc": budget.GRPC(), "sdk": budget.SDK(retry.SDK2026()),
		"bucket": budget.Bucket(),
	}
	for name, p := range presets {
		if err := p.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p := presets[rapid.SampledFrom([]string{"finagle", "source", "grpc", "sdk", "bucket"}).Draw(t, "preset")]
		var s budget.State
		var requests, granted float64
		now := 0.0
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			now += rapid.Float64Range(0, 0.02).Draw(t, "later")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				s.Request(&p, at(now))
				requests++
			case 1:
				s.Failure(&p, at(now))
			case 2:
				s.Success(&p, at(now), false, retry.CauseOther)
			default:
				if s.Retry(&p, at(now), retry.CauseOther) {
					granted++
				}
			}
			if tokens := s.Tokens(&p, at(now)); tokens < -1e-5 {
				t.Fatalf("%v tokens", tokens)
			}
		}
		if p.Window > 0 && granted > requests*p.PerRequest+p.PerSecond*p.Window.Seconds()+1e-5 {
			t.Fatalf("%v retries for %v requests", granted, requests)
		}
	})
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]budget.Policy{
		"Capacity is 0":              {RetryCost: 1},
		"would have no effect":       {Capacity: 1},
		"PerSecond is NaN":           {PerSecond: math.NaN()},
		"Window is 9ns":              {Window: 9},
		"RetryCost is -1; it must b": {RetryCost: -1},
	} {
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q in it", p, err, want)
		}
	}
}

func TestBudgetTakesTheClock(t *testing.T) {
	t.Parallel()
	now := at(0)
	b, err := budget.New(budget.Config{Policy: budget.Finagle(), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	b.Request()
	b.Success(false, retry.CauseOther)
	b.Failure()
	got := fmt.Sprintf("%.1f %v %.1f", b.Tokens(), b.Retry(retry.CauseOther), b.Tokens())
	now = at(20)
	if got += fmt.Sprintf(" %.1f", b.Tokens()); got != "100.2 true 99.2 100.0" {
		t.Errorf("tokens are %s, want 100.2 true 99.2 100.0", got)
	}
}

func BenchmarkRetry(b *testing.B) {
	p := budget.Finagle()
	var s budget.State
	b.ReportAllocs()
	for b.Loop() {
		s.Request(&p, noon)
		s.Retry(&p, noon, retry.CauseOther)
	}
}

func ExampleState() {
	p := budget.SDK(retry.SDK2026())
	var s budget.State
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	granted := 0
	for s.Retry(&p, now, retry.CauseOther) {
		granted++
	}
	fmt.Println(granted, "retries, then none until something succeeds")
	// Output: 35 retries, then none until something succeeds
}

// TestTheClockIsSetBack sets the clock back by an hour: an empty bucket fills again, and a window forgets what was
// spent.
func TestTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	const hour = 3600
	bucket := budget.Policy{Capacity: 10, PerSecond: 1, RetryCost: 1}
	var s budget.State
	if n := retries(&s, &bucket, at(hour)); n != 10 {
		t.Fatalf("%d retries, want 10", n)
	}
	if n := retries(&s, &bucket, at(hour-5)); n != 0 {
		t.Errorf("%d retries when the clock is a little behind, want 0", n)
	}
	if n := retries(&s, &bucket, at(0)); n != 0 {
		t.Errorf("%d retries at once, want 0", n)
	}
	if n := retries(&s, &bucket, at(4)); n != 4 {
		t.Errorf("%d retries 4 s after the clock was set back, want 4", n)
	}

	window := budget.Standard()
	s = budget.State{}
	if n := retries(&s, &window, at(hour)); n != 100 {
		t.Fatalf("%d retries, want 100", n)
	}
	if n := retries(&s, &window, at(0)); n != 0 {
		t.Errorf("%d retries at once, want 0", n)
	}
	if n := retries(&s, &window, at(10.5)); n != 100 {
		t.Errorf("%d retries 10.5 s after the clock was set back, want 100", n)
	}
}
