package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"stepback/retry"
	"stepback/retrypatterns"
)

// fit returns a laboratory scenario that resembles the record of one state: its arrivals or its Map, its callee as a
// queue, and as faults the times at which the callee failed for reasons other than load.
func (c *Collector) fit(state string) string {
	s, x := c.states[state], c.callee(c.states[state].callee)
	begun := s.begun.Truncate(bin * time.Second)
	lasts := max(s.lasted.Sub(begun), bin*time.Second).Truncate(time.Second)
	var b strings.Builder
	fmt.Fprintf(&b, "# Fitted by stepback retries whatif to %d tasks of the state %s, from %s on.\n", s.tasks, state,
		begun.UTC().Format(time.RFC3339))
	fmt.Fprintf(&b, "lab: 1\nname: fitted\nabout: the record of %s\nduration: %d\nwarmup: 0\nworkload:\n",
		state, int(lasts.Seconds()))
	if s.closed*2 > s.tasks {
		limit := int(math.Ceil(s.lastedInFlight.Seconds() / lasts.Seconds()))
		fmt.Fprintf(&b, "  - name: import\n    map: {items: %d, maxConcurrency: %d}\n", s.tasks, min(max(limit, 1), 10_000))
	} else {
		fmt.Fprintf(&b, "  - name: events\n    arrivals: {process: poisson, rate: %.4g}\n",
			float64(s.tasks)/lasts.Seconds())
	}
	retriers, _ := c.currentRetry(state)
	fmt.Fprintf(&b, "    machine:\n      state: Fitted\n      retry:%s\n", retryYAML(retriers))
	f, windows, _ := c.loadOf(state)
	mean, servers := max(f.mean, 0.001), min(f.servers, 10_000)
	if _, n, ok := f.serving(x, windows); ok {
		servers = n
	}
	fmt.Fprintf(&b, "service:\n  callee:\n    servers: %d\n    time: {lognormal: {mean: %.4g, cv: %.3g}}\n"+
		"    queue: {capacity: 1000}\n    errors: [%s]\n", servers, mean,
		math.Round(max(f.variation, 0.01)*100)/100, x.randomErrors())
	timeout := x.longestTimeout.Seconds()
	if timeout <= 0 {
		timeout = 30
	}
	name := cmp.Or(x.commonest(retry.IsOverload), "States.Timeout")
	fmt.Fprintf(&b, "calls: {Fitted: {service: callee, timeout: %.4g, timeoutError: %q}}\n", timeout, name)
	if faults := x.faults(begun); faults != "" {
		fmt.Fprintf(&b, "faults:\n%s", faults)
	}
	return b.String()
}

// bestOver is the number of seconds over which the best rate of successes is taken.
const bestOver = 5

// best returns the highest rate of successes per second over any five seconds that begin in [from, to], in Unix
// seconds: while a queue is drained, this is the servers' rate.
func (x *callee) best(from, to int64) float64 {
	best := 0
	for at := range x.ended {
		if at < from || at > to {
			continue
		}
		n := 0
		for i := range int64(bestOver) {
			n += x.ended[at+i]
		}
		best = max(best, n)
	}
	return float64(best) / bestOver
}

// broken reports whether the callee failed by itself in a bin: at least half of its calls failed with errors other
// than overload.
func (p *point) broken() bool { return p.calls > 0 && 2*(p.failed-p.overload) >= p.calls }

// faults returns as YAML the runs of consecutive bins in which the callee failed by itself.
func (x *callee) faults(begun time.Time) string {
	var b strings.Builder
	var run point
	var to int64
	write := func() {
		if offset := run.at - begun.Unix(); offset >= 0 && to > run.at {
			fmt.Fprintf(&b, "  - {at: %d, for: %d, service: callee, errors: {p: %.3g, after: 0.05, name: %q}}\n", offset,
				to-run.at, min(float64(run.failed)/float64(max(run.calls, 1)), 1), x.commonest(func(name string) bool {
					return !retry.IsOverload(name)
				}))
		}
	}
	for _, p := range x.points() {
		if !p.broken() {
			continue
		}
		if to != p.at {
			write()
			run = point{at: p.at}
		}
		to = p.at + bin
		run.failed += p.failed - p.overload
		run.calls += p.calls
	}
	write()
	return b.String()
}

// randomErrors returns as YAML the random errors that occurred outside faults and overload.
func (x *callee) randomErrors() string {
	calls, by := 0, map[string]int{}
	bad := x.unhealthy()
	for at, s := range x.seconds {
		if bad[at-at%bin] {
			continue
		}
		calls += s.calls
		for name, n := range s.errors {
			if !retry.IsOverload(name) {
				by[name] += n
			}
		}
	}
	all := make([]string, 0, len(by))
	for _, name := range slices.Sorted(maps.Keys(by)) {
		all = append(all, fmt.Sprintf("{name: %q, p: %.4g, kind: transient}", name, float64(by[name])/float64(calls)))
	}
	return strings.Join(all, ", ")
}

// commonest returns the most frequent error name for which wanted is true; empty if there is none.
func (x *callee) commonest(wanted func(string) bool) string {
	by := map[string]int{}
	for _, s := range x.seconds {
		for name, n := range s.errors {
			if wanted(name) {
				by[name] += n
			}
		}
	}
	best := ""
	for _, name := range slices.Sorted(maps.Keys(by)) {
		if by[name] > by[best] {
			best = name
		}
	}
	return best
}

// retryYAML formats a Retry array for a scenario.
func retryYAML(all []retrypatterns.Retrier) string {
	if len(all) == 0 {
		return " none"
	}
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "\n        - {errors: [%s], interval: %d, rate: %g, maxAttempts: %d", quotedList(r.ErrorEquals),
			r.IntervalSeconds, max(r.BackoffRate, 1), r.MaxAttempts)
		if r.MaxDelaySeconds > 0 {
			fmt.Fprintf(&b, ", maxDelay: %d", r.MaxDelaySeconds)
		}
		if r.JitterStrategy == retry.JitterFull {
			b.WriteString(", jitter: FULL")
		}
		b.WriteString("}")
	}
	return b.String()
}

func quotedList(names []string) string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(all, ", ")
}
