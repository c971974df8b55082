package oracle

import (
	"stepback/engine/history"
	"stepback/engine/simulation/machine"
)

// choose predicts the next state of a Choice state.
func (j *judge) choose(t *thread) error {
	c := t.state.Choice
	n := number(t.input, "n")
	t.next = c.Default
	for i := range c.Rules {
		if holds(&c.Rules[i], n) {
			t.next = c.Rules[i].Next
			break
		}
	}
	if t.next == "" {
		return j.fail(t, failure{Failure: history.NewFailure("States.NoChoiceMatched", "")})
	}
	j.expect(t, exited(t.state))
	return nil
}

func holds(r *machine.Rule, n int) bool {
	var is bool
	switch r.Operator {
	case "NumericEquals":
		is = n == r.Operand
	case "NumericLessThan":
		is = n < r.Operand
	case "NumericGreaterThanEquals":
		is = n >= r.Operand
	}
	return is != r.Not && (r.And == nil || holds(r.And, n))
}
