package interpreter

import (
	"errors"
	"strconv"
	"time"

	"stepback/asl"
	"stepback/asl/expression"
	"stepback/asl/jsonpath"
	"stepback/asl/template"
	"stepback/engine/history"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
)

// runPass determines the output of a Pass state: from Result or Parameters, in JSONata from Output, or else from
// the input.
func (x *Execution) runPass(t *thread) bool {
	s := t.state
	if x.trial == nil && s.Result == nil && s.Parameters == nil && s.InputPath.Identity() && s.OutputPath.Identity() &&
		s.ResultPath.Replaces() &&
		s.Assign == nil && s.Output == nil {
		return x.exit(t, t.input, s.Next, t.last, nil)
	}
	result, ok := x.effectiveInput(t)
	if !ok {
		return false
	}
	if s.Result != nil {
		result = jsonvalue.ValueDocument(*s.Result)
		x.traceLiteral(result)
	}
	return x.finishState(t, result, t.last)
}

// effectiveInput applies InputPath and Parameters.
func (x *Execution) effectiveInput(t *thread) (*jsonvalue.Document, bool) {
	in, ok := x.selectPayload(t, t.state.InputPath, t.input, "InputPath")
	if !ok {
		return nil, false
	}
	x.trace(AfterInputPath, in)
	if t.state.Parameters == nil {
		x.traceArguments(t, in)
		return in, true
	}
	if p := t.state.Parameters.Template; p != nil && in.IsNull() && p.Reads(jsonpath.Input) {
		return nil, x.runtimeError(t, pathOverNull)
	}
	t.env.over(in)
	v, err := t.env.eval(t.state.Parameters)
	if err != nil {
		return nil, x.expressionError(t, err, t.state.Parameters.Field, in)
	}
	in = jsonvalue.ValueDocument(v)
	x.traceArguments(t, in)
	return in, true
}

func (x *Execution) runSucceed(t *thread) bool {
	in, ok := x.effectiveInput(t)
	if !ok {
		return false
	}
	return x.finishState(t, in, t.last)
}

func (x *Execution) runFail(t *thread) bool {
	var f failure
	t.env.over(t.input)
	x.trace(AfterInputPath, t.input)
	name, named, ok := x.text(t, t.state.Fail.Error)
	if !ok {
		return false
	}
	if named {
		f.SetName(name)
	}
	cause, caused, ok := x.text(t, t.state.Fail.Cause)
	if !ok {
		return false
	}
	if caused {
		f.SetCause(cause)
	}
	x.scopeFailed(t, f)
	return false
}

// text evaluates a string field that may be a path, an intrinsic call or an expression.
func (x *Execution) text(t *thread, field plan.Text) (text string, present, ok bool) {
	if field.Expression != nil {
		v, ok := x.evaluate(t, field.Expression)
		if ok && v.Kind() != jsonvalue.String {
			return "", false, x.failUnexpectedType(t, field.Expression, "string", v)
		}
		return v.Text(), ok, ok
	}
	if field.Source == nil {
		return field.Literal, field.Present, true
	}
	v, err := field.Source.Eval(&t.env)
	var missing *template.PathError
	if errors.As(err, &missing) {
		named := *missing
		named.Field = field.Field + "Path" // the template's key has a .$ that the state's field lacks
		err = &named
	}
	if err != nil {
		return "", false, x.expressionError(t, err, field.Field+"Path", t.input)
	}
	s := v.At(0)
	if s.Kind() != jsonvalue.String {
		return "", false, x.runtimeError(t, "The "+field.Field+"Path field must refer to a string, but refers to: "+
			s.JSON())
	}
	return s.Text(), true, true
}

func (x *Execution) runChoice(t *thread) bool {
	in, ok := x.effectiveInput(t)
	if !ok {
		return false
	}
	t.env.over(in)
	for i := range t.state.Choice.Rules {
		r := &t.state.Choice.Rules[i]
		matched, ok := x.matches(t, r)
		if !ok {
			return false
		}
		if matched {
			return x.chosen(t, in, r.Next, r)
		}
	}
	if t.state.Choice.Default == nil {
		return x.failed(t, failure{Failure: history.NewFailure(plan.ErrNoChoiceMatched,
			x.described(t, "Failed to transition out of the state. The state does not point to a next state."))})
	}
	return x.chosen(t, in, t.state.Choice.Default, nil)
}

// matches evaluates a rule. If ok is false, the rule could not be evaluated and the state has failed.
func (x *Execution) matches(t *thread, r *plan.Rule) (matched, ok bool) {
	if r.Condition == nil {
		matched, err := r.Matches(&t.env)
		if err != nil {
			return false, x.runtimeError(t, "Invalid path '"+pathOf(err)+
				"': The choice state's condition path references an invalid value.")
		}
		return matched, true
	}
	v, ok := x.evaluate(t, r.Condition)
	if ok && v.Kind() != jsonvalue.Bool {
		return false, x.failUnexpectedType(t, r.Condition, "boolean", v)
	}
	return v.Bool(), ok
}

