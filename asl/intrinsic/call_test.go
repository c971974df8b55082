package intrinsic_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stepback/asl/intrinsic"
	"stepback/asl/jsonpath"
	"stepback/asl/jsonvalue"
)

// env is an input, a context object whose Execution.Input is the same input, variables, and random numbers that count up.
type env struct {
	input, context jsonvalue.Value
	variables      map[string]jsonvalue.Value
	random         uint64
}

func newEnv(t testing.TB, input string) *env {
	t.Helper()
	in := must(t, input)
	execution := jsonvalue.NewObject(1)
	execution.Set("Input", in)
	return &env{
		input:     in,
		context:   jsonvalue.Value{}.With("Execution", execution.Value()).With("StateMachine", must(t, `{"Id":"arn","Name":"m-1"}`)),
		variables: map[string]jsonvalue.Value{"x": jsonvalue.OfInt(7)},
	}
}

func (e *env) Lookup(p *jsonpath.Path) (jsonvalue.Value, error) {
	switch p.Root() {
	case jsonpath.Context:
		return p.Select(e.context)
	case jsonpath.Variable:
		return p.Select(e.variables[p.Variable()])
	default:
		return p.Select(e.input)
	}
}

func (e *env) Random() uint64 { e.random += 0x0123456789ABCDEF; return e.random }

func Example() {
	call, err := intrinsic.Compile(`States.Format('{} has {} items', $.name, States.ArrayLength($.items))`)
	if err != nil {
		fmt.Println(err)
		return
	}
	input, _ := jsonvalue.Parse(`{"name":"cart","items":[1,2,3]}`)
	v, err := call.Eval(&env{input: input})
	fmt.Println(v.Text(), err)
	// Output: cart has 3 items <nil>
}

func TestRecordedCalls(t *testing.T) {
	t.Parallel()
	for _, c := range recorded {
		check(t, c.call, c.input, c.want)
	}
}

func check(t *testing.T, call, input, want string) {
	t.Helper()
	c, err := intrinsic.Compile(call)
	if err != nil {
		t.Errorf("%s: %v", call, err)
		return
	}
	v, err := c.Eval(newEnv(t, input))
	if err != nil || !jsonvalue.Equal(v, must(t, want)) {
		t.Errorf("%s on %s = %s, %v; want %s", call, input, v.JSON(), err, want)
	}
}

