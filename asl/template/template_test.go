package template_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"stepback/asl/jsonpath"
	"stepback/asl/template"
	"stepback/jsonvalue"
)

// values is an Env with fixed values.
type values struct {
	input, context jsonvalue.Value
	variables      map[string]jsonvalue.Value
}

var errNoVariable = errors.New("no such variable")

func (e *values) Lookup(p *jsonpath.Path) (jsonvalue.Value, error) {
	switch p.Root() {
	case jsonpath.Context:
		return p.Eval(e.context)
	case jsonpath.Variable:
		v, ok := e.variables[p.Variable()]
		if !ok {
			return v, errNoVariable
		}
		return p.Eval(v)
	default:
		return p.Eval(e.input)
	}
}

func (e *values) Random() uint64 { return 0 }

func parse(t testing.TB, text string) jsonvalue.Value {
	t.Helper()
	v, err := jsonvalue.Parse(text)
	if err != nil {
		t.Fatalf("the test's JSON %s: %v", text, err)
	}
	return v
}

func compile(t testing.TB, text string) *template.Template {
	t.Helper()
	c, err := template.Compile(parse(t, text))
	if err != nil {
		t.Fatalf("Compile(%s): %v", text, err)
	}
	return c
}

func env(t testing.TB) *values {
	t.Helper()
	return &values{
		input:     parse(t, `{"a":1,"list":[1,2],"o":{"p":"q"},"nil":null}`),
		context:   parse(t, `{"Execution":{"Name":"run-1"}}`),
		variables: map[string]jsonvalue.Value{"v": parse(t, `{"w":"x"}`)},
	}
}

func TestEval(t *testing.T) {
	t.Parallel()
	tests := []struct{ template, want string }{
		{`{"b.$":"$.a"}`, `{"b":1}`},
		{`{"all.$":"$","none.$":"$.nil"}`, `{"all":{"a":1,"list":[1,2],"o":{"p":"q"},"nil":null},"none":null}`},
		{`{"z":0,"name.$":"$$.Execution.Name","a":[]}`, `{"z":0,"name":"run-1","a":[]}`},
		{`{"x.$":"$v.w","y.$":"$v"}`, `{"x":"x","y":{"w":"x"}}`},
		{`{"n.$":"States.MathAdd($.a, 1)"}`, `{"n":2}`},
		{`{"deep":{"er":{"a.$":"$.a"},"b":"$.a"}}`, `{"deep":{"er":{"a":1},"b":"$.a"}}`},
		{`[{"a.$":"$.a"},[{"p.$":"$.o.p"}],"$.a"]`, `[{"a":1},[{"p":"q"}],"$.a"]`},
		{`{"a":"$.a","b":"$v","c":"States.UUID()"}`, `{"a":"$.a","b":"$v","c":"States.UUID()"}`},
		{`{"$":"$.a","a.$b":"$.a",".$":"$.a"}`, `{"$":"$.a","a.$b":"$.a","":1}`},
		{`"$.a"`, `"$.a"`},
		{`null`, `null`},
		{`{}`, `{}`},
	}
	for _, tt := range tests {
		v, err := compile(t, tt.template).Eval(env(t))
		if err != nil || v.JSON() != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.template, v.JSON(), err, tt.want)
		}
	}
}

func TestLiteralPartsAreShared(t *testing.T) {
	t.Parallel()
	v := parse(t, `{"literal":{"a":[1,2]},"a.$":"$.a"}`)
	c, err := template.Compile(v)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Eval(env(t))
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := v.Get("literal"); got.At(0) != want {
		t.Error("the literal member was copied")
	}
}

