package metricmath

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Evaluate evaluates an expression over a grid. A period in which a term is missing, or the result is not a finite
// number, is missing from the result. The error of an expression that cannot be evaluated says where and what was
// expected.
func Evaluate(expression string, g Grid, terms map[string]Series) (Series, error) {
	e := evaluator{text: expression, grid: g, terms: terms}
	s, err := e.comparison()
	if err != nil {
		return nil, err
	}
	if e.peek() != 0 {
		return nil, e.errorf("expected an operator or the end")
	}
	for i, v := range s {
		if math.IsInf(v, 0) {
			s[i] = math.NaN()
		}
	}
	return s, nil
}

// evaluator reads an expression from left to right and evaluates as it goes.
type evaluator struct {
	text  string
	at    int
	depth int
	grid  Grid
	terms map[string]Series
}

const maxDepth = 100

func (e *evaluator) errorf(format string, args ...any) error {
	return fmt.Errorf("metric math %q, column %d: %s", e.text, e.at+1, fmt.Sprintf(format, args...))
}

// peek returns the next character that is no space, or 0 at the end.
func (e *evaluator) peek() byte {
	for e.at < len(e.text) && e.text[e.at] == ' ' {
		e.at++
	}
	if e.at == len(e.text) {
		return 0
	}
	return e.text[e.at]
}

func (e *evaluator) expect(c byte) error {
	if e.peek() != c {
		return e.errorf("expected %q", c)
	}
	e.at++
	return nil
}

// comparison is a sum, or two of them compared: 1 where the comparison holds and 0 where it does not.
func (e *evaluator) comparison() (Series, error) {
	left, err := e.sum()
	if err != nil {
		return nil, err
	}
	e.peek()
	for _, op := range []string{">=", "<=", "==", "!=", ">", "<"} {
		if !strings.HasPrefix(e.text[e.at:], op) {
			continue
		}
		e.at += len(op)
		right, err := e.sum()
		if err != nil {
			return nil, err
		}
		return compare(op, left, right), nil
	}
	return left, nil
}

func compare(op string, a, b Series) Series {
	out := make(Series, len(a))
	for i := range a {
		holds := map[string]bool{
			">=": a[i] >= b[i], "<=": a[i] <= b[i], "==": a[i] == b[i], "!=": a[i] != b[i], ">": a[i] > b[i],
			"<": a[i] < b[i],
		}[op]
		switch {
		case math.IsNaN(a[i]) || math.IsNaN(b[i]):
			out[i] = math.NaN()
		case holds:
			out[i] = 1
		}
	}
	return out
}

func (e *evaluator) sum() (Series, error) {
	return e.chain("+-", e.product)
}

func (e *evaluator) product() (Series, error) {
	return e.chain("*/", e.operand)
}

// chain evaluates operands joined by operators of one rank.
func (e *evaluator) chain(operators string, operand func() (Series, error)) (Series, error) {
	left, err := operand()
	if err != nil {
		return nil, err
	}
	for {
		op := e.peek()
		if op == 0 || !strings.ContainsRune(operators, rune(op)) {
			return left, nil
		}
		e.at++
		right, err := operand()
		if err != nil {
			return nil, err
		}
		left = combine(op, left, right)
	}
}

func combine(op byte, a, b Series) Series {
	out := make(Series, len(a))
	for i := range a {
		switch op {
		case '+':
			out[i] = a[i] + b[i]
		case '-':
			out[i] = a[i] - b[i]
		case '*':
			out[i] = a[i] * b[i]
		default:
			out[i] = a[i] / b[i]
		}
	}
	return out
}

func (e *evaluator) operand() (Series, error) {
	if e.depth++; e.depth > maxDepth {
		return nil, e.errorf("nested too deeply")
	}
	defer func() { e.depth-- }()
	switch c := e.peek(); {
	case c == '(':
		e.at++
		s, err := e.comparison()
		if err != nil {
			return nil, err
		}
		return s, e.expect(')')
	case c >= '0' && c <= '9':
		return e.number()
	default:
		return e.named()
	}
}

func (e *evaluator) number() (Series, error) {
	text := e.take(func(r rune) bool { return unicode.IsDigit(r) || r == '.' })
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, e.errorf("%q is not a number", text)
	}
	return e.grid.constant(v), nil
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

// named evaluates an identifier or a function.
func (e *evaluator) named() (Series, error) {
	name := e.take(func(r rune) bool {
		return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
	})
	if name == "" {
		return nil, e.errorf("expected a number, an identifier, a function or (")
	}
	if e.peek() != '(' {
		s, ok := e.terms[name]
		if !ok {
			return nil, e.errorf("%q is no metric's id", name)
		}
		return append(Series(nil), s...), nil
	}
	e.at++
	s, err := e.comparison()
	if err != nil {
		return nil, err
	}
	switch name {
	case "ABS":
		for i, v := range s {
			s[i] = math.Abs(v)
		}
	case "DIFF":
		s = diff(s)
	case "FILL":
		if err := e.fill(s); err != nil {
			return nil, err
		}
	case "IF":
		if s, err = e.choose(s); err != nil {
			return nil, err
		}
	default:
		return nil, e.errorf("the function %s is not known here; FILL, ABS, DIFF and IF are", name)
	}
	return s, e.expect(')')
}

// choose is the rest of IF(condition, then, otherwise). A period without a condition has no value.
func (e *evaluator) choose(condition Series) (Series, error) {
	var branches [2]Series
	for i := range branches {
		if err := e.expect(','); err != nil {
			return nil, err
		}
		var err error
		if branches[i], err = e.comparison(); err != nil {
			return nil, err
		}
	}
	out := make(Series, len(condition))
	for i, v := range condition {
		switch {
		case math.IsNaN(v):
			out[i] = v
		case v != 0:
			out[i] = branches[0][i]
		default:
			out[i] = branches[1][i]
		}
	}
	return out, nil
}

// diff is each value less the one before it.
func diff(s Series) Series {
	out := make(Series, len(s))
	before := math.NaN()
	for i, v := range s {
		out[i] = v - before
		if !math.IsNaN(v) {
			before = v
		}
	}
	return out
}

func (e *evaluator) fill(s Series) error {
	if err := e.expect(','); err != nil {
		return err
	}
	filler, err := e.sum()
	if err != nil {
		return err
	}
	for i, v := range s {
		if math.IsNaN(v) {
			s[i] = filler[i]
		}
	}
	return nil
}
