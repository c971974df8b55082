package jsonpath

import (
	"regexp"

	"stepback/jsonvalue"
)

// operand is one side of a comparison: a value, a regular expression, or undefined if a path selects nothing.
type operand struct {
	value     jsonvalue.Value
	undefined bool
	pattern   *regexp.Regexp
	// effort is the cost of a pattern, in visits for each 64 bytes of the text that it is matched with. It follows
	// from the number of instructions of the compiled pattern.
	effort int
}

func (o operand) is(kind jsonvalue.Kind) bool {
	return !o.undefined && o.pattern == nil && o.value.Kind() == kind
}

// isTree reports whether the operand is an array or an object.
func (o operand) isTree() bool { return o.is(jsonvalue.Array) || o.is(jsonvalue.Object) }

// weight estimates the cost of comparing the operand, in visits.
func (o operand) weight() int { return weight(o.value) }

func weight(v jsonvalue.Value) int {
	switch v.Kind() {
	case jsonvalue.String:
		return 1 + len(v.Text())/64
	case jsonvalue.Number:
		// Long numbers are compared exactly, which takes more than linear time.
		n := len(v.Text())
		return 1 + n/8 + n*n/16384
	default:
	}
	w := 1
	for _, child := range v.Elements() {
		w += weight(child)
	}
	return w
}

// source computes an operand of a comparison for an item.
type source interface {
	operand(e *evaluation, item jsonvalue.Value) (operand, error)
}

// literal is an operand with the same value for every item.
type literal operand

func (l literal) operand(*evaluation, jsonvalue.Value) (operand, error) { return operand(l), nil }

// pathOperand is a path from the item (@) or from the root ($).
type pathOperand struct {
	steps   steps
	negated bool // preceded by a !
}

func (p *pathOperand) operand(e *evaluation, item jsonvalue.Value) (operand, error) {
	if p.steps.atItem {
		return p.evaluate(e, item)
	}
	if o, ok := e.budget.roots[p]; ok {
		return o, nil
	}
	o, err := p.evaluate(e, e.root)
	if err != nil {
		return operand{}, err
	}
	if e.budget.roots == nil {
		e.budget.roots = map[*pathOperand]operand{}
	}
	e.budget.roots[p] = o
	return o, nil
}

func (p *pathOperand) evaluate(e *evaluation, start jsonvalue.Value) (operand, error) {
	if p.steps.plain != nil {
		v, ok := p.steps.walk(start)
		return operand{value: v, undefined: !ok}, nil
	}
	inner := evaluation{steps: &p.steps, root: e.root, quiet: true, budget: e.budget}
	v, err := inner.run(start)
	if err != nil && isAbsent(err) {
		return operand{undefined: true}, nil
	}
	return operand{value: v}, err
}

// exists reports whether the path selects something. Every named member in it must exist: @.list[*].a is not
// satisfied if one element lacks a.
func (p *pathOperand) exists(e *evaluation, item jsonvalue.Value) (bool, error) {
	start := e.root
	if p.steps.atItem {
		start = item
	}
	if p.steps.plain != nil {
		_, ok := p.steps.walk(start)
		return ok, e.budget.spend(1)
	}
	inner := evaluation{steps: &p.steps, root: e.root, strict: true, quiet: true, budget: e.budget}
	_, err := inner.run(start)
	if err != nil && isAbsent(err) {
		return false, nil
	}
	return err == nil, err
}
