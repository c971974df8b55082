package template_test

import (
	"errors"
	"testing"

	"stepback/asl/jsonpath"
	"stepback/asl/template"
	"stepback/jsonvalue"
)

func FuzzCompile(f *testing.F) {
	for _, text := range []string{
		`{"a.$":"$.a","b":[{"c.$":"States.Array($v, $$.x)"}]}`, `{"a":1,"a.$":"$"}`, `{".$":"$"}`, `{"a.$":"$."}`,
		`[[{"x.$":"$v.y[0]"}]]`,
	} {
		f.Add(text)
	}
	e := env(f)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := jsonvalue.Parse(text)
		if err != nil {
			return
		}
		c, err := template.Compile(v)
		if err != nil {
			var field *template.FieldError
			if !errors.As(err, &field) {
				t.Fatalf("got %v, want a *FieldError", err)
			}
			return
		}
		c.Reads(jsonpath.Input)
		if out, err := c.Eval(e); err == nil {
			parse(t, out.JSON())
		}
	})
}
