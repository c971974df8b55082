package insights

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// aggregate computes a statistic.
type aggregate interface {
	// add adds a value and returns the bytes of memory that it takes.
	add(v value, at int64) int
	value() value
}

// aggregates maps the names of statistics to their constructors.
var aggregates = map[string]func(parameter float64) aggregate{
	"count":          func(float64) aggregate { return &counting{} },
	"count_distinct": func(float64) aggregate { return &distinct{seen: map[string]bool{}} },
	"sum":            func(float64) aggregate { return &moments{of: func(m *moments) float64 { return m.sum }} },
	"avg":            func(float64) aggregate { return &moments{of: func(m *moments) float64 { return m.sum / m.n }} },
	"stddev":         func(float64) aggregate { return &moments{of: (*moments).deviation} },
	"min":            func(float64) aggregate { return &best{better: func(order int) bool { return order < 0 }} },
	"max":            func(float64) aggregate { return &best{better: func(order int) bool { return order > 0 }} },
	"sortsfirst":     func(float64) aggregate { return &best{better: func(order int) bool { return order < 0 }} },
	"sortslast":      func(float64) aggregate { return &best{better: func(order int) bool { return order > 0 }} },
	"pct":            func(p float64) aggregate { return &percentile{p: p} },
	"percentile":     func(p float64) aggregate { return &percentile{p: p} },
	"median":         func(float64) aggregate { return &percentile{p: 50} },
	"earliest":       func(float64) aggregate { return &dated{sign: -1} },
	"latest":         func(float64) aggregate { return &dated{sign: 1} },
}

type counting struct{ n float64 }

func (c *counting) add(v value, _ int64) int {
	if v.present {
		c.n++
	}
	return 0
}
func (c *counting) value() value { return numberOf(c.n) }

type distinct struct{ seen map[string]bool }

func (d *distinct) add(v value, _ int64) int {
	if !v.present || d.seen[v.text] {
		return 0
	}
	d.seen[v.text] = true
	return perField + len(v.text)
}
func (d *distinct) value() value { return numberOf(float64(len(d.seen))) }

type moments struct {
	n, sum, mean, squares float64
	of                    func(*moments) float64
}

func (m *moments) add(v value, _ int64) int {
	if !v.numeric {
		return 0
	}
	m.n++
	m.sum += v.number
	d := v.number - m.mean
	m.mean += d / m.n
	m.squares += d * (v.number - m.mean)
	return 0
}
func (m *moments) deviation() float64 { return math.Sqrt(m.squares / (m.n - 1)) }
func (m *moments) value() value {
	if m.n == 0 {
		return value{}
	}
	return numberOf(m.of(m))
}

type best struct {
	found  value
	better func(order int) bool
}

func (b *best) add(v value, _ int64) int {
	if !v.present || b.found.present && !b.better(compare(v, b.found)) {
		return 0
	}
	taken := len(v.text) - len(b.found.text)
	b.found = v
	return taken
}
func (b *best) value() value { return b.found }

type percentile struct {
	p      float64
	values []float64
}

func (p *percentile) add(v value, _ int64) int {
	if !v.numeric {
		return 0
	}
	p.values = append(p.values, v.number)
	const size = 8
	return size
}

// value returns the percentile, interpolated between the two nearest values.
func (p *percentile) value() value {
	if len(p.values) == 0 {
		return value{}
	}
	slices.Sort(p.values)
	const whole = 100
	at := p.p / whole * float64(len(p.values)-1)
	low := int(math.Floor(at))
	high := min(low+1, len(p.values)-1)
	return numberOf(p.values[low] + (at-float64(low))*(p.values[high]-p.values[low]))
}

// dated holds the value of the first or last event.
type dated struct {
	sign  int64
	at    int64
	found value
}

func (d *dated) add(v value, at int64) int {
	if !v.present || d.found.present && d.sign*(at-d.at) <= 0 {
		return 0
	}
	taken := len(v.text) - len(d.found.text)
	d.found, d.at = v, at
	return taken
}
func (d *dated) value() value { return d.found }