// chosen exits a Choice state. If a rule matched, its Assign and Output replace those of the state.
func (x *Execution) chosen(t *thread, in *jsonvalue.Document, next *plan.State, r *plan.Rule) bool {
	a, output := t.state.Assign, t.state.Output
	if r != nil {
		a, output = r.Assign, r.Output
	}
	if t.state.Language == asl.JSONata {
		return x.leave(t, in, output, a, next)
	}
	out, ok := x.selectPayload(t, t.state.OutputPath, in, "OutputPath")
	if !ok {
		return false
	}
	assigned, ok := x.assign(t, a, in)
	if !ok {
		return false
	}
	return x.exit(t, out, next, t.last, assigned)
}

func (x *Execution) runWait(t *thread) bool {
	in, ok := x.effectiveInput(t)
	if !ok {
		return false
	}
	d, ok := x.waitFor(t, in)
	if !ok {
		return false
	}
	if d >= 1<<31*time.Second {
		return x.runtimeError(t, "Wait state delay is too long.")
	}
	t.pending = in
	t.timer = x.timer(t, waitState, max(d, 0))
	return false
}

func (x *Execution) waitFor(t *thread, in *jsonvalue.Document) (time.Duration, bool) {
	w := t.state.Wait
	t.env.over(in)
	switch {
	case w.Seconds.Expression != nil:
		n, ok := x.whole(t, w.Seconds, 0)
		return secondsOf(n), ok
	case w.TimestampExpression != nil:
		return x.untilTimestamp(t, w.TimestampExpression)
	case w.Seconds.Path != nil:
		v, err := t.env.Lookup(w.Seconds.Path)
		if err != nil {
			return 0, x.runtimeError(t, "The SecondsPath parameter does not reference an input value: "+
				w.Seconds.Path.Text())
		}
		n, err := strconv.ParseInt(v.Text(), 10, 64)
		switch {
		case v.Kind() != jsonvalue.Number || err != nil:
			return 0, x.runtimeError(t, "The SecondsPath parameter cannot be parsed as a long value: "+
				w.Seconds.Path.Text()+" == "+v.JSON())
		case n < 0:
			return 0, x.runtimeError(t, "The SecondsPath parameter references a negative value: "+w.Seconds.Path.Text()+
				" == "+v.JSON())
		}
		return secondsOf(n), true
	case w.Seconds.Present:
		return secondsOf(int64(w.Seconds.Literal)), true
	case w.TimestampPath != nil:
		v, err := t.env.Lookup(w.TimestampPath)
		if err != nil {
			return 0, x.runtimeError(t, "The TimestampPath parameter does not reference an input value: "+
				w.TimestampPath.Text())
		}
		at, ok := plan.ParseTimestamp(v.Text())
		if v.Kind() != jsonvalue.String || !ok {
			return 0, x.runtimeError(t, "The TimestampPath parameter does not reference a valid ISO-8601 extended offset date-time format string: "+
				w.TimestampPath.Text()+" == "+plainText(v))
		}
		return at.Sub(x.now), true
	default:
		return w.Timestamp.Sub(x.now), true
	}
}

// untilTimestamp evaluates a Timestamp in JSONata and returns the time from now until then.
func (x *Execution) untilTimestamp(t *thread, field *expression.Value) (time.Duration, bool) {
	v, ok := x.evaluate(t, field)
	if !ok {
		return 0, false
	}
	if v.Kind() != jsonvalue.String {
		return 0, x.failUnexpectedType(t, field, "string", v)
	}
	at, ok := plan.ParseTimestamp(v.Text())
	if !ok {
		return 0, x.evaluationFailed(t, field.Field(),
			"The Timestamp field cannot be parsed as an ISO-8601 extended offset date-time format string: "+v.Text())
	}
	return at.Sub(x.now), true
}

// plainText formats a value for a cause: a string without quotes, anything else as JSON.
func plainText(v jsonvalue.Value) string {
	if v.Kind() == jsonvalue.String {
		return v.Text()
	}
	return v.JSON()
}

// pathOf returns the text of the path in an error.
func pathOf(err error) string {
	var lookup *lookupError
	if errors.As(err, &lookup) {
		return lookup.path
	}
	return err.Error()
}

// secondsOf converts whole seconds to a duration without overflow.
func secondsOf(n int64) time.Duration {
	return time.Duration(min(n, int64(1<<33))) * time.Second
}
