package retry

import (
	"slices"
	"time"
)

// Preset is a ready-made policy for one kind of caller.
type Preset struct {
	Name   string
	Use    string
	Policy Policy
}

// presets holds the sources' numbers. The first three double the delay, cap it and add up to jitterFactor of it on
// top. The worst-case totals in their source (4.5 s, 90 s, 30 min) do not follow from its own formula, so the
// documentation prints what [Policy.Schedule] computes. The other three are the guide values of the tuning section.
var presets = []Preset{
	{"interactive", "a person is waiting", proportional(3, 100*time.Millisecond, 3*time.Second, 0.2)},
	{"standard", "background work", proportional(5, time.Second, 30*time.Second, 0.3)},
	{"batch", "long recovery of batch work", proportional(10, 5*time.Second, 5*time.Minute, 0.5)},
	{"external_api", "calls to an external API", doubling(3, time.Second, 30*time.Second, JitterFull)},
	{"database", "connections to a database", doubling(5, 500*time.Millisecond, 10*time.Second, JitterPartial)},
	{"message_queue", "consumers of a message queue", doubling(10, time.Second, time.Minute, JitterDecorrelated)},
}

func proportional(retries int, interval, maxDelay time.Duration, factor float64) Policy {
	p := doubling(retries, interval, maxDelay, JitterProportional)
	p.JitterFactor = factor
	return p
}

func doubling(retries int, interval, maxDelay time.Duration, jitter Jitter) Policy {
	return Policy{Interval: interval, Rate: 2, MaxDelay: maxDelay, MaxAttempts: retries, Jitter: jitter}
}

// Presets returns the presets interactive, standard, batch, external_api, database and message_queue, in that order.
// The slice is a copy.
func Presets() []Preset { return slices.Clone(presets) }

// PresetNamed returns the preset with a name; ok is false if there is none.
func PresetNamed(name string) (Preset, bool) {
	i := slices.IndexFunc(presets, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return presets[i], true
}
