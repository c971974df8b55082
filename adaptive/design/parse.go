package design

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"stepback/internal/strictyaml"
)

// Read parses a design file in YAML or JSON: a problem, with or without a result. Errors name line and column; file is
// used only in errors. A file without arrivals and map, or without callee, is accepted only if partial is true; its
// missing members must be fitted before it runs.
func Read(file string, text []byte, partial bool) (*Design, error) {
	reader, root := strictyaml.Read(file, text)
	p := &parser{partial: partial}
	d := p.design(root)
	if err := reader.Err(); err != nil {
		return nil, err
	}
	if partial && (d.Callee.Mean.High == 0 || d.Arrivals == nil && d.Map == nil) {
		return d, nil
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	return d, nil
}

// Write writes the design as JSON, which [Read] reads.
func (d *Design) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(d)
}

type parser struct{ partial bool }

func (p *parser) design(root strictyaml.Value) *Design {
	o := root.Object("design", "name", "state", "arrivals", "map", "callee", "unknown", "call",
		"faults", "objective", "period", "allow",
		"seed", "result")
	if v := o.Need("design"); v.Present() {
		if n := v.Whole(0, 1<<30); n != Version {
			v.Problem("this is version %d of the design file, and this program reads version %d; write the problem again with "+
				"design: %d and run stepback retries design", n, Version, Version)
		}
	}
	d := &Design{Version: Version, Problem: Problem{Name: o.Need("name").Name(), State: o.Need("state").Text(80)}}
	arrivals, closed := o.Get("arrivals"), o.Get("map")
	if arrivals.Present() && closed.Present() {
		closed.Problem("a problem has either arrivals or a map")
	}
	switch {
	case arrivals.Present():
		d.Arrivals = &Arrivals{Rate: ranged(arrivals.Object("rate").Need("rate"), Range{}, 1e-4, 1e5)}
	case closed.Present():
		m := closed.Object("items", "concurrency")
		d.Map = &Map{Items: m.Need("items").WholeOr(1, 1, 100_000_000), Concurrency: m.Get("concurrency").WholeOr(0, 0, 10_000)}
	case !p.partial:
		o.Need("arrivals")
	}
	if v := o.Get("callee"); v.Present() || !p.partial {
		d.Callee = p.callee(o.Need("callee"))
	}
	for _, v := range o.Get("unknown").List(0, 8) {
		d.Unknown = append(d.Unknown, v.Text(400))
	}
	call := o.Get("call").Object("timeout", "timeoutError", "memory")
	d.Call = Call{Timeout: number(call.Get("timeout"), 0, 0, longest), TimeoutError: named(call.Get("timeoutError"), "States.Timeout"),
		MemoryMB: call.Get("memory").WholeOr(0, 0, 10_240)}
	if t := call.Get("timeout"); t.Present() && d.Call.Timeout != math.Trunc(d.Call.Timeout) {
		t.Problem("TimeoutSeconds is in whole seconds")
	}
	names := map[string]bool{Calm: true}
	for _, v := range o.Get("faults").List(0, maxFaults) {
		f := p.fault(v)
		if names[f.Name] {
			v.Problem("there are two conditions %q; give each fault a name of its own", f.Name)
		}
		names[f.Name] = true
		d.Faults = append(d.Faults, f)
	}
	d.Objective = p.objective(o.Need("objective"))
	d.Period = number(o.Get("period"), 1200, 60, longest)
	if allow := o.Get("allow"); allow.Present() && (allow.IsList() || !allow.IsScalar()) {
		d.Allow = []Mechanism{}
		for _, v := range allow.List(0, 3) {
			d.Allow = append(d.Allow, Mechanism(v.OneOf(string(UseBudget), string(UseLimiter), string(UseBreaker))))
		}
	} else {
		d.Allow = Mechanisms()
	}
	d.Seed = uint64(o.Get("seed").WholeOr(1, 0, 1<<40))
	if r := o.Get("result"); r.Present() {
		d.Result = &Result{}
		decoder := json.NewDecoder(bytes.NewReader([]byte(r.JSON().JSON())))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(d.Result); err != nil {
			r.Problem("the result cannot be read: %v; remove it and run stepback retries design again", err)
		} else if len(d.Result.Predictions) != len(d.conditions()) {
			r.Problem("the result has %d predictions for %d conditions; remove it and run stepback retries design again",
				len(d.Result.Predictions), len(d.conditions()))
		}
	}
	return d
}

