package retrypatterns

import "time"

// Preset is a ready-made policy for one kind of caller.
type Preset struct {
	Name   string
	Use    string
	Policy Policy
}

// presets holds the source's numbers. Its loop doubles the delay, caps it and adds up to jitterFactor of it on top. The
// worst-case totals that the source prints (4.5 s, 90 s, 30 min) do not follow from its own formula; the documentation
// prints what [Policy.Schedule] computes.
var presets = []Preset{
	{"interactive", "a person is waiting", proportional(3, 100*time.Millisecond, 3*time.Second, 0.2)},
	{"standard", "background work", proportional(5, time.Second, 30*time.Second, 0.3)},
	{"batch", "long recovery of batch work", proportional(10, 5*time.Second, 5*time.Minute, 0.5)},
}

func proportional(retries int, interval, maxDelay time.Duration, factor float64) Policy {
	return Policy{
		Interval: interval, Rate: 2, MaxDelay: maxDelay, MaxAttempts: retries,
		Jitter: JitterProportional, JitterFactor: factor,
	}
}

// Presets returns the presets interactive, standard and batch, in that order. The slice is the caller's own.
func Presets() []Preset { return append([]Preset(nil), presets...) }