func TestCalls(t *testing.T) {
	t.Parallel()
	const input = `{"a":[1,2,3,2,1.0,"2",null,null],"n":1.0,"s":"x,y;z","o":{"k":{"l":1},"m":[1,"z"]},"p":{"k":2,"n":3},"t":"{} \\{\\}",
"big":12345678901234567890,"j":"{\"b\":[-0,-0.0,{\"c\":-0}],\"a\":1.50}","e":[{"a":1,"b":2},{"b":2,"a":1},[1,2],[2,1],[1,2],0,-0.0]}`
	for call, want := range map[string]string{
		`States.Format('no placeholder')`:                                  `"no placeholder"`,
		`States.Format('{}{}', 'a\'b\\', null)`:                            `"a'b\\null"`,
		`States.Format('\{{}\} it\'s', $.n)`:                               `"{1.0} it's"`,
		`States.Format($.t, $x)`:                                           `"7 {}"`,
		`States.Format('{}|{}|{}', $.o, $.a, $.big)`:                       `"{k={l=1}, m=[1, z]}|[1, 2, 3, 2, 1.0, 2, null, null]|12345678901234567890"`,
		`States.Format('{} {}', true, -1.5e3)`:                             `"true -1.5e3"`,
		`States.StringToJson($.j)`:                                         `{"b":[0,-0.0,{"c":0}],"a":1.50}`,
		"States.StringToJson(' \n ')":                                      `null`,
		`States.JsonToString($.o)`:                                         `"{\"k\":{\"l\":1},\"m\":[1,\"z\"]}"`,
		`States.JsonToString($)`:                                           mustString(input),
		`States.Array(1, 'a', null, true, $.n, States.Array())`:            `[1,"a",null,true,1.0,[]]`,
		`States.Array( $.a[0,1] , $.o['k'].l , $.a[?(@ in [2,3])] )`:       `[[1,2],1,[2,3,2,"2"]]`,
		`States.ArrayPartition($.a, 2.5)`:                                  `[[1,2,3],[2,1.0,"2"],[null,null]]`,
		`States.ArrayPartition($.a, 2147483647)`:                           `[[1,2,3,2,1.0,"2",null,null]]`,
		`States.ArrayContains($.a, 1.00)`:                                  `true`,
		`States.ArrayContains($.a, '1')`:                                   `false`,
		`States.ArrayRange(1, 9, 2)`:                                       `[1,3,5,7,9]`,
		`States.ArrayRange(5, 1, -2)`:                                      `[5,3,1]`,
		`States.ArrayRange(5, 1, 1)`:                                       `[]`,
		`States.ArrayRange(0, 1, -5)`:                                      `[]`,
		`States.ArrayRange(3, 3, -1)`:                                      `[3]`,
		`States.ArrayRange(-2, 2, 2)`:                                      `[-2,0,2]`,
		`States.ArrayRange(1.4, 5.6, 2.2)`:                                 `[1,3,5]`,
		`States.ArrayRange(-2147483648, 2147483647, 2147483647)`:           `[-2147483648,-1,2147483646]`,
		`States.ArrayGetItem($.a, 7)`:                                      `null`,
		`States.ArrayGetItem($.a, 2.0)`:                                    `3`,
		`States.ArrayLength($.missing[*])`:                                 `0`,
		`States.ArrayUnique($.a)`:                                          `[1,2,3,"2",null]`,
		`States.ArrayUnique($.e)`:                                          `[{"a":1,"b":2},[1,2],[2,1],0]`,
		`States.Base64Encode('✓')`:                                         `"4pyT"`,
		`States.Base64Decode('4pyT')`:                                      `"✓"`,
		`States.Base64Decode(' YWJjZA== ')`:                                `"abcd"`,
		`States.Base64Decode('YWJjZA')`:                                    `"abcd"`,
		`States.Base64Decode('YWJjZ')`:                                     `"abc"`,
		`States.Base64Decode('ab==cd')`:                                    `"i"`,
		`States.Base64Decode('/w==')`:                                      `"�"`,
		`States.Hash('hello', 'MD5')`:                                      `"5d41402abc4b2a76b9719d911017c592"`,
		`States.Hash('こんにちは', 'SHA-256')`:                                  `"125aeadf27b0459b8760c13a3d80912dfa8a81a68261906f60d87f4a0268646c"`,
		`States.Hash($.n, 'MD5')`:                                          `"e4c2e8edac362acab7123654b9e73432"`,
		`States.JsonMerge($.o, $.p, false)`:                                `{"k":2,"m":[1,"z"],"n":3}`,
		`States.MathAdd(2147483646, 1)`:                                    `2147483647`,
		`States.MathAdd(0.49999999999999994, 0)`:                           `0`,
		`States.MathAdd(States.MathAdd($x, 1), States.ArrayLength($.a))`:   `16`,
		`States.StringSplit($.s, ',;')`:                                    `["x","y","z"]`,
		`States.StringSplit($.s, '')`:                                      `["x,y;z"]`,
		`States.StringSplit('', ',')`:                                      `[]`,
		`States.UUID()`:                                                    `"01234567-89ab-4def-8246-8acf13579bde"`,
		`States.MathRandom(10, 20)`:                                        `10`,
		`States.MathRandom(0, 1000000, 42)`:                                `741564`,
		`States.Array(States.MathRandom(1,9,5), States.MathRandom(1,9,5))`: `[4,4]`,
		`  States.Array ( 1 )  `:                                           `[1]`,
	} {
		check(t, call, input, want)
	}
}

