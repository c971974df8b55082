package jsonata

import (
	"math"

	"stepback/jsonvalue"
)

// binary evaluates an infix operator. For the operators and and or, it evaluates the right side only if the left
// side does not decide the result.
func (ev *evaluator) binary(n *node, input value, f *frame) (value, *Error) {
	left, err := ev.eval(n.lhs, input, f)
	if err != nil {
		return nil, err
	}
	if n.text == "and" || n.text == "or" {
		v, err := ev.logical(n, left, input, f)
		return v, n.at(err)
	}
	right, err := ev.eval(n.rhs, input, f)
	if err != nil {
		return nil, err
	}
	v, err := ev.operate(n.text, left, right)
	return v, n.at(err)
}

// at sets the position of an error to that of operator n.
func (n *node) at(err *Error) *Error {
	if err != nil {
		err.Position = n.position
		err.setToken(n.text)
	}
	return err
}

func (ev *evaluator) logical(n *node, left, input value, f *frame) (value, *Error) {
	yes, err := ev.budget.truth(left)
	if err != nil {
		return nil, err
	}
	if yes == (n.text == "or") {
		return yes, nil
	}
	right, err := ev.eval(n.rhs, input, f)
	if err != nil {
		return nil, err
	}
	yes, err = ev.budget.truth(right)
	return yes, err
}

func (ev *evaluator) operate(operator string, left, right value) (value, *Error) {
	switch operator {
	case "=":
		return left != nil && right != nil && ev.budget.equal(left, right), nil
	case "!=":
		return left != nil && right != nil && !ev.budget.equal(left, right), nil
	case "<", "<=", ">", ">=":
		return ev.budget.compare(operator, left, right)
	case "&":
		return ev.concatenate(left, right)
	case "..":
		return ev.rangeOf(left, right)
	case "in":
		return ev.budget.includes(left, right)
	default:
		return arithmetic(operator, left, right)
	}
}

func arithmetic(operator string, left, right value) (value, *Error) {
	a, ok, err := numeric(left)
	if err != nil {
		return nil, err
	}
	if left != nil && !ok {
		return nil, raise("T2001", left)
	}
	b, ok, err := numeric(right)
	if err != nil {
		return nil, err
	}
	if right != nil && !ok {
		return nil, raise("T2002", right)
	}
	if left == nil || right == nil {
		return nil, nil
	}
	switch operator {
	case "+":
		return a + b, nil
	case "-":
		return a - b, nil
	case "*":
		return a * b, nil
	case "/":
		return a / b, nil
	default:
		return math.Mod(a, b), nil
	}
}

// equal compares deeply: arrays in order, objects regardless of the order of their members.
func (w *budget) equal(a, b value) bool {
	if !w.tick() {
		return false
	}
	switch a := a.(type) {
	case *array:
		b, ok := b.(*array)
		if !ok || a.len() != b.len() {
			return false
		}
		for i, item := range a.list() {
			if !w.equal(item, b.list()[i]) {
				return false
			}
		}
		return true
	case string:
		b, ok := b.(string)
		return ok && len(a) == len(b) && w.ticks(len(a)/bytesReadPerStep) && a == b
	case *object:
		b, ok := b.(*object)
		if !ok || a.len() != b.len() {
			return false
		}
		for i, key := range a.names() {
			j := b.find(key)
			if j < 0 || !w.equal(a.at(i), b.at(j)) {
				return false
			}
		}
		return true
	default:
		return a == b
	}
}

func comparable(v value) bool {
	switch v.(type) {
	case nil, string, float64:
		return true
	default:
		return false
	}
}

func isOrdered(v value) bool { return v != nil && comparable(v) }

// compare evaluates an operator of order.
func (w *budget) compare(operator string, left, right value) (value, *Error) {
	if !comparable(left) || !comparable(right) {
		if !isOrdered(left) {
			return nil, raise("T2010", left)
		}
		return nil, raise("T2010", right)
	}
	if left == nil || right == nil {
		return nil, nil
	}
	a, aNumber := left.(float64)
	b, bNumber := right.(float64)
	if aNumber != bNumber {
		return nil, &Error{Code: "T2009", value: left, value2: right}
	}
	if aNumber {
		switch operator {
		case "<":
			return a < b, nil
		case "<=":
			return a <= b, nil
		case ">":
			return a > b, nil
		default:
			return a >= b, nil
		}
	}
	if err := w.spend(min(len(textOf(left)), len(textOf(right))) / bytesReadPerStep); err != nil {
		return nil, err
	}
	order := compareStrings(left, right)
	switch operator {
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	default:
		return order >= 0, nil
	}
}

func compareStrings(a, b value) int {
	x, _ := a.(string)
	y, _ := b.(string)
	return jsonvalue.CompareUTF16(x, y)
}

// identical implements JavaScript's ===.
func identical(a, b value) bool { return a == b }

// includes evaluates the operator in.
func (w *budget) includes(left, right value) (value, *Error) {
	if left == nil || right == nil {
		return false, nil
	}
	items := asList(right)
	if err := w.spend(len(items) / itemsReadPerStep); err != nil {
		return nil, err
	}
	text := textOf(left)
	for _, item := range items {
		if s, ok := item.(string); ok && len(s) == len(text) {
			if err := w.spend(len(s) / bytesReadPerStep); err != nil {
				return nil, err
			}
		}
		if identical(left, item) {
			return true, nil
		}
	}
	return false, nil
}

func (ev *evaluator) concatenate(left, right value) (value, *Error) {
	var parts [2]string
	for i, v := range []value{left, right} {
		if v == nil {
			continue
		}
		s, err := ev.text(v, false)
		if err != nil {
			return nil, err
		}
		parts[i] = s
	}
	if err := ev.budget.spendText(len(parts[0]) + len(parts[1])); err != nil {
		return nil, err
	}
	return concat(parts[0], parts[1]), nil
}

// text returns the $string of a value.
func (ev *evaluator) text(v value, pretty bool) (string, *Error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "", raise("D3001", v)
		}
	case *array:
		if v.outer {
			return ev.stringify(v.items[0], pretty)
		}
	default:
		if isFunction(v) {
			return "", nil
		}
	}
	return ev.stringify(v, pretty)
}

func (ev *evaluator) stringify(v value, pretty bool) (string, *Error) {
	w := stringifier{precise: true, pretty: pretty, budget: &ev.budget}
	if err := w.write(v, 0); err != nil {
		return "", err
	}
	return string(w.out), ev.budget.growText(0, len(w.out))
}

func (ev *evaluator) rangeOf(left, right value) (value, *Error) {
	from, ok := wholeNumber(left)
	if !ok {
		return nil, raise("T2003", left)
	}
	to, ok := wholeNumber(right)
	if !ok {
		return nil, raise("T2004", right)
	}
	if left == nil || right == nil || from > to {
		return nil, nil
	}
	size := to - from + 1
	if size > maxItems {
		return nil, raise("D2014", size)
	}
	if err := ev.budget.allocate(int(size)); err != nil {
		return nil, err
	}
	if err := ev.budget.spend(int(size)); err != nil {
		return nil, err
	}
	items := make([]value, int(size))
	for i := range items {
		items[i] = from + float64(i)
	}
	return &array{items: items, sequence: true}, nil
}

// wholeNumber returns a number and true if v is a whole number or undefined.
func wholeNumber(v value) (float64, bool) {
	f, ok := v.(float64)
	return f, v == nil || ok && f == math.Trunc(f) && !math.IsInf(f, 0)
}
