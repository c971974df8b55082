package insights

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The number of rows that a query returns.
const (
	DefaultLimit = 1000
	MaxLimit     = 10_000
)

// Query is a compiled query. It may be run many times.
type Query struct {
	stages  []stage
	shown   []string // fields named by fields commands, in order
	display []string // fields named by the last display command; nil without one
	stats   bool     // the rows are statistics
	columns []string // the columns of statistics
	limit   int
}

// stage is a command that transforms rows.
type stage struct {
	run func([]*Row) []*Row
	// filters is true if the events that the stage removes do not match the query.
	filters bool
}

func (q *Query) then(run func([]*Row) []*Row) { q.stages = append(q.stages, stage{run: run}) }

// Column is a value in a result row.
type Column struct{ Field, Value string }

// Answer is the result of a query.
type Answer struct {
	Rows [][]Column
	// Matched is the number of events that passed the filters.
	Matched int
}

// Parse compiles a query. The error is always an *Error.
func Parse(query string) (q *Query, err error) {
	p := &parser{query: query}
	defer func() {
		if what := recover(); what != nil {
			wrong, ok := what.(*Error)
			if !ok {
				panic(what)
			}
			q, err = nil, wrong
		}
	}()
	q = &Query{}
	for {
		for p.take("|") {
		}
		if p.peek().kind == ended {
			return q, nil
		}
		p.command(q)
		if t := p.peek(); t.kind != ended && !t.is("|") {
			p.refuse(t, "| or the end")
		}
	}
}

// notHere lists the commands of CloudWatch Logs Insights that this package does not support.
var notHere = []string{"pattern", "diff", "unmask", "unnest", "lookup", "anomaly", "filterindex", "source", "addtotals", "join"}

func (p *parser) command(q *Query) {
	t := p.next()
	name := strings.ToLower(t.text)
	switch {
	case t.kind != word:
		p.refuse(t, "a command")
	case name == "fields":
		q.shown = append(q.shown, p.fields(q)...)
	case name == "display":
		q.display = p.fields(q)
	case name == "filter" || name == "where":
		e := p.or()
		q.stages = append(q.stages, stage{filters: !q.stats, run: func(rows []*Row) []*Row {
			return slices.DeleteFunc(rows, func(r *Row) bool { return !e(r).truth() })
		}})
	case name == "stats":
		p.stats(q)
	case name == "sort":
		p.sort(q)
	case name == "limit":
		p.limit(q)
	case name == "parse":
		p.parse(q)
	case name == "dedup":
		p.dedup(q)
	case slices.Contains(notHere, name):
		p.fail(t.start, t.end, "the command %s is not supported here", t.text)
	default:
		p.fail(t.start, t.end, "unexpected symbol found %s at position %d: there is no such command; there are fields, "+
			"display, filter, stats, sort, limit, parse and dedup", t.text, t.start)
	}
}

// named parses an expression and returns it with its name. The name follows as; without as, it is the expression's
// text.
func (p *parser) named(read func() expression) (string, expression) {
	start := p.peek().start
	first := p.peek()
	e := read()
	end := p.at
	if p.ahead != nil {
		end = p.ahead.start
	}
	name := strings.TrimSpace(p.query[start:end])
	if first.kind == field && name == p.query[first.start:first.end] {
		name = first.text
	}
	if p.take("as") {
		name = p.name()
	}
	return name, e
}

// name parses the name of a field.
func (p *parser) name() string {
	t := p.next()
	if t.kind != word && t.kind != field {
		p.refuse(t, "a name")
	}
	return t.text
}

func (p *parser) fields(q *Query) []string {
	var names []string
	for {
		start := p.peek()
		name, e := p.named(p.or)
		names = append(names, name)
		if start.text != name || start.kind == literal || start.kind == number { // not a bare field
			q.then(func(rows []*Row) []*Row {
				for _, r := range rows {
					r.set(name, e(r))
				}
				return rows
			})
		}
		if !p.take(",") {
			return names
		}
	}
}

func (p *parser) sort(q *Query) {
	type key struct {
		of   expression
		down bool
	}
	var keys []key
	for {
		k := key{of: p.or()}
		if k.down = p.take("desc"); !k.down {
			p.take("asc")
		}
		keys = append(keys, k)
		if !p.take(",") {
			break
		}
	}
	q.then(func(rows []*Row) []*Row {
		values := make(map[*Row][]value, len(rows))
		for _, r := range rows {
			of := make([]value, len(keys))
			for i, k := range keys {
				of[i] = k.of(r)
			}
			values[r] = of
		}
		slices.SortStableFunc(rows, func(a, b *Row) int {
			for i, k := range keys {
				x, y := values[a][i], values[b][i]
				order := 0
				switch {
				case !x.present || !y.present: // absent values come last
					if x.present != y.present {
						if x.present {
							return -1
						}
						return 1
					}
				default:
					order = compare(x, y)
				}
				if k.down {
					order = -order
				}
				if order != 0 {
					return order
				}
			}
			return 0
		})
		return rows
	})
}

