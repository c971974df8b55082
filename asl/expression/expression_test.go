package expression_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"stepback/asl/expression"
	"stepback/asl/jsonata"
	"stepback/jsonvalue"
)

// env has the variable n, and a random source that counts.
type env struct{ n jsonvalue.Value }

func (e env) Root() (jsonvalue.Value, bool)              { return jsonvalue.Value{}, false }
func (e env) Lookup(name string) (jsonvalue.Value, bool) { return e.n, name == "n" }
func (e env) Now() time.Time                             { return time.Unix(0, 0) }
func (e env) Random() uint64                             { return 4 }

func parse(tb testing.TB, text string) jsonvalue.Value {
	tb.Helper()
	v, err := jsonvalue.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func TestEval(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`1`:                                      `1`,
		`"plain {% text %}"`:                     `"plain {% text %}"`,
		`"{% 1 + $n %} "`:                        `"{% 1 + $n %} "`,
		`"{%1+$n%}"`:                             `3`,
		`{"a":["x","{% $n %}"],"{% $n %}":null}`: `{"a":["x",2],"{% $n %}":null}`,
		`"{% {'k': 1/4} %}"`:                     `{"k":0.25}`,
		`"{% $partition([1,2,3], $n) %}"`:        `[[1,2],[3]]`,
		`"{% [1/0, {'k': -1/0}] %}"`:             `["Infinity",{"k":"-Infinity"}]`,
		`"{% $count([1..873782]) %}"`:            `873782`,
	} {
		v, err := expression.Compile("Output", parse(t, text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := v.Eval(env{jsonvalue.OfInt(2)})
		if err != nil || got.JSON() != want {
			t.Errorf("%s: %s, %v; want %s", text, got.JSON(), err, want)
		}
	}
}

// Errors have the service's wording, as recorded or measured there.
func TestErrorsAreWordedAsTheServiceWordsThem(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, field, want string }{
		{`"{% $none %}"`, "Output", "The JSONata expression '$none' specified for the field 'Output' returned nothing (undefined)."},
		{
			`{"a":{"b":["x","{% $no($n) %}"]}}`, "Output/a/b[1]",
			"The JSONata expression '$no($n)' specified for the field 'Output/a/b[1]' threw an error during evaluation. " +
				"T1006: Attempted to invoke a non-function",
		},
		{
			`"{% $f := function($x){$x} %}"`, "Output",
			"The JSONata expression '$f := function($x){$x}' specified for the field 'Output' returned an unsupported result type.",
		},
		{
			`"{% $eval('1') %}"`, "Output",
			"The JSONata expression '$eval('1')' specified for the field 'Output' threw an error during evaluation. " +
				"T1006: Attempted to invoke a non-function",
		},
		{
			`"{% $count([1..873783]) %}"`, "Output",
			"The JSONata expression '$count([1..873783])' specified for the field 'Output' threw an error during evaluation: " +
				"Expression evaluation memory limit exceeded: Check for excessive memory usage",
		},
	} {
		v, err := expression.Compile("Output", parse(t, test.text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.Eval(env{jsonvalue.OfInt(2)})
		var failure *expression.Error
		if !errors.As(err, &failure) || failure.Field != test.field || failure.Error() != test.want {
			t.Errorf("%s: %+v, want %s", test.text, err, test.want)
		}
	}
}

func TestUnexpected(t *testing.T) {
	t.Parallel()
	v, err := expression.Compile("Items", parse(t, `"{% $n %}"`))
	if err != nil {
		t.Fatal(err)
	}
	got := v.Unexpected("array", parse(t, `{"a":1}`)).Error()
	want := "The JSONata expression '$n' specified for the field 'Items' returned an unexpected result type. " +
		`Expected 'array', but was 'object' for value: {"a":1}`
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	v, err := expression.Compile("Output", jsonvalue.OfString("{% "+strings.Repeat("1+", 199)+"1 %}"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Eval(env{})
	const want = "threw an error during evaluation: Stack overflow error: Check for non-terminating recursive function."
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a sum of 200 terms: %v, want %s", err, want)
	}
	v, err = expression.Compile("Output", jsonvalue.OfString("{% "+strings.Repeat("1+", 94)+"1 %}"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := v.Eval(env{}); err != nil || got.JSON() != "95" {
		t.Errorf("a sum of 95 terms: %s, %v", got.JSON(), err)
	}
}

func TestCompileNamesTheField(t *testing.T) {
	t.Parallel()
	_, err := expression.Compile("Output", parse(t, `{"a":["{% 1 + %}"]}`))
	var syntax *jsonata.Error
	if !errors.As(err, &syntax) || err.Error() != "the field 'Output/a[0]': Unexpected end of expression" {
		t.Errorf("%v", err)
	}
}