func TestFailingCalls(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 10_001)
	input := `{"n":1,"s":"x","a":[1],"o":{},"t":"{","f":true,"long":"` + long + `","nul":null}`
	for call, want := range map[string]string{
		`States.Format('{}')`:                       `States.Format: the template has 1 placeholders for 0 values`,
		`States.Format('{}', 1, 2)`:                 `States.Format: the template has 1 placeholders for 2 values`,
		`States.Format('Hello {', 1)`:               `States.Format: a brace that is not the placeholder {} must be escaped as \{ or \}`,
		`States.Format('}')`:                        `States.Format: a brace that is not the placeholder {} must be escaped as \{ or \}`,
		`States.Format($.t)`:                        `States.Format: a brace that is not the placeholder {} must be escaped as \{ or \}`,
		`States.Format($.n)`:                        `States.Format: argument 1 must be a string, but is number`,
		`States.StringToJson($.n)`:                  `States.StringToJson: argument 1 must be a string, but is number`,
		`States.StringToJson('\{"a":1')`:            `States.StringToJson: the string is not JSON: expected ',' or '}' at line 1, column 7`,
		`States.ArrayPartition($.a, 0.4)`:           `States.ArrayPartition: the chunk size must be at least 1, but is 0`,
		`States.ArrayPartition($.o, 1)`:             `States.ArrayPartition: argument 1 must be an array, but is object`,
		`States.ArrayRange(1, 10, 0.49)`:            `States.ArrayRange: the step must not be 0`,
		`States.ArrayRange(1, 1001, 1)`:             `States.ArrayRange: the range has 1001 elements, more than 1000`,
		`States.ArrayRange(1, 1e99, 1)`:             `States.ArrayRange: 1e99 is outside the range -2147483648 to 2147483647`,
		`States.ArrayGetItem($.a, 1)`:               `States.ArrayGetItem: the index 1 is outside an array of 1 elements`,
		`States.ArrayGetItem($.a, -1)`:              `States.ArrayGetItem: the index -1 is outside an array of 1 elements`,
		`States.ArrayGetItem($.a, $.s)`:             `States.ArrayGetItem: argument 2 must be a number, but is string`,
		`States.ArrayLength($.nul)`:                 `States.ArrayLength: argument 1 must be an array, but is null`,
		`States.Base64Encode($.long)`:               `States.Base64Encode: the string has 10001 characters, more than 10000`,
		`States.Base64Decode($.long)`:               `States.Base64Decode: the string has 10001 characters, more than 10000`,
		`States.Hash($.long, 'MD5')`:                `States.Hash: the string has 10001 characters, more than 10000`,
		`States.Hash('a', 'md5')`:                   `States.Hash: the algorithm must be MD5, SHA-1, SHA-256, SHA-384 or SHA-512, but is 'md5'`,
		`States.JsonMerge($.o, $.o, true)`:          `States.JsonMerge: deep merging (true) is not supported, the third argument must be false`,
		`States.JsonMerge($.o, $.a, false)`:         `States.JsonMerge: argument 2 must be an object, but is array`,
		`States.MathAdd(2147483647, 1)`:             `States.MathAdd: the sum 2147483648 is outside the range -2147483648 to 2147483647`,
		`States.MathAdd(3000000000, 1)`:             `States.MathAdd: 3000000000 is outside the range -2147483648 to 2147483647`,
		`States.MathAdd($.f, 1)`:                    `States.MathAdd: argument 1 must be a number, but is boolean`,
		`States.MathRandom(1, 1)`:                   `States.MathRandom: the start 1 must be less than the end 1`,
		`States.StringSplit($.n, ',')`:              `States.StringSplit: argument 1 must be a string, but is number`,
		`States.Array(States.ArrayGetItem($.a, 5))`: `States.ArrayGetItem: the index 5 is outside an array of 1 elements`,
	} {
		c, err := intrinsic.Compile(call)
		if err != nil {
			t.Errorf("%s: %v", call, err)
			continue
		}
		v, err := c.Eval(newEnv(t, input))
		e, ok := errors.AsType[*intrinsic.Error](err)
		if !ok || e.Error() != "Invalid arguments in "+want || e.Call != call {
			t.Errorf("%s = %s, %v; want %s", call, v.JSON(), err, want)
		} else if got := e.Cause(jsonvalue.Value{}); got != "Invalid arguments in "+e.Function {
			t.Errorf("%s: cause %s", call, got)
		}
	}
}

