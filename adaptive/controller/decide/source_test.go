package decide_test

import (
	"math"
	"testing"
	"time"

	"stepback/adaptive/controller/decide"
	"stepback/retry"
	"stepback/retrypatterns"
)

func TestSourceRulesHaveTheSourcesNumbers(t *testing.T) {
	t.Parallel()
	aggressive := retrypatterns.Retrier{
		ErrorEquals:     []string{"States.Timeout"},
		IntervalSeconds: 2,
		MaxAttempts:     5,
		BackoffRate:     2,
		MaxDelaySeconds: 60,
		JitterStrategy:  "NONE",
	}
	for _, c := range []struct {
		name     string
		f        decide.Function
		attempts int
		interval int
		maxDelay int
		rate     float64
		jitter   retry.Jitter
	}{
		{"20 % is not above 20 %", decide.Function{ErrorRate: 0.2}, 4, 2, 60, 2, "NONE"},
		{"more than 20 % errors", decide.Function{ErrorRate: 0.21}, 3, 4, 60, 2, "NONE"},
		{"more than 10 s", decide.Function{Duration: 11 * time.Second}, 5, 3, 90, 2, "NONE"},
		{"more than 50 at a time", decide.Function{Concurrent: 51}, 5, 2, 60, 2.5, "FULL"},
		{"all three", decide.Function{ErrorRate: 1, Duration: time.Minute, Concurrent: 100}, 3, 6, 90, 2.5, "FULL"},
		{"unknown", decide.Function{ErrorRate: math.NaN(), Concurrent: math.Inf(1)}, 5, 2, 60, 2, "NONE"},
		{"absurd", decide.Function{ErrorRate: 7}, 5, 2, 60, 2, "NONE"},
	} {
		r := decide.StepsFor(c.f).Apply(aggressive)
		if r.MaxAttempts != c.attempts || r.IntervalSeconds != c.interval || r.MaxDelaySeconds != c.maxDelay ||
			r.BackoffRate != c.rate ||
			r.JitterStrategy != c.jitter {
			t.Errorf("%s: %+v, want %d attempts, interval %d, cap %d, rate %v, jitter %s", c.name, r, c.attempts,
				c.interval, c.maxDelay, c.rate, c.jitter)
		}
	}
	one := aggressive
	one.MaxAttempts = 1
	if r := decide.StepsFor(decide.Function{ErrorRate: 1}).Apply(one); r.MaxAttempts != 1 {
		t.Errorf("%d attempts of 1, want the one that is always left", r.MaxAttempts)
	}
}

func TestSourceRulesStretchDelays(t *testing.T) {
	t.Parallel()
	p := decide.Defaults()
	p.Rules = decide.SourceRules
	hours := decide.SourceHours(nil)
	for name, c := range map[string]struct {
		f     decide.Function
		hours *decide.Hours
		want  int // seconds, from an interval of 2
	}{
		"half fail":               {decide.Function{ErrorRate: 0.5}, nil, 4},                             // rule: × 2
		"nearly all fail":         {decide.Function{ErrorRate: 0.9}, nil, 8},                             // 4 × (1 + 1)
		"at its limit":            {decide.Function{ErrorRate: 0.9, Concurrent: 10, Limit: 10}, nil, 12}, // × 1.5
		"idle":                    {decide.Function{ErrorRate: 0.5, Concurrent: 0, Limit: 10}, nil, 4},   // 3.2
		"by the hour":             {decide.Function{ErrorRate: 0.5}, &hours, 6},                          // noon: × 1.5
		"measured, not the hour":  {decide.Function{ErrorRate: 0.5, Limit: 10}, &hours, 4},               // idle
		"the hour is no evidence": {decide.Function{ErrorRate: 0.01}, &hours, 2},
	} {
		p.Hours = c.hours
		m := minutes(0, 5, 0, storm)
		m.Function = &c.f
		d := decide.Next(subject(), p, decide.Memory{}, m)
		got := 2
		if d.Changes() {
			got = d.Setting.Source.Apply(retrypatterns.Retrier{ErrorEquals: []string{"States.Timeout"}, IntervalSeconds: 2,
				MaxAttempts: 5, BackoffRate: 2}).IntervalSeconds
		}
		if got != c.want {
			t.Errorf("%s: %d s, want %d; %s", name, got, c.want, d)
		}
	}
	steps := decide.Steps{Interval: 2, MaxDelay: 1, Failing: 1, Load: 1.5}
	long := steps.Apply(retrypatterns.Retrier{IntervalSeconds: 400, MaxAttempts: 2, BackoffRate: 1})
	if long.IntervalSeconds != 600 {
		t.Errorf("an interval of %d s, want at most ten minutes", long.IntervalSeconds)
	}
}

func TestSourceRulesBehindTheGuards(t *testing.T) {
	t.Parallel()
	p := decide.Defaults()
	p.Rules = decide.SourceRules
	m := minutes(0, 5, 0, storm)
	m.Function = &decide.Function{ErrorRate: 0.5}
	d := decide.Next(subject(), p, decide.Memory{}, m)
	if retries(d) != "[0 2 5 20]" || rules(d) != "5.1" {
		t.Errorf("%s; retries %s", d, retries(d))
	}
	mem := decide.Memory{}.After(d)
	fine := minutes(40, 55, 0, calm)
	fine.Function = &decide.Function{ErrorRate: 0.01}
	if d := decide.Next(subject(), p, mem, fine); d.Setting.String() != "base" || !d.Changes() {
		t.Errorf("when things are calm: %s", d)
	}
	m.Function = nil
	if d := decide.Next(subject(), p, decide.Memory{}, m); d.Changes() {
		t.Errorf("without measurements: %s", d)
	}
}

func TestAdaptiveDelay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		delay        time.Duration
		rate, factor float64
		want         time.Duration
	}{
		{10 * time.Second, 0.5, 1, 10 * time.Second},
		{10 * time.Second, 0.6, 1.5, 24 * time.Second},
		{10 * time.Minute, 1, 1.5, 10 * time.Minute},
		{10 * time.Second, math.NaN(), math.NaN(), 10 * time.Second},
		{10 * time.Second, 3, 0.8, 8 * time.Second},
		{-time.Second, 1, 1, 0},
		{math.MaxInt64, 1, 1e300, 10 * time.Minute},
	} {
		if got := decide.AdaptiveDelay(c.delay, c.rate, c.factor); got != c.want {
			t.Errorf("%v at rate %v and load %v: %v, want %v", c.delay, c.rate, c.factor, got, c.want)
		}
	}
}

func TestLoadFactor(t *testing.T) {
	t.Parallel()
	tokyo := time.FixedZone("JST", 9*3600)
	hours := decide.SourceHours(tokyo)
	for at, want := range map[int]float64{0: 1.5, 8: 1.5, 9: 1, 15: 0.8, 21: 0.8, 22: 1, 23: 1} { // UTC
		now := time.Date(2026, 11, 22, at, 30, 0, 0, time.UTC)
		if got := decide.LoadFactor(nil, now, hours); got != want {
			t.Errorf("at %d:30 UTC, in Tokyo: %v, want %v", at, got, want)
		}
	}
	busy := &decide.Function{Concurrent: 50, Limit: 100}
	if got := decide.LoadFactor(busy, noon, hours); math.Abs(got-1.15) > 1e-9 {
		t.Errorf("half of the limit: %v, want 1.15", got)
	}
}
