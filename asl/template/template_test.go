package template_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stepback/asl/intrinsic"
	"stepback/asl/jsonpath"
	"stepback/asl/jsonvalue"
	"stepback/asl/template"
)

// data is an environment of plain values.
type data struct {
	input, context jsonvalue.Value
	variables      map[string]jsonvalue.Value
}

func (d *data) root(p *jsonpath.Path) jsonvalue.Value {
	switch p.Root() {
	case jsonpath.Context:
		return d.context
	case jsonpath.Variable:
		return d.variables[p.Variable()]
	default:
		return d.input
	}
}

func (d *data) Lookup(p *jsonpath.Path) (jsonvalue.Value, error) { return p.Select(d.root(p)) }

func (d *data) Random() uint64 { return 0x5555555555555555 }

func newData(t testing.TB) *data {
	return &data{
		input:     must(t, `{"a":1.0,"list":[{"n":1},{"n":2}],"name":"it","nul":null,"Test\\\"\"Name\"":"x"}`),
		context:   must(t, `{"State":{"Name":"S"},"Map":{"Item":{"Index":3}}}`),
		variables: map[string]jsonvalue.Value{"v": must(t, `{"w":[10,20]}`)},
	}
}

func ExampleCompile() {
	parameters, _ := jsonvalue.Parse(`{"bucket": "uploads", "key.$": "$.object.key", "row": {"index.$": "$$.Map.Item.Index"}}`)
	t, err := template.Compile(parameters)
	if err != nil {
		fmt.Println(err)
		return
	}
	input, _ := jsonvalue.Parse(`{"object":{"key":"users.csv"}}`)
	context, _ := jsonvalue.Parse(`{"Map":{"Item":{"Index":7}}}`)
	payload, err := t.Eval(&data{input: input, context: context})
	fmt.Println(payload.JSON(), err)
	// Output: {"bucket":"uploads","key":"users.csv","row":{"index":7}} <nil>
}

