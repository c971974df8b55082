package insights

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The number of rows that a query returns.
const (
	defaultLimit = 1000
	maxLimit     = 10_000
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
	run func(*work, []*Row) []*Row
	// filters is true if the events that the stage removes do not match the query.
	filters bool
	// each is true if the stage only sets fields of each row. limit is the number of rows that the stage leaves; 0 for
	// all commands but limit.
	each  bool
	limit int
}

func (q *Query) then(run func(*work, []*Row) []*Row) { q.stages = append(q.stages, stage{run: run}) }

// thenEach adds a stage that sets fields of each row.
func (q *Query) thenEach(set func(*Row)) {
	q.stages = append(q.stages, stage{each: true, run: func(_ *work, rows []*Row) []*Row {
		for _, r := range rows {
			set(r)
		}
		return rows
	}})
}

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
		q.stages = append(q.stages, stage{filters: !q.stats, run: func(_ *work, rows []*Row) []*Row {
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
			q.thenEach(func(r *Row) { r.set(name, e(r)) })
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
	q.then(func(w *work, rows []*Row) []*Row {
		values := make(map[*Row][]value, len(rows))
		for _, r := range rows {
			of := make([]value, len(keys))
			for i, k := range keys {
				of[i] = k.of(r)
				w.hold(perField + len(of[i].text))
			}
			values[r] = of
		}
		slices.SortStableFunc(rows, func(a, b *Row) int {
			for i, k := range keys {
				x, y := values[a][i], values[b][i]
				w.spend(perStep + min(len(x.text), len(y.text)))
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
	if t.kind != number || err != nil || n < 1 || n > maxLimit {
		p.refuse(t, "a number from 1 to 10000")
	}
	q.limit = n
	q.stages = append(q.stages, stage{limit: n, run: func(_ *work, rows []*Row) []*Row {
		return rows[:min(n,
			len(rows))]
	}})
}

func (p *parser) dedup(q *Query) {
	var keys []expression
	for {
		keys = append(keys, p.primary())
		if !p.take(",") {
			break
		}
	}
	q.then(func(w *work, rows []*Row) []*Row {
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
			w.spend(perStep + key.Len())
			again := seen[key.String()]
			if !again {
				w.hold(perField + key.Len())
				seen[key.String()] = true
			}
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
	var find func(r *Row, text string) []string
	var names []string
	if written, start, ok := p.pattern(); ok {
		re, err := compilePattern(written)
		if err != nil {
			p.fail(start, p.at, "the regular expression /%s/ cannot be read: %v", written, err)
		}
		names = re.SubexpNames()[1:]
		if !slices.ContainsFunc(names, func(n string) bool { return n != "" }) {
			p.fail(start, p.at, "the regular expression /%s/ names no group: (?<name>…)", written)
		}
		find = func(r *Row, text string) []string {
			re.match(r, text)
			if m := re.FindStringSubmatch(text); m != nil {
				return m[1:]
			}
			return nil
		}
	} else {
		t := p.next()
		if t.kind != literal {
			p.refuse(t, "a pattern in quotes or a regular expression")
		}
		parts := strings.Split(t.text, "*")
		find = func(r *Row, text string) []string {
			r.work.spend(perStep*len(parts) + len(text))
			return between(text, parts)
		}
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
	q.thenEach(func(r *Row) {
		found := find(r, from(r).text)
		for i, name := range names {
			switch {
			case name == "":
			case found == nil:
				r.set(name, value{})
			default:
				r.set(name, textOf(found[i]))
			}
		}
	})
}

// between returns the texts that the wildcards between the parts of a glob match: each as little as possible, and a
// wildcard at the end the rest of the text. It returns nil if the glob does not occur in the text. A part that does
// not follow at the first possible place does not follow at a later one either, so one pass is enough.
func between(text string, parts []string) []string {
	_, rest, ok := strings.Cut(text, parts[0])
	if !ok {
		return nil
	}
	found := make([]string, 0, len(parts)-1)
	for i, part := range parts[1:] {
		if part == "" && i == len(parts)-2 {
			return append(found, rest)
		}
		var matched string
		if matched, rest, ok = strings.Cut(rest, part); !ok {
			return nil
		}
		found = append(found, matched)
	}
	return found
}

// Run runs the query over events, which must be sorted from newest to oldest: rows keep this order unless a command
// sorts them. limit is the maximum number of rows if the query does not set one; 0 means defaultLimit. The error is a
// *LimitError if the run exceeds limits, or that of ctx.
func (q *Query) Run(ctx context.Context, events []Event, limit int, limits Limits) (answer *Answer, err error) {
	defer func() {
		if what := recover(); what != nil {
			end, ok := what.(stopped)
			if !ok {
				panic(what)
			}
			answer, err = nil, end.err
		}
	}()
	w := &work{ctx: ctx, limits: limits}
	rows := make([]*Row, len(events))
	for i := range events {
		w.spend(len(events[i].Message))
		rows[i] = &Row{work: w, event: &events[i]}
	}
	if q.limit == 0 {
		limit = cmp.Or(limit, defaultLimit)
	} else {
		limit = len(rows)
	}
	answer = &Answer{Rows: [][]Column{}}
	answer.Matched = len(rows)
	for i, s := range q.stages {
		if s.each { // fields of rows that a later limit removes are not needed
			rows = rows[:min(q.limitAfter(i, limit), len(rows))]
		}
		if rows = s.run(w, rows); s.filters {
			answer.Matched = len(rows)
		}
	}
	if q.limit == 0 {
		rows = rows[:min(limit, len(rows))]
	}
	names := q.names()
	size := 0
	for _, r := range rows {
		var line []Column
		for _, name := range names {
			if v := r.get(name); v.present {
				line = append(line, Column{name, v.text})
				size += len(v.text)
			}
		}
		if size > limits.Result {
			return nil, &LimitError{fmt.Sprintf("returns more than %d bytes", limits.Result)}
		}
		if r.event != nil {
			line = append(line, Column{"@ptr", r.event.Pointer})
		}
		answer.Rows = append(answer.Rows, line)
	}
	return answer, nil
}

// limitAfter returns how many of the rows before stage i are left after it and the stages that follow and keep all
// rows. end is the number of rows that are left at the end.
func (q *Query) limitAfter(i, end int) int {
	for ; i < len(q.stages); i++ {
		switch s := q.stages[i]; {
		case s.limit > 0:
			return s.limit
		case !s.each:
			return math.MaxInt
		}
	}
	return end
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