// statistic is one statistic of a stats command.
type statistic struct {
	name string
	make func() aggregate
	of   expression
}

// grouping is an expression by whose values events are grouped.
type grouping struct {
	name string
	of   expression
}

// stats parses the command stats AGGREGATE(FIELD) [as NAME], … [by EXPRESSION [as NAME], …].
func (p *parser) stats(q *Query) {
	var all []statistic
	for {
		var s statistic
		s.name, _ = p.named(func() expression {
			s.make, s.of = p.aggregate()
			return nil
		})
		all = append(all, s)
		if !p.take(",") {
			break
		}
	}
	var by []grouping
	if p.take("by") {
		for {
			name, e := p.named(p.or)
			by = append(by, grouping{name, e})
			if !p.take(",") {
				break
			}
		}
	}
	q.stats, q.columns, q.shown, q.display = true, nil, nil, nil
	for _, g := range by {
		q.columns = append(q.columns, g.name)
	}
	for _, s := range all {
		q.columns = append(q.columns, s.name)
	}
	q.then(func(w *work, rows []*Row) []*Row { return summarize(w, rows, all, by) })
}

// aggregate parses one statistic.
func (p *parser) aggregate() (func() aggregate, expression) {
	t := p.next()
	made := aggregates[strings.ToLower(t.text)]
	if t.kind != word || made == nil {
		if t.kind == word && p.peek().is("(") {
			p.fail(t.start, t.end, "there is no statistic %s here; there are count, count_distinct, sum, avg, min, max, pct, "+
				"median, stddev, earliest, latest, sortsFirst and sortsLast", t.text)
		}
		p.refuse(t, "a statistic such as count(*)")
	}
	p.need("(")
	of := func(*Row) value { return value{present: true} }
	name := strings.ToLower(t.text)
	parameter := 0.0
	switch {
	case name == "count" && (p.take("*") || p.peek().is(")")):
	default:
		of = p.or()
	}
	if name == "pct" || name == "percentile" {
		p.need(",")
		n := p.next()
		var err error
		const whole = 100
		if parameter, err = strconv.ParseFloat(n.text, 64); n.kind != number || err != nil || parameter > whole {
			p.refuse(n, "a percentage")
		}
	}
	p.need(")")
	return func() aggregate { return made(parameter) }, of
}

// maxGroups is the maximum number of groups of a stats command.
const maxGroups = 100_000

// summarize returns one row of statistics per group, in order of first appearance.
func summarize(w *work, rows []*Row, all []statistic, by []grouping) []*Row {
	type group struct {
		row    *Row
		values []aggregate
	}
	groups := map[string]*group{}
	var order []*group
	for _, r := range rows {
		var key strings.Builder
		keys := make([]value, len(by))
		for i, b := range by {
			keys[i] = b.of(r)
			key.WriteString(strconv.Quote(keys[i].text))
			if !keys[i].present {
				key.WriteByte('-')
			}
		}
		r.work.spend(perStep + key.Len())
		g := groups[key.String()]
		if g == nil {
			if len(order) == maxGroups {
				continue
			}
			r.work.hold(len(all)*perField + key.Len())
			g = &group{row: &Row{work: r.work}}
			for i, b := range by {
				g.row.set(b.name, keys[i])
			}
			for _, s := range all {
				g.values = append(g.values, s.make())
			}
			groups[key.String()], order = g, append(order, g)
		}
		at := int64(0)
		if r.event != nil {
			at = r.event.Time
		}
		for i, s := range all {
			v := s.of(r)
			r.work.spend(perStep + len(v.text))
			r.work.hold(g.values[i].add(v, at))
		}
	}
	if len(by) == 0 && len(order) == 0 { // no events still give one row
		g := &group{row: &Row{work: w}}
		for _, s := range all {
			g.values = append(g.values, s.make())
		}
		order = append(order, g)
	}
	made := make([]*Row, len(order))
	for i, g := range order {
		for k, s := range all {
			g.row.set(s.name, g.values[k].value())
		}
		made[i] = g.row
	}
	return made
}
