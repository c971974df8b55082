package environment

import "stepback/adaptive/cost"

// The memory sizes of the functions that schedules invoke, in MB.
const (
	// MetricsMemory is the smallest size at which Lambda provides a whole processor. Reading takes about 10 µs of
	// processor time per record of the state machine's log, and an import at log level ALL produces 23,000 to 35,000
	// records a second.
	MetricsMemory = 1769
	AdaptMemory   = 256
	RelayMemory   = 256
	PruneMemory   = 128
	// TrainMemory gives the training its share of a processor, which is proportional to it: a forest takes seconds.
	TrainMemory = 1024
)

// Schedule is a rule that invokes a function at an interval.
type Schedule struct {
	Rule     string // name of the rule, without the environment's prefix
	Function string // name of the function, without the environment's prefix
	Minutes  float64
	MemoryMB int
	// Seconds is the assumed duration of an invocation while no import runs; it was not measured on AWS.
	Seconds float64
}

const day = 24 * 60 // minutes

// Schedules returns the schedules of the environment.
//
//   - circuit publishes an open circuit once per period of the alarm circuit-breaker-open, and configuration the retry
//     configuration once per period of its widget.
//   - prune deletes old versions.
//   - adapt measures and decides as often as metrics are published; its rules look at several minutes at a time. train
//     trains the model of retry success. Both exist where there is a controller.
//   - relay empties the outbox, where there is a relay.
func (e Environment) Schedules() []Schedule {
	all := []Schedule{
		{"circuit", "metrics", 1, MetricsMemory, 0.05},
		{"configuration", "metrics", 5, MetricsMemory, 0.1},
		{"prune", "prune", day, PruneMemory, 5},
	}
	if e.Adapt != AdaptOff {
		all = append(all, Schedule{"adapt", "adapt", 1, AdaptMemory, 0.5}, Schedule{"train", "train", day, TrainMemory, 60})
	}
	if e.Relay.Service() != "" {
		all = append(all, Schedule{"relay", "relay", 1, RelayMemory, 0.05})
	}
	return all
}

// Schedule returns the schedule with a rule's name. It panics if the environment has none.
func (e Environment) Schedule(rule string) Schedule {
	for _, s := range e.Schedules() {
		if s.Rule == rule {
			return s
		}
	}
	panic("environment " + e.Name + " has no schedule " + rule)
}

// Invocations returns the number of invocations in a month.
func (s Schedule) Invocations() float64 { return hoursPerMonth * 60 / s.Minutes }

// USD returns the price of a month: requests, compute, and a trace of each invocation, because X-Ray's default rule
// records the first request of each second. Rules with a schedule are free of charge.
func (s Schedule) USD(p cost.Prices) float64 {
	const million, megabytes = 1e6, 1024
	n := s.Invocations()
	return n/million*(p.Invocations+p.Traces) + n*s.Seconds*float64(s.MemoryMB)/megabytes*p.GBSecond
}

// scheduled returns the cost of all schedules.
func (e Environment) scheduled(p cost.Prices) cost.Item {
	item := cost.Item{Name: "Lambda, functions on a schedule", Unit: "invocations"}
	for _, s := range e.Schedules() {
		item.Quantity += s.Invocations()
		item.USD += s.USD(p)
	}
	return item
}
