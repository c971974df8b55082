package regret

import (
	"fmt"
	"math"
	"strings"

	"stepback/adaptive/lab/draw"
	"stepback/adaptive/lab/scenario"
)

// forScenarios is the purpose of the random numbers that scenarios are drawn with.
const forScenarios draw.Purpose = 1000

// drawing is the state of a scenario while it is drawn.
type drawing struct {
	stream draw.Stream

	rate, mean, timeout float64
	servers             int

	arrivals, queue, errors, faults string
	maps                            string
}

// between returns a uniformly distributed number, and spread one whose logarithm is.
func (d *drawing) between(low, high float64) float64 { return low + (high-low)*d.stream.Float() }
func (d *drawing) spread(low, high float64) float64 {
	return math.Exp(d.between(math.Log(low), math.Log(high)))
}

func (d *drawing) chance(p float64) bool { return d.stream.Float() < p }

func (d *drawing) one(names ...string) string {
	return names[int(d.stream.Float()*float64(len(names)))]
}

// loadError draws the name of an error that functions take for a fault of the callee.
func (d *drawing) loadError() string {
	return d.one("DatabaseConnectionError", "ServiceUnavailableError", "InternalServerError", "TooManyRequestsException")
}

// kinds lists the kinds of scenarios: the troubles of the service or its load. Each is as likely as the others.
var kinds = []struct {
	name string
	draw func(d *drawing)
}{
	{"calm", func(*drawing) {}},
	{"outage", func(d *drawing) {
		after := 0.05
		if d.chance(0.3) {
			after = d.timeout // calls hang
		}
		d.faults = fmt.Sprintf("  - {at: 300, for: %.0f, service: s, errors: {p: 1, after: %.3g, name: %s}}\n",
			d.spread(5, 300), after, d.loadError())
	}},
	{"partial outage", func(d *drawing) {
		d.faults = fmt.Sprintf("  - {at: 300, for: %.0f, service: s, errors: {p: %.2f, after: 0.05, name: %s}}\n",
			d.spread(60, 900), d.between(0.05, 0.95), d.loadError())
	}},
	{"brown-out", func(d *drawing) {
		d.faults = fmt.Sprintf("  - {at: 300, for: %.0f, service: s, capacity: %.2f}\n", d.spread(30, 300),
			d.between(0.2, 0.9))
	}},
	{"cold cache", func(d *drawing) {
		outage, cold := d.spread(5, 60), d.spread(60, 300)
		d.faults = fmt.Sprintf("  - {at: 300, for: %.0f, service: s, errors: {p: 1, after: 0.05}}\n"+
			"  - {at: %.0f, for: %.0f, service: s, capacity: {from: %.2f, to: 1, shape: linear}}\n",
			outage, 300+outage, cold, d.between(0.2, 0.7))
	}},
	{"pauses", func(d *drawing) {
		d.faults = fmt.Sprintf("  - {gilbert: {meanGood: %.0f, meanBad: %.1f}, service: s, capacity: 0}\n",
			d.spread(30, 120), d.spread(1, 5))
	}},
	{"gusts", func(d *drawing) {
		d.faults = fmt.Sprintf("  - {gilbert: {meanGood: %.0f, meanBad: %.0f}, service: s, errors: {p: %.2f}}\n",
			d.spread(100, 400), d.spread(5, 60), d.between(0.3, 1))
	}},
	{"chance errors", func(d *drawing) {
		after := ""
		if d.chance(0.5) {
			after = "after: 0.05, "
		}
		d.errors = fmt.Sprintf("{name: %s, p: %.3f, %skind: load}", d.loadError(), d.spread(0.005, 0.3), after)
	}},
	{"poison", func(d *drawing) {
		after := d.spread(0.05, 5) // how long a poison record holds a server
		p := d.spread(0.005, 0.05)
		// Its first attempts alone must not overload the service.
		p = min(p, 0.3*float64(d.servers)/(d.rate*after))
		d.errors = fmt.Sprintf("{name: InternalServerError, p: %.4f, after: %.3g, kind: load, by: item}", p, after)
	}},
	{"bursts", func(d *drawing) {
		d.arrivals = fmt.Sprintf("{process: mmpp, rates: [%.3g, %.3g], holds: [60, %.0f]}", d.rate,
			d.rate*d.between(1.3, 3), d.spread(5, 30))
		if d.chance(0.5) {
			d.queue = "capacity: 0, rejection: TooManyRequestsException" // a quota
		}
	}},
	{"a Map and an outage", func(d *drawing) {
		at := int(math.Ceil(float64(d.servers) * d.between(0.5, 4)))
		items := int(0.5 * float64(d.servers) / d.mean * 600)
		d.maps = fmt.Sprintf("{items: %d, maxConcurrency: %d, start: 120}", min(items, 20_000), at)
		d.faults = fmt.Sprintf("  - {at: 180, for: %.0f, service: s, errors: {p: %.2f, after: 0.05, name: %s}}\n",
			d.spread(5, 120), d.between(0.3, 1), d.loadError())
	}},
}

