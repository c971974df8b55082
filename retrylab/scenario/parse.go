package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/retrylab/strictyaml"
)

// Options say how a scenario is read.
type Options struct {
	// ReadFile reads a file that the scenario names, relative to it; nil refuses such scenarios.
	ReadFile func(name string) ([]byte, error)
}

// Parse reads a scenario. The file's name only stands in problems. The error is strictyaml.Problems: all problems of
// the file.
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
}

func (p *parser) scenario(root strictyaml.Value) *Scenario {
	o := root.Object("lab", "name", "about", "unit", "duration", "warmup", "drain", "workload", "service", "calls",
		"faults",
		"observe", "expect")
	if v := o.Need("lab"); v.Present() && v.Whole(0, 1<<30) != 1 {
		v.Problem("only version 1 of the format is known; write lab: 1")
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

func (p *parser) readServices(v strictyaml.Value) {
	members := v.Members()
	if v.Present() && len(members) == 0 && v.IsObject() || len(members) > maxServices {
		v.Problem("write 1 to %d services, by name", maxServices)
		return
	}
	for _, m := range members {
		p.services[m.Name] = len(p.s.Services)
		p.s.Services = append(p.s.Services, p.service(m.Name, m.Value))
	}
}

func (p *parser) service(name string, v strictyaml.Value) Service {
	o := v.Object("servers", "time", "queue", "dropsExpired", "loadSlowdown", "errors")
	s := Service{
		Name: name, Servers: o.Need("servers").Whole(1, MaxServers), Time: p.distribution(o.Need("time")),
		DropsExpired: o.Get("dropsExpired").Bool(), LoadSlowdown: o.Get("loadSlowdown").DurationOr(0, 0, time.Hour),
	}
	q := o.Get("queue").Object("capacity", "order", "rejection", "target", "interval")
	s.Queue = q.Get("capacity").WholeOr(1000, 0, MaxQueue)
	s.Order = Order(q.Get("order").OneOf(string(FIFO), string(LIFO), string(CoDel)))
	s.Rejection = nameOr(q.Get("rejection"), "ServiceUnavailableError")
	s.Target = q.Get("target").DurationOr(5*time.Millisecond, time.Microsecond, time.Hour)
	s.Interval = q.Get("interval").DurationOr(100*time.Millisecond, time.Microsecond, time.Hour)
	for _, name := range []string{"target", "interval"} {
		if m := q.Get(name); m.Present() && s.Order != CoDel {
			m.Problem("only order: codel has a %s", name)
		}
	}
	total := 0.0
	for _, e := range o.Get("errors").List(0, maxErrors) {
		s.Errors = append(s.Errors, errorMix(e))
		total += s.Errors[len(s.Errors)-1].P
	}
	if total > 1+1e-9 {
		o.Get("errors").Problem("the probabilities add up to %.4g; they must not exceed 1", total)
	}
	return s
}

func errorMix(v strictyaml.Value) ErrorMix {
	o := v.Object("name", "p", "after", "kind", "by")
	e := ErrorMix{
		Name: o.Need("name").Name(), P: o.Need("p").Number(0, 1), After: o.Get("after").DurationOr(-1, 0, MaxDuration),
		Kind: Kind(o.Get("kind").OneOf(string(Transient), string(Permanent), string(Load))),
	}
	if by := o.Get("by"); by.Present() {
		e.ByItem = by.OneOf("attempt", "item") == "item"
	}
	return e
}

func nameOr(v strictyaml.Value, otherwise string) string {
	if name := v.Name(); name != "" {
		return name
	}
	return otherwise
}

func (p *parser) readCalls(v strictyaml.Value) {
	p.calls = map[string]Call{}
	for _, m := range v.Members() {
		o := m.Object("service", "timeout", "timeoutError", "cost")
		c := Call{
			Service: p.serviceIndex(o.Need("service")), Timeout: o.Get("timeout").DurationOr(0, time.Millisecond,
				MaxDuration),
			TimeoutError: nameOr(o.Get("timeoutError"), statesTimeout),
		}
		if cost := o.Get("cost"); cost.Present() {
			c.MemoryMB = memory(cost)
		}
		p.calls[m.Name] = c
	}
}

// memory reads lambda-1024.
func memory(v strictyaml.Value) int {
	text := v.Text(40)
	digits, ok := strings.CutPrefix(text, "lambda-")
	mb, err := strconv.Atoi(digits)
	if text != "" && (!ok || err != nil || mb < 128 || mb > 10240) {
		v.Problem("%q is no cost; write lambda-MEMORY with 128 to 10240 MB, such as lambda-1024", text)
		return 0
	}
	return mb
}

func (p *parser) serviceIndex(v strictyaml.Value) int {
	name := v.Name()
	i, ok := p.services[name]
	if name != "" && !ok {
		names := make([]string, len(p.s.Services))
		for i := range p.s.Services {
			names[i] = p.s.Services[i].Name
		}
		v.Problem("there is no service %q; there is %s", name, strings.Join(names, ", "))
	}
	return i
}

func (p *parser) readWorkloads(v strictyaml.Value) {
	records := 0.0
	var first *Workload
	seen := map[string]bool{}
	for _, item := range v.List(1, maxWorkloads) {
		w, ok := p.workload(item, first)
		if seen[w.Name] && w.Name != "" {
			item.Problem("there are two workloads %q; give each a name of its own", w.Name)
		}
		seen[w.Name] = true
		if w.Arrivals != nil {
			records += w.Arrivals.Expected(p.s.Duration)
		}
		if w.Map != nil {
			records += float64(w.Map.Items)
		}
		p.s.Workloads = append(p.s.Workloads, w)
		if first == nil && ok {
			first = &w
		}
	}
	if records > MaxRecords {
		v.Problem("about %.3g records would arrive in one run, and at most %d are simulated; lower the rate or the duration",
			records, MaxRecords)
	}
}

// workload reads one workload; ok reports whether it has a machine, which later workloads without one share.
func (p *parser) workload(v strictyaml.Value, first *Workload) (w Workload, ok bool) {
	o := v.Object("name", "arrivals", "map", "machine")
	w = Workload{Name: o.Need("name").Name()}
	arrivals, closed, machine := o.Get("arrivals"), o.Get("map"), o.Get("machine")
	switch {
	case arrivals.Present() == closed.Present():
		v.Problem("a workload has either arrivals (an open stream) or a map (a closed workload)")
	case arrivals.Present():
		w.Arrivals = p.arrivals(arrivals)
	default:
		w.Map = p.closedMap(closed)
	}
	switch {
	case machine.Present():
		p.machine(machine, &w)
		return w, true
	case first == nil:
		v.Problem("the member machine is missing: the state and its retry")
	default:
		w.State, w.Retriers, w.Call = first.State, first.Retriers, first.Call
	}
	return w, false
}

func (p *parser) closedMap(v strictyaml.Value) *Map {
	o := v.Object("items", "maxConcurrency", "start", "batch")
	m := &Map{
		Items: o.Need("items").Whole(1, MaxRecords), MaxConcurrency: o.Need("maxConcurrency").Whole(1, 10_000),
		Start: o.Get("start").DurationOr(0, 0, MaxDuration), Batch: o.Get("batch").WholeOr(1, 1, 100_000),
	}
	if s := o.Get("start"); s.Present() && m.Start >= p.s.Duration {
		s.Problem("the Map starts at %s, after the duration of %s", m.Start, p.s.Duration)
	}
	return m
}

func (p *parser) arrivals(v strictyaml.Value) *Arrivals {
	o := v.Object("process", "rate", "rates", "holds", "amplitude", "period", "peak", "trace")
	a := &Arrivals{}
	trace := o.Get("trace")
	process := o.Get("process")
	if !process.Present() && trace.Present() {
		a.Process = Trace
	} else {
		a.Process = Process(o.Need("process").OneOf(string(Poisson), string(Constant), string(MMPP), string(Trace),
			string(Diurnal)))
	}
	allowed := map[Process][]string{
		Poisson: {"rate"}, Constant: {"rate"}, MMPP: {"rates", "holds"}, Trace: {"trace"},
		Diurnal: {"rate", "amplitude", "period", "peak"},
	}[a.Process]
	for _, m := range v.Members() {
		if m.Name != "process" && !slices.Contains(allowed, m.Name) && o.Get(m.Name).Present() {
			m.Problem("process %s has no %s; it has %s", a.Process, m.Name, strings.Join(allowed, ", "))
		}
	}
	switch a.Process {
	case MMPP:
		p.mmpp(o, a)
	case Trace:
		a.Times = p.trace(o.Need("trace"))
	case Diurnal:
		a.Rate = o.Need("rate").NumberOr(1, 1e-6, maxRate)
		a.Amplitude = o.Get("amplitude").NumberOr(0.5, 0, 1)
		a.Period = o.Get("period").DurationOr(24*time.Hour, time.Second, MaxDuration)
		a.Peak = o.Get("peak").DurationOr(0, 0, MaxDuration)
	default:
		a.Rate = o.Need("rate").NumberOr(1, 1e-6, maxRate)
	}
	return a
}

func (p *parser) mmpp(o strictyaml.Object, a *Arrivals) {
	for _, v := range o.Need("rates").List(2, 16) {
		a.Rates = append(a.Rates, v.Number(0, maxRate))
	}
	for _, v := range o.Need("holds").List(2, 16) {
		a.Holds = append(a.Holds, v.DurationOr(time.Second, time.Millisecond, MaxDuration))
	}
	if len(a.Rates) != len(a.Holds) {
		o.Problem("there are %d rates and %d holds; each rate has the mean time that it holds", len(a.Rates),
			len(a.Holds))
		a.Rates, a.Holds = []float64{1}, []time.Duration{time.Second}
	}
}

// trace reads arrival times in seconds, one a line.
func (p *parser) trace(v strictyaml.Value) []time.Duration {
	var times []time.Duration
	p.numbers(v, func(line int, field string) error {
		at, err := strictyaml.ParseSeconds(field)
		switch {
		case err != nil || at < 0:
			return fmt.Errorf("line %d: %q is no arrival time; write seconds since the start", line, field)
		case len(times) > 0 && at < times[len(times)-1]:
			return fmt.Errorf("line %d: %q comes before the time of an earlier line; sort the file", line, field)
		case len(times) >= MaxRecords:
			return fmt.Errorf("line %d: more than %d arrivals", line, MaxRecords)
		}
		if at < p.s.Duration {
			times = append(times, at)
		}
		return nil
	})
	if len(times) == 0 && v.Present() {
		v.Problem("no arrival of the trace lies within the duration")
	}
	return times
}

// numbers hands the first field of each line of a file on; a first line that is no number is a header. It stops at
// an error, which becomes a problem of v.
func (p *parser) numbers(v strictyaml.Value, take func(line int, field string) error) {
	name := v.Text(300)
	if name == "" {
		return
	}
	text, err := []byte(nil), errNoFiles
	if p.files != nil {
		text, err = p.files(name)
	}
	if err != nil {
		v.Problem("%v", err)
		return
	}
	line := 0
	for row := range strings.Lines(string(text)) {
		line++
		field, _, _ := strings.Cut(strings.TrimSpace(row), ",")
		field = strings.TrimSpace(field)
		if field == "" || strings.HasPrefix(field, "#") {
			continue
		}
		if _, err := strconv.ParseFloat(field, 64); err != nil && line == 1 {
			continue
		}
		if err := take(line, field); err != nil {
			v.Problem("%s: %v", name, err)
			return
		}
	}
}

func (p *parser) machine(v strictyaml.Value, w *Workload) {
	o := v.Object("state", "retry", "definition")
	state := o.Need("state")
	w.State = state.Text(80)
	call, ok := p.calls[w.State]
	if !ok && w.State != "" {
		state.Problem("calls does not say what the state %q calls", w.State)
	}
	w.Call = call
	retry, definition := o.Get("retry"), o.Get("definition")
	switch {
	case retry.Present() == definition.Present():
		v.Problem("a machine has either retry or definition (a file whose state %q has the Retry)", w.State)
	case retry.IsList():
		w.Retriers = retriers(retry)
	case retry.Present():
		w.Retriers = named(retry)
	default:
		w.Retriers = p.definition(definition, w.State)
	}
}

func (p *parser) definition(v strictyaml.Value, state string) []Retrier {
	name := v.Text(300)
	if name == "" {
		return nil
	}
	text, err := []byte(nil), errNoFiles
	if p.files != nil {
		text, err = p.files(name)
	}
	var r []Retrier
	if err == nil {
		r, err = FromDefinition(name, string(text), state)
	}
	if err != nil {
		v.Problem("%v", err)
	}
	return r
}

// named reads table:STATE, pattern:NAME, preset:NAME and none.
func named(v strictyaml.Value) []Retrier {
	text := v.Text(200)
	kind, name, _ := strings.Cut(text, ":")
	var r []Retrier
	var err error
	switch kind {
	case "":
		return nil
	case "none":
		return nil
	case "table":
		r, err = FromTable(name)
	case "pattern", "preset":
		r, err = FromPattern(name)
	default:
		v.Problem("%q is no retry; write table:STATE, pattern:NAME, preset:NAME, none or a list of retriers", text)
	}
	if err != nil {
		v.Problem("%v", err)
	}
	return r
}

func retriers(v strictyaml.Value) []Retrier {
	items := v.List(0, 50)
	all := make([]Retrier, 0, len(items))
	for _, item := range items {
		o := item.Object("errors", "interval", "rate", "maxDelay", "maxAttempts", "jitter", "jitterFactor")
		r := Retrier{}
		for _, e := range o.Need("errors").List(1, 100) {
			r.Errors = append(r.Errors, e.Name())
		}
		r.Policy = Policy(o, 3)
		all = append(all, r)
	}
	return all
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
		o.Problem("ratio is a ratio to another policy: versus and ratio come together")
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
	v.Problem("%q is no comparison; write one such as \"<= 0.7\"", text)
}

// distribution reads {exp: 0.2}, {lognormal: {mean: 0.2, cv: 1}}, {constant: 0.2}, {gamma: …} and {empirical: FILE};
// a number alone is constant.
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
			return fmt.Errorf("line %d: %q is no service time; write seconds", line, field)
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
