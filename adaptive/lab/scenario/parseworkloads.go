package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/internal/strictyaml"
)

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

// workload parses one workload. ok reports whether it has a machine of its own; later workloads without a machine
// share the first one's.
func (p *parser) workload(v strictyaml.Value, first *Workload) (w Workload, ok bool) {
	o := v.Object("name", "arrivals", "map", "machine", "policy")
	w = Workload{Name: o.Need("name").Name(), Policy: o.Get("policy").Name()}
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

// trace parses arrival times in seconds, one per line.
func (p *parser) trace(v strictyaml.Value) []time.Duration {
	var times []time.Duration
	p.numbers(v, func(line int, field string) error {
		at, err := strictyaml.ParseSeconds(field)
		switch {
		case err != nil || at < 0:
			return fmt.Errorf("line %d: %q is not an arrival time; write seconds since the start", line, field)
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

// numbers calls take with the first field of each line of a file.
func (p *parser) numbers(v strictyaml.Value, take func(line int, field string) error) {
	p.rows(v, func(line int, fields []string) error { return take(line, fields[0]) })
}

// rows calls take with the fields of each line of a CSV file. A first line that does not start with a number is skipped
// as a header, and so are comments. rows stops at an error and reports it as a problem of v.
func (p *parser) rows(v strictyaml.Value, take func(line int, fields []string) error) {
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
		fields := strings.Split(strings.TrimSpace(row), ",")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if fields[0] == "" || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if _, err := strconv.ParseFloat(fields[0], 64); err != nil && line == 1 {
			continue
		}
		if err := take(line, fields); err != nil {
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
		state.Problem("calls has no entry for the state %q", w.State)
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

// named returns the retriers that table:STATE, pattern:NAME, preset:NAME or none stands for.
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
		v.Problem("%q is not a retry; write table:STATE, pattern:NAME, preset:NAME, none or a list of retriers", text)
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
