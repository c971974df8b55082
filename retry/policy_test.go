package retry_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/retry"
)

// constant is a Rand that always draws the same number.
type constant uint64

func (c constant) Uint64() uint64 { return uint64(c) }

// The ends of what a Rand can draw.
const (
	lowest  constant = 0
	highest constant = math.MaxUint64
)

func TestDelayFollowsStepFunctionsRule(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		policy retry.Policy
		want   []time.Duration
	}{
		{"interval 3, rate 2", retry.Policy{Interval: 3 * time.Second, Rate: 2}, []time.Duration{3 * time.Second,
			6 * time.Second, 12 * time.Second}},
		{"capped at 5", retry.Policy{Interval: time.Second, Rate: 2, MaxDelay: 5 * time.Second},
			[]time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second}},
		{"fractions are kept", retry.Policy{Interval: 2 * time.Second, Rate: 1.8, MaxDelay: 30 * time.Second},
			[]time.Duration{2 * time.Second, 3600 * time.Millisecond, 6480 * time.Millisecond,
				11664 * time.Millisecond}},
		{"rate 1.5", retry.Policy{Interval: 2 * time.Second, Rate: 1.5, MaxDelay: 10 * time.Second},
			[]time.Duration{2 * time.Second, 3 * time.Second}},
		{"rate 1", retry.Policy{Interval: time.Second, Rate: 1}, []time.Duration{time.Second, time.Second}},
		{"no interval", retry.Policy{Rate: 2}, []time.Duration{0, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for i, want := range tt.want {
				if got := tt.policy.Delay(i+1, nil); got != want {
					t.Errorf("retry %d waits %s, want %s", i+1, got, want)
				}
			}
		})
	}
}

func TestJitterBoundsAreReachedExactly(t *testing.T) {
	t.Parallel()
	base := retry.Policy{Interval: 10 * time.Second, Rate: 2, MaxDelay: 25 * time.Second, JitterFactor: 0.3}
	tests := []struct {
		jitter   retry.Jitter
		retry    int
		previous time.Duration
		low, up  time.Duration
	}{
		{retry.JitterNone, 2, 0, 20 * time.Second, 20 * time.Second},
		{"", 2, 0, 20 * time.Second, 20 * time.Second},
		{retry.JitterFull, 1, 0, 0, 10 * time.Second},
		{retry.JitterFull, 3, 0, 0, 25 * time.Second},
		{retry.JitterPartial, 2, 0, 10 * time.Second, 20 * time.Second},
		{retry.JitterProportional, 1, 0, 10 * time.Second, 13 * time.Second},
		{retry.JitterProportional, 9, 0, 25 * time.Second, 32500 * time.Millisecond},
		{retry.JitterDecorrelated, 1, 0, 10 * time.Second, 25 * time.Second},
		{retry.JitterDecorrelated, 2, 7 * time.Second, 10 * time.Second, 21 * time.Second},
		{retry.JitterDecorrelated, 2, 3 * time.Second, 10 * time.Second, 10 * time.Second},
	}
	for _, tt := range tests {
		p := base
		p.Jitter = tt.jitter
		if got := p.DelayAfter(tt.retry, tt.previous, lowest); got != tt.low {
			t.Errorf("%s retry %d: lowest draw waits %s, want %s", tt.jitter, tt.retry, got, tt.low)
		}
		for _, src := range []retry.Rand{highest, nil} {
			if got := p.DelayAfter(tt.retry, tt.previous, src); got != tt.up {
				t.Errorf("%s retry %d: highest draw waits %s, want %s", tt.jitter, tt.retry, got, tt.up)
			}
		}
	}
}

// The sources' Go code panics in rand.Int63n(0) if a delay is 0, and overflows if 2^attempt exceeds the 63 bits of a
// duration.
func TestNoPanicWithoutARangeAndNoOverflowAtAnyAttempt(t *testing.T) {
	t.Parallel()
	for _, jitter := range []retry.Jitter{retry.JitterFull, retry.JitterPartial, retry.JitterDecorrelated,
		retry.JitterProportional} {
		for _, p := range []retry.Policy{{Jitter: jitter}, {Jitter: jitter, Interval: 1, Rate: 2},
			{Jitter: jitter, Interval: time.Second, MaxDelay: 1}} {
			for _, retry := range []int{math.MinInt, -1, 0, 1} {
				if got := p.Delay(retry, highest); got < 0 || got > 3*time.Second {
					t.Errorf("%v retry %d waits %s", p, retry, got)
				}
			}
		}
		p := retry.Policy{Interval: time.Second, Rate: 2, Jitter: jitter, JitterFactor: 1}
		for _, retry := range []int{35, 63, 64, 65, 1024, 1025, math.MaxInt32, math.MaxInt} {
			if got := p.DelayAfter(retry, math.MaxInt64, highest); got != math.MaxInt64 {
				t.Errorf("%s retry %d waits %s, want the longest duration", jitter, retry, got)
			}
		}
		p.MaxDelay = time.Minute
		for _, retry := range []int{7, 64, 1025, math.MaxInt} {
			if got := p.DelayAfter(retry, math.MaxInt64, lowest); got < 0 || got > time.Minute {
				t.Errorf("%s retry %d waits %s under a cap of 1m", jitter, retry, got)
			}
		}
	}
}