func TestCausesOfMissingArguments(t *testing.T) {
	t.Parallel()
	for call, want := range map[string]string{
		`States.Format('{}',$.nope)`:                      `The JsonPath argument for the field '$.nope' could not be found in the input '{"other":1}'`,
		`States.Format('{}', States.Format('{}', $.a.b))`: `The JsonPath argument for the field '$.a.b' could not be found in the input '{"other":1}'`,
		`States.Format('{}', $$.Nope.Deep)`:               `The JsonPath argument for the field '$.Nope.Deep' could not be found in the input '{"other":1}'`,
		`States.Format('{}', $.other[0])`:                 `Filter: [0] can only be applied to arrays. Current context is: 1`,
	} {
		c, err := intrinsic.Compile(call)
		if err != nil {
			t.Fatal(err)
		}
		env := newEnv(t, `{"other":1}`)
		_, err = c.Eval(env)
		e, ok := errors.AsType[*intrinsic.Error](err)
		if !ok || e.Path == nil {
			t.Errorf("%s: %v", call, err)
			continue
		}
		if got := e.Cause(env.input); got != "The function '"+call+"' had the following error: "+want {
			t.Errorf("%s: %s", call, got)
		}
		if _, ok := errors.AsType[*jsonpath.NotFoundError](err); !ok {
			t.Errorf("%s: %v does not lead to the path's error", call, err)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text    string
		column  int
		message string
	}{
		{`States.Nope()`, 1, `"States.Nope" is not an intrinsic function; there are States.Array, `},
		{`States.uuid()`, 1, `"States.uuid" is not an intrinsic function`},
		{``, 1, `"" is not an intrinsic function`},
		{`States.UUID`, 12, `expected '(' after States.UUID`},
		{`States.UUID() x`, 15, `unexpected text after the call`},
		{`States.UUID(1)`, 1, `States.UUID takes no arguments, not 1`},
		{`States.MathAdd(1)`, 1, `States.MathAdd takes 2 arguments, not 1`},
		{`States.MathRandom(1)`, 1, `States.MathRandom takes 2 or 3 arguments, not 1`},
		{`States.Format()`, 1, `States.Format takes at least 1 argument, not 0`},
		{`States.ArrayLength()`, 1, `States.ArrayLength takes 1 argument, not 0`},
		{`States.MathAdd('a', 1)`, 16, `argument 1 of States.MathAdd must be a number`},
		{`States.MathAdd(null, 1)`, 16, `argument 1 of States.MathAdd must be a number`},
		{`States.ArrayLength(States.UUID())`, 20, `argument 1 of States.ArrayLength must be an array, but States.UUID yields a string`},
		{`States.Array(1,)`, 16, `expected an argument: a string in single quotes, a number, true, false, null, a path or a call`},
		{`States.Array("a")`, 14, `expected an argument: a string in single quotes`},
		{`States.Array(1 2)`, 16, `expected ',' or ')'`},
		{`States.Array(`, 14, `unexpected end of the call, expected an argument`},
		{`States.Array('a`, 16, `unexpected end of the call inside a string`},
		{`States.Array('a\n')`, 16, `a backslash must be escaped as \\; the escapes are \' \{ \} \\`},
		{`States.Array('a\`, 16, `a backslash must be escaped`},
		{`States.Array($.a[b], 1)`, 17, `Could not parse token starting at position 3. Expected ?, ', 0-9, * `},
		{`States.Array($.a, $x.b..)`, 24, `Path must not end with a '.' or '..'`},
		{strings.Repeat(`States.Array(`, 11) + strings.Repeat(`)`, 11), 131, `more than 10 calls in one field`},
	} {
		_, err := intrinsic.Compile(c.text)
		e, ok := errors.AsType[*intrinsic.SyntaxError](err)
		if !ok || e.Column != c.column || !strings.HasPrefix(e.Message, c.message) {
			t.Errorf("%s: %v, want column %d: %s", c.text, err, c.column, c.message)
		}
	}
	if _, err := intrinsic.Compile(strings.Repeat(`States.Array(`, 10) + strings.Repeat(`)`, 10)); err != nil {
		t.Error("ten calls:", err)
	}
}

func TestPathsOfACall(t *testing.T) {
	t.Parallel()
	c, err := intrinsic.Compile(`States.Array($.a, States.Format('{}', $x.b), $$.State)`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range c.Paths() {
		got = append(got, p.Text())
	}
	if strings.Join(got, " ") != "$.a $x.b $$.State" {
		t.Error(got)
	}
}

func TestResultsAreBounded(t *testing.T) {
	t.Parallel()
	input := `"` + strings.Repeat(`\\`, 200_000) + `"`
	many := strings.Repeat("$,", 50) + "$"
	for _, call := range []string{
		`States.Array(` + many + `)`,
		`States.Format('` + strings.Repeat("{}", 51) + `',` + many + `)`,
		strings.Repeat(`States.JsonToString(`, 9) + `$` + strings.Repeat(`)`, 9),
	} {
		c, err := intrinsic.Compile(call)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Eval(newEnv(t, input)); err == nil || !strings.Contains(err.Error(), "larger than 4 MiB") {
			t.Errorf("%.30s: %v", call, err)
		}
	}
}

func TestMathRandomStaysInRange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		start := rapid.Int32().Draw(rt, "start")
		end := rapid.Int32Min(start).Draw(rt, "end")
		seed := rapid.Int32().Draw(rt, "seed")
		if start == end {
			return
		}
		c, err := intrinsic.Compile(fmt.Sprintf("States.MathRandom(%d, %d, %d)", start, end, seed))
		if err != nil {
			rt.Fatal(err)
		}
		v, err := c.Eval(&env{})
		if n, ok := v.Int(); err != nil || !ok || n < int64(start) || n >= int64(end) {
			rt.Fatalf("%s = %s, %v", c.Text(), v.JSON(), err)
		}
		again, _ := c.Eval(&env{random: 99})
		if !jsonvalue.Equal(v, again) {
			rt.Fatal("the same seed yields", v.JSON(), "and", again.JSON())
		}
	})
}

