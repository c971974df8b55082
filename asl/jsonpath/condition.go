package jsonpath

import "stepback/jsonvalue"

// condition is a filter's compiled expression. test returns errRejected if a comparison does not apply to its
// operands. The item is then rejected, whatever the rest of the expression.
type condition interface {
	test(e *evaluation, item jsonvalue.Value) (bool, error)
}

type anyOf []condition

func (c anyOf) test(e *evaluation, item jsonvalue.Value) (bool, error) {
	for _, part := range c {
		if ok, err := part.test(e, item); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

type allOf []condition

func (c allOf) test(e *evaluation, item jsonvalue.Value) (bool, error) {
	for _, part := range c {
		if ok, err := part.test(e, item); !ok || err != nil {
			return ok, err
		}
	}
	return true, nil
}

type not struct{ of condition }

func (c not) test(e *evaluation, item jsonvalue.Value) (bool, error) {
	ok, err := c.of.test(e, item)
	return !ok && err == nil, err
}

// existence tests whether a path selects something: @.isbn and !@.isbn.
type existence struct {
	path *pathOperand
	want bool
}

func (c existence) test(e *evaluation, item jsonvalue.Value) (bool, error) {
	found, err := c.path.exists(e, item)
	return found == c.want && err == nil, err
}

// comparison relates two operands: @.price < 10.
type comparison struct {
	left, right source
	symbol      string // the operator, words in capitals
	holds       relation
	pairwise    bool // the relation compares elements with elements
}

func (c comparison) test(e *evaluation, item jsonvalue.Value) (bool, error) {
	left, err := c.left.operand(e, item)
	if err != nil {
		return false, err
	}
	right, err := c.right.operand(e, item)
	if err != nil {
		return false, err
	}
	cost := left.weight() + right.weight()
	if right.pattern != nil {
		cost += (left.weight() - 1) * right.effort
	}
	if c.pairwise {
		cost = left.weight() * right.weight()
	}
	if err := e.budget.spend(cost); err != nil {
		return false, err
	}
	return c.holds(left, right)
}