// Draw returns the file and the kind of the scenario with a number. The same number gives the same scenario.
func Draw(number uint64) (text []byte, kind string) {
	d := &drawing{stream: draw.Of(number, forScenarios, 0, 0)}
	k := kinds[int(number%uint64(len(kinds)))]
	utilisation := d.between(0.1, 0.85)
	d.rate, d.mean = d.spread(2, 40), d.spread(0.05, 0.5)
	d.servers = max(int(math.Ceil(d.rate*d.mean/utilisation)), 1)
	d.rate = utilisation * float64(d.servers) / d.mean
	d.timeout = max(1, d.mean*d.between(5, 20))
	d.arrivals = fmt.Sprintf("{process: poisson, rate: %.3g}", d.rate)
	d.queue = fmt.Sprintf("capacity: %d", []int{20, 1000}[int(d.stream.Float()*2)])
	distribution := fmt.Sprintf("{exp: %.3g}", d.mean)
	if d.chance(0.3) {
		distribution = fmt.Sprintf("{lognormal: {mean: %.3g, cv: 1.5}}", d.mean)
	}
	own := fmt.Sprintf("interval: %.0f, rate: %.1f, maxDelay: 60, maxAttempts: %.0f, jitter: %s", d.between(1, 3),
		d.between(1.2, 2.5), d.between(1.5, 6.4), d.one("FULL", "FULL", "NONE"))
	k.draw(d)
	var b strings.Builder
	fmt.Fprintf(&b, "lab: 1\nname: drawn-%d\nabout: %s at %.0f %% of capacity\nduration: 1320\nwarmup: 120\ndrain: 7200\n",
		number, k.name, 100*utilisation)
	work := "arrivals: " + d.arrivals
	if d.maps != "" {
		work = "map: " + d.maps
	}
	fmt.Fprintf(&b, "workload:\n  - name: work\n    %s\n    machine:\n      state: Call\n      retry:\n", work)
	fmt.Fprintf(&b, "        - {errors: [CircuitOpen, RetryBudgetExhausted], interval: 30, rate: 1.5, maxDelay: 300, "+
		"maxAttempts: 20, jitter: FULL}\n        - {errors: [States.ALL], %s}\n", own)
	fmt.Fprintf(&b, "service:\n  s:\n    servers: %d\n    time: %s\n    queue: {%s}\n", d.servers, distribution, d.queue)
	if d.errors != "" {
		fmt.Fprintf(&b, "    errors: [%s]\n", d.errors)
	}
	fmt.Fprintf(&b, "calls: {Call: {service: s, timeout: %.3g, timeoutError: TimeoutError, cost: lambda-1024}}\n", d.timeout)
	if d.faults != "" {
		b.WriteString("faults:\n" + d.faults)
	}
	return []byte(b.String()), k.name
}

// scenarioOf parses the scenario with a number.
func scenarioOf(number uint64) (*scenario.Scenario, string, error) {
	text, kind := Draw(number)
	s, err := scenario.Parse(fmt.Sprintf("drawn-%d.yaml", number), text, scenario.Options{})
	return s, kind, err
}
