package intrinsic_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stepback/jsonvalue"
)

// Results that no recording shows; they follow the documentation and Java's arithmetic.
func TestFunctions(t *testing.T) {
	t.Parallel()
	tests := []struct{ call, input, want string }{
		{"States.ArrayContains($, 1.0)", `[1]`, `true`},
		{"States.ArrayContains($, '1')", `[1]`, `false`},
		{"States.ArrayPartition($, 1.5)", `[1,2,3]`, `[[1,2],[3]]`},
		{"States.ArrayRange(5, 1, -2)", `{}`, `[5,3,1]`},
		{"States.ArrayRange(1, 5, -1)", `{}`, `[]`},
		{"States.ArrayRange(3, 3, -1)", `{}`, `[3]`},
		{"States.ArrayRange(0.5, 3.4, 1.2)", `{}`, `[1,2,3]`},
		{"States.ArrayLength(States.ArrayRange(1, 1000, 1))", `{}`, `1000`},
		{"States.ArrayUnique($)", `[1,1.0,"1",null,null,{"a":1,"b":2},{"b":2,"a":1.0},[1,2],[2,1],0,-0,true,true]`,
			`[1,"1",null,{"a":1,"b":2},[1,2],[2,1],0,true]`},
		{"States.Base64Decode('aGkg\r\n4pyT')", `{}`, `"hi ✓"`},
		{"States.Base64Decode('aGk')", `{}`, `"hi"`},
		{"States.Base64Decode('a-G%k=')", `{}`, `"hi"`},
		{"States.Base64Decode('/w==')", `{}`, "\"\uFFFD\""},
		{"States.Base64Encode('✓')", `{}`, `"4pyT"`},
		{"States.Format('{}{}', $.a, $.b)", `{"a":[1,"x",[null]],"b":{"k":{"l":true,"m":[]}}}`,
			`"[1, x, [null]]{k={l=true, m=[]}}"`},
		{`States.Format('\{\} {} { } \\ \'', 1)`, `{}`, `"{} 1 { } \\ '"`},
		{"States.Format($.t, $.v)", `{"t":"a {} C:\\dir","v":"b"}`, `"a b C:\\dir"`},
		{"States.Format('plain')", `{}`, `"plain"`},
		{"States.Format('{}', '{}')", `{}`, `"{}"`},
		{"States.Hash($, 'MD5')", `{"a":1}`, `"bb6cb5c68df4652941caf652a366f2d8"`},
		{"States.JsonMerge($.a, $.b, false)", `{"a":{"x":{"y":1},"z":1},"b":{"x":{"w":2},"v":3}}`,
			`{"x":{"w":2},"z":1,"v":3}`},
		{"States.MathAdd(0.49999999999999994, 0)", `{}`, `0`},
		{"States.MathAdd(-2147483648.5, 0)", `{}`, `-2147483648`},
		{"States.MathAdd(2147483647, -2147483648)", `{}`, `-1`},
		{"States.StringSplit('aéb', 'é')", `{}`, `["a","b"]`},
		{"States.StringSplit('a', '')", `{}`, `["a"]`},
		{"States.StringSplit('', ',')", `{}`, `[]`},
		{"States.StringToJson($)", `"[-0, {\"a\": -0}, -0.0, \"-0\", 1.0]"`, `[0,{"a":0},-0.0,"-0",1.0]`},
		{"States.MathRandom(0, 1000, 3)", `{}`, `113`},
		{"States.MathRandom(0, 1000, 2.5)", `{}`, `113`},
	}
	for _, tt := range tests {
		if got := evaluate(t, tt.call, tt.input); got != tt.want {
			t.Errorf("%s on %s: got %s, want %s", tt.call, tt.input, got, tt.want)
		}
	}
}

func TestArgumentSizeAtTheLimit(t *testing.T) {
	t.Parallel()
	input := `"` + strings.Repeat("é", 10_000) + `"`
	for _, call := range []string{"States.Base64Encode($)", "States.Hash($, 'SHA-256')"} {
		if got := evaluate(t, call, input); got == "" {
			t.Errorf("%s: empty result", call)
		}
	}
}

func TestRandomStaysInRange(t *testing.T) {
	t.Parallel()
	c := compile(t, "States.MathRandom($.start, $.end)")
	rapid.Check(t, func(rt *rapid.T) {
		start := rapid.Int64Range(-1<<52, 1<<52-1).Draw(rt, "start")
		end := rapid.Int64Range(start+1, 1<<52).Draw(rt, "end")
		v, err := c.Eval(&values{input: bounds(start, end), next: rapid.Uint64().Draw(rt, "random")})
		if i, _ := v.Int(); err != nil || i < start || i >= end {
			rt.Fatalf("got %s, %v", v.JSON(), err)
		}
	})
}

func TestBase64RoundTrip(t *testing.T) {
	t.Parallel()
	c := compile(t, "States.Base64Decode(States.Base64Encode($))")
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringN(0, 1000, 3000).Draw(rt, "text")
		v, err := c.Eval(&values{input: jsonvalue.OfString(text)})
		if err != nil || v.Text() != text {
			rt.Fatalf("got %q, %v", v.Text(), err)
		}
	})
}
