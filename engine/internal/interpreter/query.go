package interpreter

import (
	"errors"
	"time"

	"stepback/asl/expression"
	"stepback/engine/history"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
)

// query is an env in the form that JSONata expressions use: $states, the variables, the time of the signal and its
// random numbers.
type query env

// Root implements jsonata.Env. There is no document besides $states.
func (q *query) Root() (jsonvalue.Value, bool) { return jsonvalue.Value{}, false }

// Lookup implements jsonata.Env.
func (q *query) Lookup(name string) (jsonvalue.Value, bool) {
	if name == "states" {
		return q.states(), true
	}
	return q.t.vars.get(name)
}

// Member implements jsonata.MemberEnv. It lets an expression that only reads the input do so without building the
// context object.
func (q *query) Member(variable, name string) (v jsonvalue.Value, exists, known bool) {
	if variable != "states" {
		return v, false, false
	}
	var part *jsonvalue.Document
	switch name {
	case "input":
		part = q.t.input
	case "result":
		part = q.result
	case "errorOutput":
		part = q.errorOutput
	case "context":
		return (*env)(q).context(), true, true
	}
	if part == nil {
		return v, false, true
	}
	return part.Value(), true, true
}

// Spent adds the work of an expression to the execution's, so that an execution with expensive expressions yields
// sooner.
func (q *query) Spent(steps int) { q.x.work += steps }

// Err ends the evaluation of a state whose expressions have taken more than maxWork together, and any evaluation if the
// execution ends.
func (q *query) Err() error {
	if q.x.work > maxWork {
		return errors.New("Expression evaluation timeout: the expressions of this state take too long together") //nolint:staticcheck // as AWS begins it
	}
	return q.x.poll()
}

// Now implements jsonata.Env.
func (q *query) Now() time.Time { return q.x.now }

// Random implements jsonata.Env.
func (q *query) Random() uint64 { return q.x.random.Uint64() }

// states returns $states.
func (q *query) states() jsonvalue.Value {
	b := jsonvalue.NewObject(4)
	b.Set("input", q.t.input.Value())
	if q.result != nil {
		b.Set("result", q.result.Value())
	}
	if q.errorOutput != nil {
		b.Set("errorOutput", q.errorOutput.Value())
	}
	b.Set("context", (*env)(q).context())
	return b.Value()
}

// eval evaluates a payload in the language of its state.
func (e *env) eval(p *plan.Payload) (jsonvalue.Value, error) {
	e.x.evaluates()
	defer e.x.evaluated()
	if p.Expression != nil {
		return p.Expression.Eval((*query)(e))
	}
	return p.Template.Eval(e)
}

// evaluate evaluates a JSONata field. If it returns false, it has failed the state.
func (x *Execution) evaluate(t *thread, v *expression.Value) (jsonvalue.Value, bool) {
	if static, ok := v.Static(); ok {
		return static, true
	}
	x.evaluates()
	value, err := v.Eval((*query)(&t.env))
	x.evaluated()
	if err != nil {
		return value, x.expressionError(t, err, "", t.input)
	}
	return value, true
}

// evaluationFailed fails a state with States.QueryEvaluationError. If the state has done nothing since it was
// entered, the event follows from the event before the state, as in the service. For a Wait state, the entry itself
// counts as having done something.
func (x *Execution) evaluationFailed(t *thread, location, message string) bool {
	previous, atOnce := t.last, t.last == t.entryID
	if atOnce && t.state.Wait == nil {
		previous = t.before
	}
	f := x.writeEvaluationFailed(t, previous, location, message)
	if atOnce && (t.state.Map != nil || t.state.Branches != nil) {
		t.children = &fan{owner: t} // so that the state is written as failed although it never started
	}
	return x.failed(t, f)
}

func (x *Execution) writeEvaluationFailed(t *thread, previous int64, location, message string) failure {
	f := history.NewFailure(plan.ErrQueryEvaluation, x.described(t, message))
	t.last = x.emit(history.Event{
		Type: history.EvaluationFailed, Previous: previous, Name: t.state.Name, More: &history.Details{Failure: f,
			Location: location},
	})
	return failure{Failure: f}
}

// failUnexpectedType fails a state because a field evaluates to a value of the wrong type.
func (x *Execution) failUnexpectedType(t *thread, field *expression.Value, expected string, got jsonvalue.Value) bool {
	return x.expressionError(t, field.Unexpected(expected, got), "", t.input)
}

// whole evaluates a field that must be a whole number of at least least.
func (x *Execution) whole(t *thread, n plan.Number, least int64) (int64, bool) {
	v, ok := x.evaluate(t, n.Expression)
	if !ok {
		return 0, false
	}
	if v.Kind() != jsonvalue.Number {
		return 0, x.failUnexpectedType(t, n.Expression, "number", v)
	}
	i, ok := v.Int()
	if !ok || i < least {
		return 0, x.evaluationFailed(t, n.Expression.Field(), "The "+n.Field+" field must be a whole number from "+
			itoa(least)+
			" on but was: "+v.JSON())
	}
	return i, true
}

// finishQuery evaluates Output and Assign of a JSONata state, and exits the state. Both fields have access to the
// same data.
func (x *Execution) finishQuery(t *thread, result *jsonvalue.Document, previous int64) bool {
	s := t.state
	t.last = previous
	if s.Task != nil || s.Map != nil || s.Branches != nil {
		t.env.result = result
		if s.Task != nil {
			x.trace(TaskResult, result)
		}
	}
	return x.leave(t, result, s.Output, s.Assign, s.Next)
}

// leave evaluates Output and Assign, and moves the thread to the next state. If there is no Output, the state's
// output is out.
func (x *Execution) leave(t *thread, out *jsonvalue.Document, output *expression.Value, assign *plan.Payload,
	next *plan.State) bool {
	if output != nil {
		v, ok := x.evaluate(t, output)
		if !ok {
			return false
		}
		out = jsonvalue.ValueDocument(v)
	}
	assigned, ok := x.assign(t, assign, out)
	if !ok {
		return false
	}
	return x.exit(t, out, next, t.last, assigned)
}