// anyPolicy draws policies from all values, valid or not.
func anyPolicy() *rapid.Generator[retry.Policy] {
	floats := rapid.OneOf(rapid.Float64(), rapid.Float64Range(0, 4),
		rapid.SampledFrom([]float64{0, -1, 1, 2, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64,
			math.SmallestNonzeroFloat64}))
	durations := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, int64(time.Hour)),
		rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64}))
	return rapid.Custom(func(t *rapid.T) retry.Policy {
		return retry.Policy{
			Interval:    time.Duration(durations.Draw(t, "interval")),
			Rate:        floats.Draw(t, "rate"),
			MaxDelay:    time.Duration(durations.Draw(t, "cap")),
			MaxAttempts: rapid.OneOf(rapid.Int(), rapid.IntRange(0, 50)).Draw(t, "retries"),
			Jitter: rapid.SampledFrom([]retry.Jitter{"", "FULL", "NONE", "PARTIAL", "DECORRELATED", "PROPORTIONAL",
				"bogus"}).Draw(t, "jitter"),
			JitterFactor: floats.Draw(t, "factor"),
		}
	})
}

func TestDelayStaysInItsExactBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy().Draw(t, "policy")
		nth := rapid.OneOf(rapid.Int(), rapid.IntRange(-2, 100)).Draw(t, "retry")
		previous := time.Duration(rapid.Int64().Draw(t, "previous"))
		draw := constant(rapid.Uint64().Draw(t, "random"))

		low, got, up := p.DelayAfter(nth, previous, lowest), p.DelayAfter(nth, previous, draw),
			p.DelayAfter(nth, previous, highest)
		if low < 0 || got < low || up < got {
			t.Fatalf("%d is not in [%d, %d]", got, low, up)
		}
		plain := p
		plain.Jitter = retry.JitterNone
		d := plain.Delay(nth, nil)
		if p.MaxDelay > 0 && d > p.MaxDelay {
			t.Fatalf("%d exceeds the cap %d", d, p.MaxDelay)
		}
		switch p.Jitter {
		case retry.JitterFull:
			if low != 0 || up != d {
				t.Fatalf("full jitter covers [%d, %d], want [0, %d]", low, up, d)
			}
		case retry.JitterPartial:
			if low != d/2 || up != d {
				t.Fatalf("partial jitter covers [%d, %d], want [%d, %d]", low, up, d/2, d)
			}
		case retry.JitterDecorrelated:
			if p.MaxDelay > 0 && up > p.MaxDelay {
				t.Fatalf("decorrelated jitter reaches %d, above the cap %d", up, p.MaxDelay)
			}
			if nth > 0 && low != capped(p, max(p.Interval, 0)) {
				t.Fatalf("decorrelated jitter begins at %d, want the interval %d or the cap %d", low, p.Interval,
					p.MaxDelay)
			}
		case retry.JitterProportional:
			if low != d {
				t.Fatalf("proportional jitter begins at %d, want %d", low, d)
			}
		default:
			if low != d || up != d {
				t.Fatalf("no jitter covers [%d, %d], want %d alone", low, up, d)
			}
		}
	})
}

func capped(p retry.Policy, d time.Duration) time.Duration {
	if p.MaxDelay > 0 {
		return min(d, p.MaxDelay)
	}
	return d
}

func TestDelaysNeverShrinkFromRetryToRetry(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy().Draw(t, "policy")
		p.Jitter = retry.JitterNone
		retry := rapid.IntRange(0, math.MaxInt-1).Draw(t, "retry")
		if a, b := p.Delay(retry, nil), p.Delay(retry+1, nil); a > b {
			t.Fatalf("retry %d waits %d, the next one %d", retry, a, b)
		}
	})
}

func TestFullJitterIsUniform(t *testing.T) {
	t.Parallel()
	p := retry.Policy{Interval: 10 * time.Second, Rate: 2, Jitter: retry.JitterFull}
	rnd := rand.New(rand.NewPCG(1, 2))
	var tenths [10]int
	for range 100_000 {
		tenths[min(p.Delay(1, rnd)/time.Second, 9)]++
	}
	for i, n := range tenths {
		if n < 9_700 || n > 10_300 {
			t.Errorf("%d of 100000 draws fall into second %d, want about 10000", n, i)
		}
	}
}

func TestDelayDoesNotAllocate(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, jitter := range []retry.Jitter{retry.JitterNone, retry.JitterFull, retry.JitterPartial,
		retry.JitterDecorrelated,
		retry.JitterProportional} {
		p := retry.Policy{Interval: time.Second, Rate: 2.5, MaxDelay: time.Minute, Jitter: jitter, JitterFactor: 0.5}
		if n := testing.AllocsPerRun(100, func() { p.Delay(3, rnd) }); n != 0 {
			t.Errorf("%s allocates %v times", jitter, n)
		}
	}
}

func BenchmarkDelay(b *testing.B) {
	p := retry.Policy{Interval: time.Second, Rate: 2, MaxDelay: time.Minute, Jitter: retry.JitterFull}
	rnd := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p.Delay(i%8+1, rnd)
	}
}
