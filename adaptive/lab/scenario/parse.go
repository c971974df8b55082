package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/internal/strictyaml"
)

// Options are the options of [Parse].
type Options struct {
	// ReadFile reads a file that the scenario names, relative to the scenario; nil rejects such scenarios.
	ReadFile func(name string) ([]byte, error)
}

// Parse parses a scenario. file is used only in problems. The error is strictyaml.Problems with all problems of the
// file.
func Parse(file string, text []byte, o Options) (*Scenario, error) {
	reader, root := strictyaml.Read(file, text)
	p := &parser{files: o.ReadFile, services: map[string]int{}}
	s := p.scenario(root)
	if err := reader.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

type parser struct {
	files    func(string) ([]byte, error)
	s        *Scenario
	services map[string]int
	calls    map[string]Call
	// downstreams are the members calls of the services, parsed when all services are known.
	downstreams []strictyaml.Value
}

func (p *parser) scenario(root strictyaml.Value) *Scenario {
	o := root.Object("lab", "name", "about", "unit", "duration", "warmup", "drain", "workload", "service", "calls",
		"faults",
		"observe", "expect")
	if v := o.Need("lab"); v.Present() && v.Whole(0, 1<<30) != 1 {
		v.Problem("only version 1 of the format is supported; write lab: 1")
	}
	if v := o.Get("unit"); v.Present() && v.Text(10) != "s" {
		v.Problem("times are in seconds; write unit: s")
	}
	p.s = &Scenario{
		Name: o.Need("name").Name(), About: o.Get("about").Text(500),
		Duration: o.Need("duration").Duration(time.Millisecond, MaxDuration),
		Warmup:   o.Get("warmup").DurationOr(0, 0, MaxDuration),
		Drain:    o.Get("drain").DurationOr(2*time.Hour, 0, MaxDuration),
	}
	if w := o.Get("warmup"); w.Present() && p.s.Warmup >= p.s.Duration {
		w.Problem("the warm-up of %s leaves nothing of the duration of %s to measure; shorten it", p.s.Warmup,
			p.s.Duration)
	}
	p.readServices(o.Need("service"))
	p.readCalls(o.Need("calls"))
	p.readWorkloads(o.Need("workload"))
	p.readFaults(o.Get("faults"))
	p.readObserve(o.Get("observe"))
	p.readExpect(o.Get("expect"))
	return p.s
}

func (p *parser) readObserve(v strictyaml.Value) {
	o := v.Object("period", "delay", "loss")
	p.s.Observe = Observe{
		Period: o.Get("period").DurationOr(time.Minute, time.Minute, time.Hour),
		Delay:  o.Get("delay").DurationOr(2*time.Minute, 0, MaxDuration),
		Loss:   o.Get("loss").NumberOr(0, 0, 1),
	}
	if p.s.Observe.Period%time.Minute != 0 {
		o.Get("period").Problem("metrics have periods of whole minutes; write a multiple of 60")
	}
}

func (p *parser) readExpect(v strictyaml.Value) {
	for _, item := range v.List(0, maxExpect) {
		o := item.Object("policy", "metric", "versus", "is", "ratio")
		e := Expectation{
			Policy: o.Need("policy").Name(), Metric: canonical(o.Need("metric").Name()), Versus: o.Get("versus").Name(),
			Line: item.Line(),
		}
		if e.Metric != "" && e.Metric != Recovered && !slices.Contains(Metrics, e.Metric) {
			o.Get("metric").Problem("there is no metric %q; there is %s and %s", e.Metric, Recovered,
				strings.Join(Metrics, ", "))
		}
		p.relation(o, &e)
		p.s.Expect = append(p.s.Expect, e)
	}
}

func (p *parser) relation(o strictyaml.Object, e *Expectation) {
	is, ratio := o.Get("is"), o.Get("ratio")
	switch {
	case is.Present() == ratio.Present():
		o.Problem("an expectation has either is or ratio")
		return
	case ratio.Present() != (e.Versus != ""):
		o.Problem("ratio compares with another policy: give both versus and ratio")
		return
	}
	v := is
	if ratio.Present() {
		v = ratio
	}
	text := v.Text(60)
	if e.Metric == Recovered {
		e.Never, e.Always = text == "never", text == "always"
		if !e.Never && !e.Always && text != "" {
			v.Problem("recovered is never or always")
		}
		return
	}
	for _, relation := range []string{"<=", ">=", "==", "<", ">"} {
		if rest, ok := strings.CutPrefix(text, relation); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err == nil {
				e.Relation, e.Value = relation, f
				return
			}
		}
	}
	v.Problem("%q is not a comparison; write one such as \"<= 0.7\"", text)
}

// distribution parses {exp: 0.2}, {lognormal: {mean: 0.2, cv: 1}}, {constant: 0.2}, {gamma: …} and {empirical: FILE};
// a plain number is constant.
func (p *parser) distribution(v strictyaml.Value) Distribution {
	const shortest, longest = 1e-6, 1e6
	if v.IsScalar() {
		return Distribution{Kind: DistributionConstant, Mean: v.NumberOr(1, shortest, longest)}
	}
	members := v.Object("exp", "lognormal", "gamma", "constant", "empirical").Members()
	if len(members) != 1 {
		v.Problem("a time is exactly one of exp, lognormal, gamma, constant and empirical, such as {exp: 0.2}")
		return Distribution{Kind: DistributionConstant, Mean: 1}
	}
	m := members[0]
	d := Distribution{Kind: DistributionKind(m.Name), Mean: 1, CV: 1}
	switch d.Kind {
	case DistributionEmpirical:
		d.Samples = p.samples(m.Value)
		d.Mean = 0
		for _, s := range d.Samples {
			d.Mean += s / float64(len(d.Samples))
		}
	case DistributionLognormal, DistributionGamma:
		o := m.Object("mean", "cv")
		d.Mean = o.Need("mean").NumberOr(1, shortest, longest)
		d.CV = o.Need("cv").NumberOr(1, 0.01, 20)
	case DistributionExp, DistributionConstant:
		if m.IsObject() {
			d.Mean = m.Object("mean").Need("mean").NumberOr(1, shortest, longest)
		} else {
			d.Mean = m.NumberOr(1, shortest, longest)
		}
	}
	return d
}

func (p *parser) samples(v strictyaml.Value) []float64 {
	var samples []float64
	p.numbers(v, func(line int, field string) error {
		f, err := strconv.ParseFloat(field, 64)
		if err != nil || !(f >= 0 && f <= 1e6) {
			return fmt.Errorf("line %d: %q is not a service time; write seconds", line, field)
		}
		if len(samples) == 1_000_000 {
			return fmt.Errorf("line %d: more than a million samples", line)
		}
		samples = append(samples, f)
		return nil
	})
	if len(samples) == 0 {
		v.Problem("the file has no samples")
		return []float64{1}
	}
	return samples
}