func TestEval(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`:                             `{}`,
		`"$.a"`:                          `"$.a"`,
		`[1,{"x":"$.a"}]`:                `[1,{"x":"$.a"}]`,
		`{"x":"$v","y":"States.UUID()"}`: `{"x":"$v","y":"States.UUID()"}`,
		`{"x.$":"$"}`:                    `{"x":{"a":1.0,"list":[{"n":1},{"n":2}],"name":"it","nul":null,"Test\\\"\"Name\"":"x"}}`,
		`{"b":2,"x.$":"$.a","c":[3]}`:    `{"b":2,"x":1.0,"c":[3]}`,
		`{"x.$":"$.nul"}`:                `{"x":null}`,
		`{"x.$":"$.list[*].n"}`:          `{"x":[1,2]}`,
		`{"x.$":"$.none[*].n"}`:          `{"x":[]}`,
		`{"x.$":"$$.State.Name"}`:        `{"x":"S"}`,
		`{"x.$":"$v.w[1]"}`:              `{"x":20}`,
		`{"x.$":"$v"}`:                   `{"x":{"w":[10,20]}}`,
		`{"x.$":"States.Format('{}-{}', $.name, $v.w[0])"}`: `{"x":"it-10"}`,
		`{"x":[{"y.$":"$.a"},"z",{"l":1}]}`:                 `{"x":[{"y":1.0},"z",{"l":1}]}`,
		`{"x":{"y":{"z.$":"$.name"}}}`:                      `{"x":{"y":{"z":"it"}}}`,
		`{".$":"$.a"}`:                                      `{"":1.0}`,
		`{"a.$.$":"$.a"}`:                                   `{"a.$":1.0}`,
		`{"a$":"$.a","$":"$.a"}`:                            `{"a$":"$.a","$":"$.a"}`,
		`{"x.$":"$['Test\\\\\\\"\\\"Name\\\"']"}`:           `{"x":"x"}`,
	} {
		compiled, err := template.Compile(must(t, text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		v, err := compiled.Eval(newData(t))
		if err != nil || v.JSON() != want {
			t.Errorf("%s = %s, %v; want %s", text, v.JSON(), err, want)
		}
	}
}

func TestLiteralPartsAreShared(t *testing.T) {
	t.Parallel()
	compiled, err := template.Compile(must(t, `{"big":{"l":[1,2,3]},"x.$":"$.a"}`))
	if err != nil {
		t.Fatal(err)
	}
	first, _ := compiled.Eval(newData(t))
	second, _ := compiled.Eval(newData(t))
	a, _ := first.Get("big")
	b, _ := second.Get("big")
	if a != b {
		t.Error("the literal member was copied")
	}
}

func TestEvalErrors(t *testing.T) {
	t.Parallel()
	d := newData(t)
	d.input = must(t, `{"s":"x","n":1}`)
	for text, want := range map[string]string{
		`{"p":{"k.$":"$.nope"}}`:             `The JSONPath '$.nope' specified for the field 'k.$' could not be found in the input '{"s":"x","n":1}'`,
		`{"k.$":"$$.Nope"}`:                  `The JSONPath '$$.Nope' specified for the field 'k.$' could not be found in the input '{"State":{"Name":"S"},"Map":{"Item":{"Index":3}}}'`,
		`{"k.$":"$v.z"}`:                     `The JSONPath '$v.z' specified for the field 'k.$' could not be found in the input '{"w":[10,20]}'`,
		`{"k.$":"$.s[?(@.a)]"}`:              `Invalid path '$.s[?(@.a)]' : Filter: [?] can not be applied to primitives. Current context is: x`,
		`{"k.$":"States.Array($.z)"}`:        `The function 'States.Array($.z)' had the following error: The JsonPath argument for the field '$.z' could not be found in the input '{"s":"x","n":1}'`,
		`[{"k.$":"States.MathAdd($.s, 1)"}]`: `Invalid arguments in States.MathAdd`,
	} {
		compiled, err := template.Compile(must(t, text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		v, err := compiled.Eval(d)
		e, ok := errors.AsType[*template.Error](err)
		if !ok || e.Field != "k.$" {
			t.Errorf("%s = %s, %v", text, v.JSON(), err)
			continue
		}
		root := d.input
		if e.Path != nil {
			root = d.root(e.Path)
		}
		if got := e.Cause(root); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestCompileErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, field, location, message string }{
		{`{"k.$":1}`, "k.$", "/k.$", `The value for the field 'k.$' must be a valid JSONPath or a valid intrinsic function call`},
		{`{"k.$":{"a":1}}`, "k.$", "/k.$", `The value for the field 'k.$' must be a valid JSONPath or a valid intrinsic function call`},
		{`{"k.$":"plain"}`, "k.$", "/k.$", `The value for the field 'k.$' must be a valid JSONPath or a valid intrinsic function call: ` +
			`invalid intrinsic function call 'plain', column 1: "plain" is not an intrinsic function`},
		{`{"a/b":[0,{"k.$":"$..["}]}`, "k.$", "/a~1b/1/k.$", `The value for the field 'k.$' must be a valid JSONPath or a valid intrinsic function call: ` +
			`invalid path '$..[', column 4: Could not parse token starting at position 3`},
		{`{"k":1,"k.$":"$.a"}`, "k.$", "/k.$", `The field 'k' is given twice: as 'k' and as 'k.$'`},
		{`{"k.$":"$.a","k":1}`, "k.$", "/k.$", `The field 'k' is given twice: as 'k' and as 'k.$'`},
	} {
		_, err := template.Compile(must(t, c.text))
		e, ok := errors.AsType[*template.CompileError](err)
		if !ok || e.Field != c.field || e.Location != c.location || !strings.HasPrefix(e.Error(), c.message) {
			t.Errorf("%s: %v (%#v)", c.text, err, e)
		}
	}
}

func TestDeepTemplatesAreRefused(t *testing.T) {
	t.Parallel()
	v := jsonvalue.OfInt(1)
	for range 5000 {
		v = jsonvalue.OfArray([]jsonvalue.Value{v})
	}
	if _, err := template.Compile(v); err == nil {
		t.Error("5,000 levels were accepted")
	}
}

func TestExpression(t *testing.T) {
	t.Parallel()
	d := newData(t)
	for text, want := range map[string]string{`$.name`: `"it"`, `$$.State.Name`: `"S"`, `States.Format('{}!', $.name)`: `"it!"`} {
		e, err := template.CompileExpression("CausePath", text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if v, err := e.Eval(d); err != nil || v.JSON() != want {
			t.Errorf("%s = %s, %v", text, v.JSON(), err)
		}
	}
	e, err := template.CompileExpression("ErrorPath", `$.ErrorX`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Eval(&data{input: must(t, `{"Error":"e"}`)})
	failed, ok := errors.AsType[*template.Error](err)
	const want = `The JSONPath '$.ErrorX' specified for the field 'ErrorPath' could not be found in the input '{"Error":"e"}'`
	if !ok || failed.Cause(must(t, `{"Error":"e"}`)) != want {
		t.Error(err)
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	compiled, err := template.Compile(must(t, `{"a.$":"$x.y","b":[{"c.$":"States.Array($z, $.q, $x, $$.State)"}],"d":"$no"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := compiled.References(); !slices.Equal(got, []string{"x", "z"}) {
		t.Error(got)
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{`{"a.$":"$.a","b":[{"c.$":"States.Array($v, $$.State)"}]}`, `{".$":"$"}`, `{"a.$":1}`, `[[{"x.$":"$..n"}]]`} {
		f.Add(seed)
	}
	var env intrinsic.Env = newData(f)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := jsonvalue.Parse(text)
		if err != nil {
			return
		}
		compiled, err := template.Compile(v)
		if err != nil {
			if _, ok := errors.AsType[*template.CompileError](err); !ok {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		out, err := compiled.Eval(env)
		if err != nil {
			if e, ok := errors.AsType[*template.Error](err); !ok || e.Cause(jsonvalue.Value{}) == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		if out.Kind() != v.Kind() || out.Len() != v.Len() {
			t.Fatalf("%q becomes %s", text, out.JSON())
		}
	})
}

func BenchmarkEval(b *testing.B) {
	compiled, err := template.Compile(must(b, `{"source.$":"$.list","row.$":"$$.Map.Item.Index","record":{"id.$":"$.name"},"fixed":{"a":[1,2]}}`))
	if err != nil {
		b.Fatal(err)
	}
	d := newData(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := compiled.Eval(d); err != nil {
			b.Fatal(err)
		}
	}
}

func must(t testing.TB, s string) jsonvalue.Value {
	t.Helper()
	v, err := jsonvalue.Parse(s)
	if err != nil {
		t.Fatal(s, err)
	}
	return v
}