func (p *parser) limit(q *Query) {
	t := p.next()
	n, err := strconv.Atoi(t.text)
	if t.kind != number || err != nil || n < 1 || n > MaxLimit {
		p.refuse(t, "a number from 1 to 10000")
	}
	q.limit = n
	q.then(func(rows []*Row) []*Row { return rows[:min(n, len(rows))] })
}

func (p *parser) dedup(q *Query) {
	var keys []expression
	for {
		keys = append(keys, p.primary())
		if !p.take(",") {
			break
		}
	}
	q.then(func(rows []*Row) []*Row {
		seen := map[string]bool{}
		return slices.DeleteFunc(rows, func(r *Row) bool {
			var key strings.Builder
			for _, k := range keys {
				v := k(r)
				if !v.present {
					return false
				}
				key.WriteString(strconv.Quote(v.text))
			}
			again := seen[key.String()]
			seen[key.String()] = true
			return again
		})
	})
}

// parse parses the command parse [FIELD] "GLOB * PATTERN" as NAME, … or parse [FIELD] /REGULAR (?<name>…)/.
func (p *parser) parse(q *Query) {
	from := fieldNamed("@message")
	if t := p.peek(); t.kind == word || t.kind == field {
		p.next()
		from = fieldNamed(t.text)
	}
	var re *regexp.Regexp
	var names []string
	if written, start, ok := p.pattern(); ok {
		var err error
		if re, err = regexp.Compile(written); err != nil {
			p.fail(start, p.at, "the regular expression /%s/ cannot be read: %v", written, err)
		}
		names = re.SubexpNames()[1:]
		if !slices.ContainsFunc(names, func(n string) bool { return n != "" }) {
			p.fail(start, p.at, "the regular expression /%s/ names no group: (?<name>…)", written)
		}
	} else {
		t := p.next()
		if t.kind != literal {
			p.refuse(t, "a pattern in quotes or a regular expression")
		}
		parts := strings.Split(t.text, "*")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		re = regexp.MustCompile("(?s)" + strings.Join(parts[:len(parts)-1], "(.*?)") + tail(parts))
		p.need("as")
		for {
			names = append(names, p.name())
			if !p.take(",") {
				break
			}
		}
		if len(names) != len(parts)-1 {
			p.fail(t.start, t.end, "the pattern has %d wildcards and as names %d fields", len(parts)-1, len(names))
		}
	}
	q.then(func(rows []*Row) []*Row {
		for _, r := range rows {
			m := re.FindStringSubmatch(from(r).text)
			for i, name := range names {
				switch {
				case name == "":
				case m == nil:
					r.set(name, value{})
				default:
					r.set(name, textOf(m[i+1]))
				}
			}
		}
		return rows
	})
}

// tail returns the end of a glob's regular expression. A wildcard at the end matches the rest of the text.
func tail(parts []string) string {
	switch last := parts[len(parts)-1]; {
	case len(parts) == 1:
		return last
	case last == "":
		return "(.*)$"
	default:
		return "(.*?)" + last
	}
}

// Run runs the query over events, which must be sorted from newest to oldest: rows keep this order unless a command
// sorts them. limit is the maximum number of rows if the query does not set one; 0 means DefaultLimit.
func (q *Query) Run(events []Event, limit int) *Answer {
	rows := make([]*Row, len(events))
	for i := range events {
		rows[i] = &Row{event: &events[i]}
	}
	answer := &Answer{Rows: [][]Column{}}
	answer.Matched = len(rows)
	for _, s := range q.stages {
		if rows = s.run(rows); s.filters {
			answer.Matched = len(rows)
		}
	}
	if q.limit == 0 {
		if limit == 0 {
			limit = DefaultLimit
		}
		rows = rows[:min(limit, len(rows))]
	}
	names := q.names()
	for _, r := range rows {
		var line []Column
		for _, name := range names {
			if v := r.get(name); v.present {
				line = append(line, Column{name, v.text})
			}
		}
		if r.event != nil {
			line = append(line, Column{"@ptr", r.event.Pointer})
		}
		answer.Rows = append(answer.Rows, line)
	}
	return answer
}

// names returns the names of the fields in the result.
func (q *Query) names() []string {
	names := q.shown
	switch {
	case q.display != nil:
		names = q.display
	case q.stats:
		names = q.columns
	case len(names) == 0:
		names = []string{"@timestamp", "@message"}
	}
	var distinct []string
	for _, n := range names {
		if !slices.Contains(distinct, n) && n != "@ptr" {
			distinct = append(distinct, n)
		}
	}
	return distinct
}
