package metricmath

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Terms looks up the ids in an expression.
type Terms interface {
	// Term returns the series of a metric or an expression, given its id. An expression can have several series.
	// several is true if the id is an array.
	Term(id string) (all []Labelled, several bool, err error)
	// Metrics returns the series of the request's metrics whose ids contain part, in the order of the request.
	Metrics(part string) []Labelled
	// Search returns the series of the metrics that match a search expression.
	Search(query, statistic string, period time.Duration) ([]Labelled, error)
	// Period returns the period of the metric with an id, or false if there is none.
	Period(id string) (time.Duration, bool)
}

// Evaluate evaluates an expression over a grid. several is true if the result is an array of series. A period in
// which the result is not a finite number has no value. If the expression cannot be evaluated, the error gives the
// position and the reason.
func Evaluate(expression string, g Grid, terms Terms) (all []Labelled, several bool, err error) {
	e := &evaluator{text: expression, grid: g, terms: terms}
	v, err := e.or()
	if err == nil && e.peek() != 0 {
		err = e.errorf("expected an operator or the end")
	}
	switch {
	case err != nil:
		return nil, false, err
	case v.kind == text:
		return nil, false, e.errorf("the expression is %s", kinds[v.kind])
	case v.kind == number:
		v = ofSeries(expression, g.constant(v.number))
	}
	for i, l := range v.list {
		for j, x := range l.Values {
			if math.IsInf(x, 0) {
				v.list[i].Values[j] = math.NaN()
			}
		}
	}
	return v.list, v.kind == list, nil
}

// evaluator parses an expression from left to right and evaluates it in the same pass.
type evaluator struct {
	text  string
	at    int
	depth int
	grid  Grid
	terms Terms
}

const maxDepth = 100

func (e *evaluator) errorf(format string, args ...any) error {
	return fmt.Errorf("column %d: %w", e.at+1, fmt.Errorf(format, args...))
}

// peek skips spaces and returns the next character, or 0 at the end.
func (e *evaluator) peek() byte {
	for e.at < len(e.text) && strings.IndexByte(" \t\r\n", e.text[e.at]) >= 0 {
		e.at++
	}
	if e.at == len(e.text) {
		return 0
	}
	return e.text[e.at]
}

// next consumes the first of the operators that comes next in the text. Longer operators must be listed first. An
// operator that is a word must not be followed by another letter.
func (e *evaluator) next(operators ...string) (string, bool) {
	e.peek()
	for _, op := range operators {
		rest, ok := strings.CutPrefix(e.text[e.at:], op)
		if !ok || unicode.IsLetter(rune(op[0])) && rest != "" && inName(rune(rest[0])) {
			continue
		}
		e.at += len(op)
		return op, true
	}
	return "", false
}

func (e *evaluator) expect(c byte) error {
	if e.peek() != c {
		return e.errorf("expected %q", c)
	}
	e.at++
	return nil
}

// chain evaluates operands joined by operators of the same precedence.
func (e *evaluator) chain(operand func() (value, error), operators ...string) (value, error) {
	left, err := operand()
	if err != nil {
		return left, err
	}
	for {
		op, ok := e.next(operators...)
		if !ok {
			return left, nil
		}
		right, err := operand()
		if err != nil {
			return left, err
		}
		if left, err = e.combine(op, left, right); err != nil {
			return left, err
		}
	}
}

func (e *evaluator) or() (value, error)  { return e.chain(e.and, "||", "OR") }
func (e *evaluator) and() (value, error) { return e.chain(e.comparison, "&&", "AND") }
func (e *evaluator) comparison() (value, error) {
	return e.chain(e.sum, ">=", "<=", "==", "!=", ">", "<")
}
func (e *evaluator) sum() (value, error)     { return e.chain(e.product, "+", "-") }
func (e *evaluator) product() (value, error) { return e.chain(e.power, "*", "/") }
func (e *evaluator) power() (value, error)   { return e.chain(e.operand, "^") }

// operations maps operators to functions. If an operand is missing, the result is missing.
var operations = map[string]func(x, y float64) float64{
	"+":  func(x, y float64) float64 { return x + y },
	"-":  func(x, y float64) float64 { return x - y },
	"*":  func(x, y float64) float64 { return x * y },
	"/":  func(x, y float64) float64 { return x / y },
	"^":  math.Pow,
	">=": truth(func(x, y float64) bool { return x >= y }), "<=": truth(func(x, y float64) bool { return x <= y }),
	"==": truth(func(x, y float64) bool { return x == y }), "!=": truth(func(x, y float64) bool { return x != y }),
	">": truth(func(x, y float64) bool { return x > y }), "<": truth(func(x, y float64) bool { return x < y }),
	"&&": truth(func(x, y float64) bool { return x != 0 && y != 0 }),
	"||": truth(func(x, y float64) bool { return x != 0 || y != 0 }),
}

func truth(holds func(x, y float64) bool) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		switch {
		case math.IsNaN(x) || math.IsNaN(y):
			return math.NaN()
		case holds(x, y):
			return 1
		}
		return 0
	}
}