// ranged parses a number, or a list of two numbers.
func ranged(v strictyaml.Value, otherwise Range, low, high float64) Range {
	if !v.Present() {
		return otherwise
	}
	if !v.IsList() {
		return Exactly(v.NumberOr(low, low, high))
	}
	ends := v.List(2, 2)
	if len(ends) != 2 {
		return otherwise
	}
	r := Range{ends[0].NumberOr(low, low, high), ends[1].NumberOr(high, low, high)}
	if r.Low > r.High {
		v.Problem("the range begins above its end; write [low, high]")
	}
	return r
}

func number(v strictyaml.Value, otherwise, low, high float64) float64 {
	if !v.Present() {
		return otherwise
	}
	return v.NumberOr(otherwise, low, high)
}

func named(v strictyaml.Value, otherwise string) string {
	if name := v.Name(); name != "" {
		return name
	}
	return otherwise
}

func (p *parser) callee(v strictyaml.Value) Callee {
	o := v.Object("servers", "mean", "cv", "queue", "rejection", "errors", "quota", "burst", "quotaError")
	c := Callee{
		Servers: ranged(o.Need("servers"), Exactly(1), 0, 1e6), Mean: ranged(o.Need("mean"), Exactly(1), 0, 86_400),
		CV: number(o.Get("cv"), 1, 0, 20), Queue: o.Get("queue").WholeOr(1000, 0, 1_000_000),
		Rejection:  named(o.Get("rejection"), "ServiceUnavailableError"),
		Quota:      number(o.Get("quota"), 0, 1e-3, 1e6),
		QuotaError: o.Get("quotaError").Name(),
	}
	if c.Quota > 0 {
		c.Burst = number(o.Get("burst"), max(c.Quota, 1), 1, 1e9)
		c.QuotaError = named(o.Get("quotaError"), "TooManyRequestsException")
	} else if b := o.Get("burst"); b.Present() {
		b.Problem("only a quota has a burst; give quota, the calls per second")
	}
	if c.Servers.Low < 1 {
		o.Get("servers").Problem("a callee with less than one server has no capacity; give at least 1")
	}
	if c.Mean.Low <= 0 {
		o.Get("mean").Problem("a call takes more than 0 s; give the mean time of a call in seconds")
	}
	total := 0.0
	for _, item := range o.Get("errors").List(0, maxErrors) {
		e := item.Object("name", "share", "permanent")
		x := Error{Name: e.Need("name").Name(), Share: ranged(e.Need("share"), Range{}, 0, 1), Permanent: e.Get("permanent").Bool()}
		total += x.Share.High
		c.Errors = append(c.Errors, x)
	}
	if total > 1 {
		o.Get("errors").Problem("the shares add up to %.4g; at most 1 is possible", total)
	}
	return c
}

func (p *parser) fault(v strictyaml.Value) Fault {
	o := v.Object("name", "for", "errors", "error", "speed")
	f := Fault{Name: o.Need("name").Name(), For: ranged(o.Need("for"), Exactly(1), 0.1, longest),
		Errors: ranged(o.Get("errors"), Range{}, 0, 1), Speed: ranged(o.Get("speed"), Exactly(1), 0, 1)}
	if f.Errors.High > 0 {
		f.Error = named(o.Get("error"), "ServiceUnavailableError")
	} else if e := o.Get("error"); e.Present() {
		e.Problem("the fault has no errors; give their share")
	}
	return f
}

func (p *parser) objective(v strictyaml.Value) Objective {
	o := v.Object("saved", "within", "finish", "usdPerThousand", "callsPerRecord", "peakCalls", "confidence")
	return Objective{
		Saved: number(o.Need("saved"), 0, 0, 1), Within: number(o.Get("within"), 3600, 0.001, longest),
		Finish: number(o.Get("finish"), 0, 1, longest), USDPerThousand: number(o.Get("usdPerThousand"), 0, 1e-9, 1e9),
		CallsPerRecord: number(o.Get("callsPerRecord"), 0, 1e-3, 1e6), PeakCalls: number(o.Get("peakCalls"), 0, 1e-3, 1e9),
		Confidence: number(o.Get("confidence"), 0.9, 0.5, 0.99),
	}
}

// Text states the problem in one line.
func (p *Problem) Text() string {
	var work string
	if p.Map != nil {
		work = fmt.Sprintf("a Map of %d records", p.Map.Items)
	} else {
		work = p.Arrivals.Rate.String() + " records/s"
	}
	return fmt.Sprintf("%s on a callee with %s servers and %s s a call (%s calls/s)", work, p.Callee.Servers, p.Callee.Mean,
		p.Callee.Capacity())
}
