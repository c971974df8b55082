package intrinsic_test

import (
	"testing"

	"stepback/asl/intrinsic"
	"stepback/asl/jsonpath"
	"stepback/jsonvalue"
)

// values is an Env of fixed values whose random source counts up from next.
type values struct {
	input, context jsonvalue.Value
	variables      map[string]jsonvalue.Value
	next           uint64
}

func (e *values) Lookup(p *jsonpath.Path) (jsonvalue.Value, error) {
	switch p.Root() {
	case jsonpath.Context:
		return p.Eval(e.context)
	case jsonpath.Variable:
		return p.Eval(e.variables[p.Variable()])
	default:
		return p.Eval(e.input)
	}
}

func (e *values) Random() uint64 {
	e.next++
	return e.next - 1
}

func parse(t testing.TB, text string) jsonvalue.Value {
	t.Helper()
	v, err := jsonvalue.Parse(text)
	if err != nil {
		t.Fatalf("the test's JSON %s: %v", text, err)
	}
	return v
}

func compile(t testing.TB, text string) *intrinsic.Call {
	t.Helper()
	c, err := intrinsic.Compile(text)
	if err != nil {
		t.Fatalf("Compile(%q): %v", text, err)
	}
	return c
}

// evaluate returns the JSON text of a call on an input.
func evaluate(t testing.TB, text, input string) string {
	t.Helper()
	v, err := compile(t, text).Eval(&values{input: parse(t, input)})
	if err != nil {
		t.Fatalf("%s on %s: %v", text, input, err)
	}
	return v.JSON()
}

func bounds(start, end int64) jsonvalue.Value {
	b := jsonvalue.NewObject(2)
	b.Set("start", jsonvalue.OfInt(start))
	b.Set("end", jsonvalue.OfInt(end))
	return b.Value()
}