func FuzzCompile(f *testing.F) {
	for _, c := range recorded {
		f.Add(c.call)
	}
	for _, seed := range []string{`States.Array($.a[?(@.b == ')')], 'x\'', -1e3)`, `States.Format('\{{}')`, `States.Hash(`, `States.Array($['`} {
		f.Add(seed)
	}
	environment := newEnv(f, `{"FunctionInput":{"fst":[1,"a",{"b":2}],"snd":"x","trd":3},"a":[1]}`)
	f.Fuzz(func(t *testing.T, s string) {
		c, err := intrinsic.Compile(s)
		if err != nil {
			if e, ok := errors.AsType[*intrinsic.SyntaxError](err); !ok || e.Column < 1 || e.Column > len(s)+1 {
				t.Fatalf("%q: %#v", s, err)
			}
			return
		}
		if _, err := c.Eval(environment); err != nil {
			e, ok := errors.AsType[*intrinsic.Error](err)
			if !ok || e.Call != s || e.Cause(environment.input) == "" {
				t.Fatalf("%q: %#v", s, err)
			}
		}
	})
}

func BenchmarkEval(b *testing.B) {
	for _, text := range []string{`States.Format('{}/{}', $.a, $.b)`, `States.MathAdd($.b, 1)`, `States.ArrayGetItem(States.StringSplit($.a, '-'), 0)`} {
		c, err := intrinsic.Compile(text)
		if err != nil {
			b.Fatal(err)
		}
		e := newEnv(b, `{"a":"x-y","b":12}`)
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Eval(e); err != nil {
					b.Fatal(err)
				}
			}
		})
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

// mustString returns the JSON text of a string that holds the compact form of this JSON.
func mustString(s string) string {
	v, err := jsonvalue.Parse(s)
	if err != nil {
		panic(err)
	}
	return jsonvalue.OfString(v.JSON()).JSON()
}
