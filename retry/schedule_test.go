package retry_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/retry"
)

// The source gives 4.5 s, 90 s and 30 min for the first three, but its formula gives these values.
func TestPresetsTotalWorstCaseWait(t *testing.T) {
	t.Parallel()
	want := []struct {
		name  string
		total time.Duration
	}{
		{"interactive", 840 * time.Millisecond},
		{"standard", 40300 * time.Millisecond},
		{"batch", 2272500 * time.Millisecond},
		{"external_api", 7 * time.Second},
		{"database", 15500 * time.Millisecond},
		{"message_queue", 459 * time.Second},
	}
	for i, preset := range retry.Presets() {
		if got := preset.Policy.Schedule().Total.Max; preset.Name != want[i].name || got != want[i].total {
			t.Errorf("%s waits %s at most, want %s %s", preset.Name, got, want[i].name, want[i].total)
		}
	}
}

// The source's worked example: base 1 s, cap 30 s, factor 0.3, six waits.
func TestProportionalScheduleOfTheSourcesExample(t *testing.T) {
	t.Parallel()
	p := retry.Policy{Interval: time.Second, Rate: 2, MaxDelay: 30 * time.Second, MaxAttempts: 6,
		Jitter: retry.JitterProportional, JitterFactor: 0.3}
	want := []retry.Wait{
		{Min: 1000, Mean: 1150, Max: 1300}, {Min: 2000, Mean: 2300, Max: 2600}, {Min: 4000, Mean: 4600, Max: 5200},
		{Min: 8000, Mean: 9200, Max: 10400}, {Min: 16000, Mean: 18400, Max: 20800}, {Min: 30000, Mean: 34500,
			Max: 39000},
	}
	s := p.Schedule()
	for i, w := range want {
		scaled := retry.Wait{
			Min: w.Min * time.Millisecond, Mean: w.Mean * time.Millisecond, Max: w.Max * time.Millisecond,
		}
		if s.Waits[i] != scaled {
			t.Errorf("retry %d: %v, want %v", i+1, s.Waits[i], scaled)
		}
	}
	if s.Total.Max != 79300*time.Millisecond {
		t.Errorf("total %s, want 79.3s", s.Total.Max)
	}
}

func TestDecorrelatedSchedule(t *testing.T) {
	t.Parallel()
	p := retry.Policy{
		Interval: time.Second, MaxDelay: 20 * time.Second, MaxAttempts: 4, Jitter: retry.JitterDecorrelated,
	}
	var longest []time.Duration
	for _, w := range p.Schedule().Waits {
		longest = append(longest, w.Max)
		if w.Min != time.Second {
			t.Errorf("shortest wait is %s, want the interval", w.Min)
		}
	}
	want := []time.Duration{3 * time.Second, 9 * time.Second, 20 * time.Second, 20 * time.Second}
	if !slices.Equal(longest, want) {
		t.Errorf("longest waits %v, want %v", longest, want)
	}
	if got := p.Schedule().Waits[0].Mean; got != 2*time.Second {
		t.Errorf("mean of the first wait is %s, want 2s", got)
	}
}

func TestScheduleMeansMatchSampling(t *testing.T) {
	t.Parallel()
	const runs = 40_000
	for _, jitter := range []retry.Jitter{retry.JitterFull, retry.JitterPartial, retry.JitterProportional,
		retry.JitterDecorrelated} {
		p := retry.Policy{Interval: time.Second, Rate: 2, MaxDelay: time.Minute, MaxAttempts: 3, Jitter: jitter,
			JitterFactor: 0.5}
		rnd := rand.New(rand.NewPCG(7, 8))
		var sum time.Duration
		for range runs {
			var previous time.Duration
			for retry := 1; retry <= p.MaxAttempts; retry++ {
				previous = p.DelayAfter(retry, previous, rnd)
				sum += previous
			}
		}
		mean, want := (sum / runs).Seconds(), p.Schedule().Total.Mean.Seconds()
		if math.Abs(mean-want) > 0.03*want {
			t.Errorf("%s: sampled mean %.3f s, schedule says %.3f s", jitter, mean, want)
		}
	}
}

func TestScheduleBoundsEveryDelay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := anyPolicy().Draw(t, "policy")
		p.MaxAttempts = rapid.IntRange(0, 20).Draw(t, "few retries")
		s := p.Schedule()
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		var previous time.Duration
		for i, w := range s.Waits {
			previous = p.DelayAfter(i+1, previous, rnd)
			if w.Min < 0 || w.Min > w.Mean || w.Mean > w.Max {
				t.Fatalf("retry %d: %v is out of order", i+1, w)
			}
			if previous < w.Min || previous > w.Max {
				t.Fatalf("retry %d waits %d, outside %v", i+1, previous, w)
			}
		}
	})
}

func TestScheduleOfEndlessRetriesIsQuickAndOrdered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		total := anyPolicy().Draw(t, "policy").Schedule().Total
		if total.Min < 0 || total.Min > total.Mean || total.Mean > total.Max {
			t.Fatalf("total %v is out of order", total)
		}
	})
}

func TestTotalOfMoreRetriesThanAreListed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		policy retry.Policy
		want   time.Duration
	}{
		{"capped early", retry.Policy{Interval: time.Second, Rate: 2, MaxDelay: 2 * time.Second, MaxAttempts: 100_001},
			200_001 * time.Second},
		{"constant", retry.Policy{Interval: time.Second, Rate: 1, MaxAttempts: 5_000}, 5_000 * time.Second},
		{"without end", retry.Policy{Interval: time.Second, Rate: 2, MaxAttempts: math.MaxInt}, math.MaxInt64},
	}
	for _, tt := range tests {
		if got := tt.policy.Schedule().Total.Max; got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	slow := retry.Policy{Interval: time.Second, Rate: 1.001, MaxDelay: 5 * time.Second, MaxAttempts: 3_000}
	var want time.Duration
	for retry := range slow.MaxAttempts {
		want += slow.Delay(retry+1, nil)
	}
	if got := slow.Schedule().Total.Max; (got - want).Abs() > time.Millisecond {
		t.Errorf("slow growth: %s, want %s", got, want)
	}
}
