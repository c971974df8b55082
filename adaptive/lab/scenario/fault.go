package scenario

import (
	"fmt"
	"strconv"
	"time"

	"stepback/internal/strictyaml"
)

func (p *parser) readFaults(v strictyaml.Value) {
	for _, item := range v.List(0, maxFaults) {
		o := item.Object(faultMembers...)
		if o.Get("trace").Present() {
			p.faultTrace(item, o)
			continue
		}
		p.s.Faults = append(p.s.Faults, p.fault(item, o))
	}
}

var faultMembers = []string{
	"at", "for", "gilbert", "service", "capacity", "servers", "cache", "errors", "metric", "says", "trace", "error", "after",
}

// maxTrace is the maximum number of rows of an incident's trace.
const maxTrace = 10_000

// faultTrace parses the trace of an incident: a CSV file whose rows have a time in seconds, the speed of the service
// from that time on (1 is normal), and the probability that a call fails. The last row ends the trace.
func (p *parser) faultTrace(v strictyaml.Value, o strictyaml.Object) {
	for _, name := range []string{"at", "for", "gilbert", "capacity", "servers", "cache", "errors", "metric", "says"} {
		if m := o.Get(name); m.Present() {
			m.Problem("a trace has no %s; its file gives the times, the speeds and the errors", name)
		}
	}
	service := p.serviceIndex(o.Need("service"))
	name := nameOr(o.Get("error"), "ServiceUnavailableError")
	after := o.Get("after").DurationOr(50*time.Millisecond, 0, MaxDuration)
	type row struct {
		at       time.Duration
		speed, p float64
	}
	var rows []row
	p.rows(o.Get("trace"), func(line int, fields []string) error {
		if len(fields) != 3 {
			return fmt.Errorf("line %d: it has %d fields; write time,speed,errors", line, len(fields))
		}
		at, err := strictyaml.ParseSeconds(fields[0])
		switch {
		case err != nil || at < 0:
			return fmt.Errorf("line %d: %q is not a time; write seconds since the start", line, fields[0])
		case len(rows) > 0 && at <= rows[len(rows)-1].at:
			return fmt.Errorf("line %d: %q is not after the time of the line before; sort the file", line, fields[0])
		case len(rows) == maxTrace:
			return fmt.Errorf("line %d: more than %d lines", line, maxTrace)
		}
		speed, err := strconv.ParseFloat(fields[1], 64)
		if err != nil || !(speed >= 0 && speed <= 100) {
			return fmt.Errorf("line %d: %q is not a speed; write 0 to 100, where 1 is normal", line, fields[1])
		}
		share, err := strconv.ParseFloat(fields[2], 64)
		if err != nil || !(share >= 0 && share <= 1) {
			return fmt.Errorf("line %d: %q is not a share of failing calls; write 0 to 1", line, fields[2])
		}
		rows = append(rows, row{at, speed, share})
		return nil
	})
	if len(rows) < 2 {
		v.Problem("the trace has fewer than two rows; the last one says when the incident is over")
		return
	}
	if last := rows[len(rows)-1].at; last > p.s.Duration+p.s.Drain {
		v.Problem("the trace ends at %s, after the duration and the drain (%s)", last, p.s.Duration+p.s.Drain)
		return
	}
	for i, r := range rows[:len(rows)-1] {
		f := Fault{At: r.at, For: rows[i+1].at - r.at, Service: service, From: r.speed, To: r.speed, P: r.p,
			After: after, Error: name}
		if r.speed != 1 || r.p > 0 {
			p.s.Faults = append(p.s.Faults, f)
		}
	}
}

func (p *parser) fault(v strictyaml.Value, o strictyaml.Object) Fault {
	f := Fault{Service: -1, From: 1, To: 1}
	p.window(v, o, &f)
	kinds := 0
	for _, kind := range []string{"capacity", "servers", "cache", "errors", "metric"} {
		if o.Get(kind).Present() {
			kinds++
		}
	}
	if kinds != 1 {
		v.Problem("a fault has exactly one of capacity, servers, cache, errors and metric")
		return f
	}
	if metric := o.Get("metric"); metric.Present() {
		f.Metric = metric.OneOf(ErrorRate, OverloadRate)
		f.Says = o.Need("says").Number(0, 1)
		if s := o.Get("service"); s.Present() {
			s.Problem("a metric fault names no service; leave it out")
		}
		return f
	}
	if s := o.Get("says"); s.Present() {
		s.Problem("only a metric fault has says")
	}
	for _, name := range []string{"error", "after"} {
		if m := o.Get(name); m.Present() {
			m.Problem("only a trace has %s; write errors: {p, after, name}", name)
		}
	}
	f.Service = p.serviceIndex(o.Need("service"))
	if c := o.Get("capacity"); c.Present() {
		capacity(c, &f)
	}
	if n := o.Get("servers"); n.Present() {
		f.Removed = 1 - n.NumberOr(1, 0, 1)
	}
	if c := o.Get("cache"); c.Present() {
		f.EmptyCache = c.OneOf("empty") != ""
		if f.Service >= 0 && f.Service < len(p.s.Services) && p.s.Services[f.Service].Cache == nil {
			c.Problem("the service %s has no cache", p.s.Services[f.Service].Name)
		}
	}
	if e := o.Get("errors"); e.Present() {
		m := e.Object("p", "after", "name")
		f.P = m.Need("p").Number(0, 1)
		f.After = m.Get("after").DurationOr(50*time.Millisecond, 0, MaxDuration)
		f.Error = nameOr(m.Get("name"), "ServiceUnavailableError")
	}
	return f
}

func (p *parser) window(v strictyaml.Value, o strictyaml.Object, f *Fault) {
	end := p.s.Duration + p.s.Drain
	if g := o.Get("gilbert"); g.Present() {
		m := g.Object("meanGood", "meanBad")
		f.For = end
		f.MeanGood = m.Need("meanGood").DurationOr(time.Second, time.Second, MaxDuration)
		f.MeanBad = m.Need("meanBad").DurationOr(time.Second, time.Second, MaxDuration)
		if o.Get("at").Present() || o.Get("for").Present() {
			v.Problem("gilbert draws its own windows; leave at and for out")
		}
		return
	}
	at, length := o.Need("at"), o.Need("for")
	f.At = at.Duration(0, 2*MaxDuration)
	f.For = length.DurationOr(time.Second, time.Millisecond, 2*MaxDuration)
	switch {
	case at.Present() && f.At >= p.s.Duration:
		at.Problem("the fault begins at %s, when the duration of %s is over; begin it earlier", f.At, p.s.Duration)
	case length.Present() && f.At+f.For > end:
		length.Problem("the fault ends at %s, after the duration and the drain (%s); shorten it", f.At+f.For, end)
	}
}

// capacity parses the factors of a capacity fault: one number, or {from, to, shape: linear}.
func capacity(v strictyaml.Value, f *Fault) {
	if v.IsScalar() {
		f.From = v.Number(0, 100)
		f.To = f.From
		return
	}
	o := v.Object("from", "to", "shape")
	f.From, f.To = o.Need("from").NumberOr(1, 0.001, 100), o.Need("to").NumberOr(1, 0.001, 100)
	o.Get("shape").OneOf("linear")
	if f.MeanBad > 0 {
		v.Problem("gilbert's windows have one capacity; write a number")
	}
}