func (e *evaluator) combine(op string, a, b value) (value, error) {
	if a.kind == text || b.kind == text {
		return a, e.errorf("%s takes no string", op)
	}
	switch op {
	case "AND":
		op = "&&"
	case "OR":
		op = "||"
	}
	made, ok := both(a, b, operations[op])
	if !ok {
		return made, e.errorf("the arrays beside %s have different lengths", op)
	}
	return made, nil
}

func (e *evaluator) operand() (value, error) {
	if e.depth++; e.depth > maxDepth {
		return value{}, e.errorf("nested too deeply")
	}
	defer func() { e.depth-- }()
	switch c := e.peek(); {
	case c == '(':
		e.at++
		v, err := e.or()
		if err != nil {
			return v, err
		}
		return v, e.expect(')')
	case c == '-':
		e.at++
		v, err := e.operand()
		if err == nil && v.kind == text {
			err = e.errorf("- takes no string")
		}
		return v.each(func(x float64) float64 { return -x }), err
	case c == '[':
		return e.array()
	case c == '\'' || c == '"':
		return e.quoted(c)
	case c >= '0' && c <= '9' || c == '.':
		t := e.take(func(r rune) bool { return unicode.IsDigit(r) || r == '.' })
		v, err := strconv.ParseFloat(t, 64)
		if err != nil {
			return value{}, e.errorf("%q is not a number", t)
		}
		return ofNumber(v), nil
	default:
		return e.named()
	}
}

// array evaluates [a, b] to the series of all elements.
func (e *evaluator) array() (value, error) {
	e.at++
	all, err := e.arguments(']')
	made := value{kind: list}
	for _, v := range all {
		switch v.kind {
		case text:
			return made, e.errorf("an array has no strings")
		case number:
			v = ofSeries(strconv.FormatFloat(v.number, 'g', -1, 64), e.grid.constant(v.number))
		default:
		}
		made.list = append(made.list, v.list...)
	}
	return made, err
}

// arguments evaluates expressions up to a closing bracket.
func (e *evaluator) arguments(end byte) (all []value, err error) {
	if e.peek() == end {
		e.at++
		return nil, nil
	}
	for {
		v, err := e.or()
		if err != nil {
			return nil, err
		}
		all = append(all, v)
		if e.peek() == end {
			e.at++
			return all, nil
		}
		if err := e.expect(','); err != nil {
			return nil, err
		}
	}
}

func (e *evaluator) quoted(quote byte) (value, error) {
	n := strings.IndexByte(e.text[e.at+1:], quote)
	if n < 0 {
		return value{}, e.errorf("the string does not end")
	}
	t := e.text[e.at+1 : e.at+1+n]
	e.at += n + 2
	return value{kind: text, text: t}, nil
}

func (e *evaluator) take(in func(rune) bool) string {
	rest := e.text[e.at:]
	n := strings.IndexFunc(rest, func(r rune) bool { return !in(r) })
	if n < 0 {
		n = len(rest)
	}
	e.at += n
	return rest[:n]
}

func inName(r rune) bool {
	return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

// named evaluates an id or a function.
func (e *evaluator) named() (value, error) {
	began := e.at
	name := e.take(inName)
	if name == "" {
		return value{}, e.errorf("expected a number, an id, a function or (")
	}
	if e.peek() != '(' {
		switch name { // for FILL
		case "REPEAT", "LINEAR", "ASC", "DESC":
			return value{kind: text, text: name}, nil
		case "SUM", "AVG", "MIN", "MAX": // for SORT
			return value{kind: text, text: name}, nil
		}
		all, several, err := e.terms.Term(name)
		if err != nil {
			e.at = began
			return value{}, e.errorf("%w", err)
		}
		if several {
			return value{kind: list, list: all}, nil
		}
		return value{kind: series, list: all}, nil
	}
	e.at++
	if name == "PERIOD" || name == "METRICS" {
		return e.about(name)
	}
	arguments, err := e.arguments(')')
	if err != nil {
		return value{}, err
	}
	f, ok := functions[name]
	if !ok {
		e.at = began
		return value{}, e.errorf("the function %s is not known here", name)
	}
	v, err := f(e, arguments)
	if err != nil {
		e.at = began
		return v, e.errorf("%s: %w", name, err)
	}
	return v, nil
}

// about evaluates the functions whose arguments are metrics and not values: PERIOD(id) and METRICS("part").
func (e *evaluator) about(name string) (value, error) {
	if name == "METRICS" {
		part, err := e.arguments(')')
		if err != nil || len(part) > 1 || len(part) == 1 && part[0].kind != text {
			return value{}, e.errorf("METRICS takes a part of ids as a string, or nothing")
		}
		if len(part) == 1 {
			return value{kind: list, list: e.terms.Metrics(part[0].text)}, nil
		}
		return value{kind: list, list: e.terms.Metrics("")}, nil
	}
	e.peek()
	id := e.take(inName)
	period, ok := e.terms.Period(id)
	if !ok {
		return value{}, e.errorf("%q is not the ID of a metric", id)
	}
	return ofNumber(period.Seconds()), e.expect(')')
}
