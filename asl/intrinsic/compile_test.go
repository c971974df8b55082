package intrinsic_test

import (
	"errors"
	"strings"
	"testing"

	"stepback/asl/intrinsic"
	"stepback/jsonvalue"
)

func TestCompileRejects(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text   string
		column int
		want   string
	}{
		{"", 1, "expected a call"},
		{"$.a", 1, "expected a call"},
		{" States.UUID()", 1, "expected a call"},
		{"States.Uuid()", 1, "'States.Uuid' is not the name of an intrinsic function"},
		{"States.UUID", 12, "expected '('"},
		{"States.UUID(", 13, "expected an argument"},
		{"States.UUID() ", 14, "unexpected text"},
		{"States.UUID(1)", 1, "takes no arguments, found 1"},
		{"States.Format()", 1, "takes at least 1 argument, found 0"},
		{"States.MathAdd(1)", 1, "takes 2 arguments, found 1"},
		{"States.MathRandom(1)", 1, "takes 2 to 3 arguments, found 1"},
		{"States.Array(1,)", 16, "expected an argument"},
		{"States.Array(,1)", 14, "expected an argument"},
		{"States.Array(1 2)", 16, "expected ',' or ')'"},
		{"States.Array('a' 'b')", 18, "expected ',' or ')'"},
		{`States.Array("a")`, 14, "expected an argument"},
		{"States.Array(True)", 14, "expected an argument"},
		{"States.Array(01)", 14, "expected an argument"},
		{"States.Array([1])", 14, "expected an argument"},
		{"States.Array('a)", 14, "the string is not closed"},
		{`States.Array('a\')`, 14, "the string is not closed"},
		{`States.Array('\`, 14, "the string is not closed"},
		{`States.Format('a\b')`, 17, `the backslash escapes nothing, expected one of \' \{ \} \\`},
		{"States.Array($.a", 17, "expected ',' or ')'"},
		{"States.Array(1, States.Nothing())", 17, "'States.Nothing' is not the name"},
	}
	for _, tt := range tests {
		_, err := intrinsic.Compile(tt.text)
		var syntax *intrinsic.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("Compile(%q): got %v, want a *SyntaxError", tt.text, err)
			continue
		}
		if syntax.Column != tt.column || !strings.Contains(syntax.Error(), tt.want) {
			t.Errorf("Compile(%q): got column %d, %q; want column %d, %q", tt.text, syntax.Column, syntax.Error(),
				tt.column, tt.want)
		}
	}
}

func TestNestingLimit(t *testing.T) {
	t.Parallel()
	nested := func(n int) string { return strings.Repeat("States.Array(", n) + strings.Repeat(")", n) }
	if got, want := evaluate(t, nested(10), "{}"), "[[[[[[[[[[]]]]]]]]]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	_, err := intrinsic.Compile(nested(11))
	var syntax *intrinsic.SyntaxError
	if !errors.As(err, &syntax) || syntax.Column != 131 {
		t.Errorf("got %v, want a *SyntaxError at column 131", err)
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	const input = `{"a":[1,2],"b":{"c,d)":3,"it's":4},"n":null}`
	tests := []struct{ call, want string }{
		{"States.Array(1,-2.50,1e3,true,false,null)", "[1,-2.50,1e3,true,false,null]"},
		{"States.Array( 1 ,\t'x'\n, $.n )", `[1,"x",null]`},
		{`States.Array('it\'s', 'a\\b', '\{\}', '{}', '')`, `["it's","a\\b","{}","{}",""]`},
		{"States.Array('a, b)', '$.a', 'States.UUID()')", `["a, b)","$.a","States.UUID()"]`},
		{"States.Array($, $$.Execution)", `[{"a":[1,2],"b":{"c,d)":3,"it's":4},"n":null},"run"]`},
		{"States.Array($.a[1],$v.x , $v)", `[2,"y",{"x":"y"}]`},
		{"States.Array($.b['c,d)'], $.a)", `[3,[1,2]]`},
		{"States.Array(States.ArrayLength($.a), States.MathAdd(1, States.MathAdd(2, 3)))", "[2,6]"},
	}
	for _, tt := range tests {
		env := &values{input: parse(t, input), context: parse(t, `{"Execution":"run"}`)}
		env.variables = map[string]jsonvalue.Value{"v": parse(t, `{"x":"y"}`)}
		v, err := compile(t, tt.call).Eval(env)
		if err != nil || v.JSON() != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.call, v.JSON(), err, tt.want)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	c := compile(t, "States.Format('{} {}', States.Array($b.x, $$.State), States.MathAdd($.n, $a))")
	var got []string
	for _, p := range c.Paths() {
		got = append(got, p.Text())
	}
	if want := "$b.x $$.State $.n $a"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestIsCall(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"States.UUID()": true, "States.Nothing": true, "$.States.a": false,
		"": false} {
		if got := intrinsic.IsCall(text); got != want {
			t.Errorf("IsCall(%q) = %v", text, got)
		}
	}
}
