package interpreter

import (
	"fmt"

	"stepback/asl"
	"stepback/asl/jsonpath"
	"stepback/engine/history"
	"stepback/jsonvalue"
)

// env gives the paths, intrinsic calls and expressions of a state access to its input, the context object, the
// variables and a source of random numbers. The type query is an env in the form that JSONata expressions use.
type env struct {
	x     *Execution
	t     *thread
	input *jsonvalue.Document // what $ means in JSONPath
	// result and errorOutput are the parts of $states that only some fields of JSONata states can access.
	result, errorOutput *jsonvalue.Document
	token               string           // Task.Token, only while the parameters of a token task are evaluated
	item                *jsonvalue.Value // Map.Item, only in a Map's ItemSelector

	state jsonvalue.Value // State in the context object, once built
	built jsonvalue.Value // the whole context object, once built for the current item
}

// over sets the document that $ refers to.
func (e *env) over(p *jsonvalue.Document) { e.input = p }

// at sets the item for which a Map's ItemSelector is evaluated; nil clears it.
func (e *env) at(item *jsonvalue.Value) {
	e.item = item
	e.built = jsonvalue.Value{}
}

// withToken sets the task token that parameters can use; an empty token clears it.
func (e *env) withToken(token string) {
	e.token = token
	e.built = jsonvalue.Value{}
}

// lookupError is the error of a path lookup, with the path as written.
type lookupError struct {
	path string
	err  error
}

func (e *lookupError) Error() string { return e.err.Error() }
func (e *lookupError) Unwrap() error { return e.err }

// Lookup returns the value that a path selects.
func (e *env) Lookup(p *jsonpath.Path) (jsonvalue.Value, error) {
	v, err := e.find(p)
	if err != nil {
		return v, &lookupError{p.Text(), err}
	}
	return v, nil
}

func (e *env) find(p *jsonpath.Path) (jsonvalue.Value, error) {
	e.x.evaluates()
	var root jsonvalue.Value
	switch p.Root() {
	case jsonpath.Context:
		root = e.context()
	case jsonpath.Variable:
		v, ok := e.t.vars.get(p.Variable())
		if !ok {
			return jsonvalue.Value{}, fmt.Errorf("the variable $%s has no value here", p.Variable())
		}
		root = v
	default:
		root = e.input.Value()
	}
	if v, ok := p.Member(root); ok {
		return v, nil
	}
	return e.search(p, root)
}

// search evaluates a path that may visit many nodes. It counts the path's work, and the path can be interrupted.
func (e *env) search(p *jsonpath.Path, root jsonvalue.Value) (jsonvalue.Value, error) {
	limit := (maxWork - e.x.work) * visitsPerWork
	visits := limit
	if e.x.polled == nil {
		e.x.polled = e.x.poll // once: a method value is allocated
	}
	e.x.begins = false // a path calls poll after a while
	defer func() {
		e.x.work += (limit - visits) / visitsPerWork
		e.x.evaluated()
	}()
	return p.SelectWithin(root, &visits, e.x.polled)
}

// Random returns 64 random bits.
func (e *env) Random() uint64 { return e.x.random.Uint64() }

// context returns the context object for the current state. It is built once for each run of the state, and once
// for each item.
func (e *env) context() jsonvalue.Value {
	if !e.built.IsNull() {
		return e.built
	}
	x := e.x
	if x.trial != nil && x.trial.Context != nil {
		return x.trial.context(e.item)
	}
	b := jsonvalue.NewObject(5)
	b.Set("Execution", x.executionContext())
	b.Set("State", e.stateContext())
	b.Set("StateMachine", x.aboutModel)
	if e.token != "" {
		task := jsonvalue.NewObject(1)
		task.Set("Token", jsonvalue.OfString(e.token))
		b.Set("Task", task.Value())
	}
	if e.item != nil {
		m := jsonvalue.NewObject(1)
		m.Set("Item", *e.item)
		b.Set("Map", m.Value())
	}
	e.built = b.Value()
	return e.built
}

func (e *env) stateContext() jsonvalue.Value {
	if !e.state.IsNull() {
		return e.state
	}
	t := e.t
	b := jsonvalue.NewObject(3)
	b.Set("EnteredTime", jsonvalue.OfString(history.Instant(t.entered)))
	b.Set("Name", jsonvalue.OfString(t.state.Name))
	switch t.state.Type {
	case asl.Task, asl.Parallel, asl.Map:
		b.Set("RetryCount", jsonvalue.OfInt(t.retried))
	default:
	}
	e.state = b.Value()
	return e.state
}

// executionContext returns the parts of the context object that do not change during the execution. They are built
// once.
func (x *Execution) executionContext() jsonvalue.Value {
	if !x.aboutRun.IsNull() {
		return x.aboutRun
	}
	b := jsonvalue.NewObject(7)
	b.Set("Id", jsonvalue.OfString(x.info.ARN))
	b.Set("Input", x.input.Value())
	b.Set("StartTime", jsonvalue.OfString(history.Instant(x.start)))
	b.Set("Name", jsonvalue.OfString(x.info.Name))
	b.Set("RoleArn", jsonvalue.OfString(x.machine.RoleARN))
	if !x.info.Sync {
		b.Set("RedriveCount", jsonvalue.OfInt(x.redrives))
	}
	if x.redrives > 0 {
		b.Set("RedriveTime", jsonvalue.OfString(history.Instant(x.redriven)))
	}
	x.aboutRun = b.Value()
	m := jsonvalue.NewObject(2)
	m.Set("Id", jsonvalue.OfString(x.info.MachineARN))
	m.Set("Name", jsonvalue.OfString(x.machine.Name))
	x.aboutModel = m.Value()
	return x.aboutRun
}

// mapItem builds the context object's Map.Item.
func mapItem(index int64, value jsonvalue.Value, key, source string) *jsonvalue.Value {
	b := jsonvalue.NewObject(4)
	b.Set("Index", jsonvalue.OfInt(index))
	b.Set("Value", value)
	if key != "" {
		b.Set("Key", jsonvalue.OfString(key))
	}
	if source != "" {
		b.Set("Source", jsonvalue.OfString(source))
	}
	v := b.Value()
	return &v
}