func TestCompileRejects(t *testing.T) {
	t.Parallel()
	tests := []struct{ template, field, want string }{
		{`{"a":1,"a.$":"$.a"}`, "a.$", "the template also has a field 'a', drop one of them"},
		{`{"a.$":"$.a","a":1}`, "a.$", "the template also has a field 'a', drop one of them"},
		{`[{"x":{"a.$":1}}]`, "a.$", "the value is of kind number, expected a string with a path or an intrinsic call"},
		{`{"a.$":{"b.$":"$"}}`, "a.$", "the value is of kind object, expected a string"},
		{`{"a.$":"plain"}`, "a.$", "the value is neither a path (it starts with $) nor an intrinsic call (it starts with States.)"},
		{`{"a.$":""}`, "a.$", "the value is neither a path"},
		{`{"a.$":"States.Nothing()"}`, "a.$", "'States.Nothing' is not the name of an intrinsic function at column 1"},
	}
	for _, tt := range tests {
		_, err := template.Compile(parse(t, tt.template))
		var field *template.FieldError
		if !errors.As(err, &field) || field.Field != tt.field || !strings.HasPrefix(err.Error(), "the field '"+tt.field+
			"': "+tt.want) {
			t.Errorf("%s: got %v, want the field %s: %s", tt.template, err, tt.field, tt.want)
		}
	}
}

func TestMissingPath(t *testing.T) {
	t.Parallel()
	tests := []struct {
		template, field, path, call string
		root                        jsonpath.Root
	}{
		{`{"k.$":"$.nothing"}`, "k.$", "$.nothing", "", jsonpath.Input},
		{`{"o":[{"k.$":"$$.nothing"}]}`, "k.$", "$$.nothing", "", jsonpath.Context},
		{`{"k.$":"$v.nothing"}`, "k.$", "$v.nothing", "", jsonpath.Variable},
		{`{"k.$":"States.Array(States.Array($$.no), 1)"}`, "k.$", "$$.no", "States.Array(States.Array($$.no), 1)",
			jsonpath.Context},
	}
	for _, tt := range tests {
		_, err := compile(t, tt.template).Eval(env(t))
		var path *template.PathError
		var missing *jsonpath.NotFoundError
		if !errors.As(err, &path) || !errors.As(err, &missing) {
			t.Errorf("%s: got %v, want a *PathError around a *jsonpath.NotFoundError", tt.template, err)
			continue
		}
		if path.Field != tt.field || path.Path != tt.path || path.Call != tt.call || path.Root != tt.root {
			t.Errorf("%s: got %s, %s, %d", tt.template, path.Field, path.Path, path.Root)
		}
	}
}

func TestEvalFails(t *testing.T) {
	t.Parallel()
	_, err := compile(t, `{"k.$":"States.MathAdd('a', 1)"}`).Eval(env(t))
	var failed *template.CallError
	if !errors.As(err, &failed) || failed.Call != "States.MathAdd('a', 1)" || failed.Field != "k.$" ||
		failed.Err.Function != "States.MathAdd" {
		t.Errorf("got %v, want a *CallError", err)
	}
	if !errors.Is(err, failed.Err) {
		t.Errorf("%v does not unwrap to the *intrinsic.Error", err)
	}
	if want := "the field 'k.$': States.MathAdd: the first argument is a string, expected a number"; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for _, text := range []string{`{"k.$":"$unset"}`, `{"k.$":"States.Array($unset)"}`} {
		if _, err = compile(t, text).Eval(env(t)); !errors.Is(err, errNoVariable) {
			t.Errorf("%s: got %v, want %v", text, err, errNoVariable)
		}
	}
}

func TestReads(t *testing.T) {
	t.Parallel()
	c := compile(t, `{"b":[{"c.$":"States.Format('{}{}', $y, States.Array($z[0], $$.a))"}],"d":"$literal"}`)
	for root, want := range map[jsonpath.Root]bool{jsonpath.Input: false, jsonpath.Context: true,
		jsonpath.Variable: true} {
		if got := c.Reads(root); got != want {
			t.Errorf("root %d: got %v, want %v", root, got, want)
		}
	}
	if !compile(t, `{"a.$":"$z.x","e.$":"$.i"}`).Reads(jsonpath.Input) {
		t.Error("it reads $.i, which is of the input")
	}
}
