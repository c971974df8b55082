package scenario

import (
	"time"

	"stepback/internal/strictyaml"
)

func (p *parser) readFaults(v strictyaml.Value) {
	for _, item := range v.List(0, maxFaults) {
		p.s.Faults = append(p.s.Faults, p.fault(item))
	}
}

func (p *parser) fault(v strictyaml.Value) Fault {
	o := v.Object("at", "for", "gilbert", "service", "capacity", "errors", "metric", "says")
	f := Fault{Service: -1, From: 1, To: 1}
	p.window(v, o, &f)
	kinds := 0
	for _, kind := range []string{"capacity", "errors", "metric"} {
		if o.Get(kind).Present() {
			kinds++
		}
	}
	if kinds != 1 {
		v.Problem("a fault has exactly one of capacity, errors and metric")
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
	f.Service = p.serviceIndex(o.Need("service"))
	if c := o.Get("capacity"); c.Present() {
		capacity(c, &f)
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
