package retry

import (
	"slices"
	"time"
)

// Durable is a retry strategy of a step in AWS's durable execution SDKs. The SDKs for Python, JavaScript and Java have
// the same helpers and defaults; only the one for Python has all presets. It makes no difference between errors. A step
// without a strategy has the preset default.
type Durable struct {
	// MaxAttempts is the number of attempts in total, with the first one.
	MaxAttempts int
	// InitialDelay is the delay before the first retry, MaxDelay the longest one before jitter.
	InitialDelay, MaxDelay time.Duration
	// Rate is the factor by which the delay grows from one retry to the next. If Increment is not 0, the delay grows by
	// that time instead.
	Rate      float64
	Increment time.Duration
	// Jitter is JitterNone, JitterFull, or JitterPartial, which the SDKs call HALF.
	Jitter Jitter
}

// The defaults of the SDKs' helpers, createRetryStrategy and createLinearRetryStrategy.
func exponentialDurable() Durable {
	return Durable{MaxAttempts: 3, InitialDelay: 5 * time.Second, MaxDelay: 5 * time.Minute, Rate: 2,
		Jitter: JitterFull}
}

func linearDurable() Durable {
	return Durable{MaxAttempts: 6, InitialDelay: time.Second, Increment: time.Second, MaxDelay: 5 * time.Minute,
		Rate:   1,
		Jitter: JitterFull}
}

// durablePresets are the presets and, under "exponential" and "linear-helper", the helpers without arguments.
var durablePresets = []struct {
	name string
	of   Durable
}{
	{"default", Durable{MaxAttempts: 6, InitialDelay: 5 * time.Second, MaxDelay: time.Minute, Rate: 2, Jitter: JitterFull}},
	{"none", Durable{MaxAttempts: 1, InitialDelay: 5 * time.Second, MaxDelay: 5 * time.Minute, Rate: 2, Jitter: JitterFull}},
	{"transient", Durable{MaxAttempts: 3, InitialDelay: 5 * time.Second, MaxDelay: 5 * time.Minute, Rate: 2, Jitter: JitterPartial}},
	{"resource-availability", Durable{MaxAttempts: 5, InitialDelay: 5 * time.Second, MaxDelay: 5 * time.Minute, Rate: 2, Jitter: JitterFull}},
	{"critical", Durable{MaxAttempts: 10, InitialDelay: time.Second, MaxDelay: time.Minute, Rate: 1.5, Jitter: JitterNone}},
	{"linear", Durable{MaxAttempts: 6, InitialDelay: time.Second, Increment: time.Second, MaxDelay: 5 * time.Minute, Rate: 1, Jitter: JitterNone}},
	{"fixed", Durable{MaxAttempts: 5, InitialDelay: 5 * time.Second, MaxDelay: 5 * time.Second, Rate: 1, Jitter: JitterNone}},
	{"exponential", exponentialDurable()},
	{"linear-helper", linearDurable()},
}

// DurablePresets returns the names of the strategies that DurablePreset knows.
func DurablePresets() []string {
	names := make([]string, len(durablePresets))
	for i := range durablePresets {
		names[i] = durablePresets[i].name
	}
	return names
}

// DurablePreset returns a preset of the SDK for Python (default, none, transient, resource-availability, critical,
// linear, fixed), or a helper without arguments (exponential, linear-helper). ok is false for other names.
func DurablePreset(name string) (d Durable, ok bool) {
	i := slices.IndexFunc(durablePresets, func(p struct {
		name string
		of   Durable
	}) bool {
		return p.name == name
	})
	if i < 0 {
		return d, false
	}
	return durablePresets[i].of, true
}

// Delay returns the wait after the attempt with the number failed, counted from 1, has failed. Durable executions wait
// for whole seconds: the delay is rounded up after jitter, and is at least one second. With a nil Rand, Delay returns
// the longest wait. It ignores MaxAttempts.
func (d Durable) Delay(failed int, rnd Rand) time.Duration {
	base := Policy{Interval: d.InitialDelay, Rate: d.Rate, MaxDelay: d.MaxDelay}.ceiling(failed)
	if d.Increment > 0 {
		base = min(saturatingAdd(d.InitialDelay, scale(d.Increment, float64(failed-1))), d.MaxDelay)
	}
	switch d.Jitter {
	case JitterFull:
		base = uniform(rnd, 0, base)
	case JitterPartial:
		base = uniform(rnd, base/2, base)
	case JitterNone, JitterDecorrelated, JitterProportional: // the SDKs have only NONE of these
	}
	if rest := base % time.Second; rest > 0 {
		base += time.Second - rest
	}
	return max(base, time.Second)
}

// LongestWait returns the longest total wait between all attempts, at most about 292 years. Delays after the 1,000th
// count as that one.
func (d Durable) LongestWait() time.Duration {
	retries := d.MaxAttempts - 1
	var sum time.Duration
	for failed := 1; failed <= min(retries, listedRetries); failed++ {
		sum = saturatingAdd(sum, d.Delay(failed, nil))
	}
	if rest := retries - listedRetries; rest > 0 {
		sum = saturatingAdd(sum, scale(d.Delay(listedRetries, nil), float64(rest)))
	}
	return sum
}
