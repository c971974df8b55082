package jsonata_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"stepback/asl/jsonata"
	"stepback/jsonvalue"
)

// outcome returns the JSON text of a result, or the code and message of the error.
func outcome(t *testing.T, text string, options ...jsonata.Option) string {
	t.Helper()
	e := &env{bindings: parse(t, `{"states":{"input":{"n":1.0,"big":12345678901234567890,"list":[1,2,3]}},"v":[{"a":1},{"a":2}]}`)}
	r, err := evaluate(text, e, options...)
	var failure *jsonata.Error
	switch {
	case errors.As(err, &failure):
		return strings.TrimSpace(failure.Code + " " + failure.Message)
	case err != nil:
		return err.Error()
	case r.Kind() == jsonata.Function:
		return "function"
	case r.Kind() == jsonata.Undefined:
		return "undefined"
	default:
		return r.Value().JSON()
	}
}

// Building and changing large objects whose keys are array indexes stays fast: moving all other keys for each one
// would take too long.
func TestLargeObjects(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`$count($keys([1..30000]{$string($):$}))`:                                                                `30000`,
		`$keys($reverse([1..30000]){$string($):$})[[0,1,-1]]`:                                                    `["1","2","30000"]`,
		`$keys(([1..30000]{$string($):$}) ~> |$|{},[1..29998].$string()|)`:                                       `["29999","30000"]`,
		`$keys($merge($reverse([1..30000]).{$string($):$}))[0]`:                                                  `"1"`,
		`($o := $merge([1..30000].{"k" & $:$}); $keys($merge([$o, $reverse([1..30000]){$string($):$}]))[30000])`: `"k1"`,
	} {
		if got := outcome(t, text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`$`:                      `undefined`,
		`$states.input.list[-1]`: `3`,
		`$states.input`:          `{"n":1.0,"big":12345678901234567890,"list":[1,2,3]}`,
		`$states.input.n + 0.5`:  `1.5`,
		`$v.a`:                   `[1,2]`,
		`$v[a=2].a`:              `2`,
		`$v[a=2].a[]`:            `[2]`,
		`$v#$i.{"i":$i,"a":a}`:   `[{"i":0,"a":1},{"i":1,"a":2}]`,
		`$v^(>a).a`:              `[2,1]`,
		`$v{"k":$sum(a)}`:        `{"k":3}`,
		`$sum`:                   `function`,
		`($f := function($n){$n<=0 ? "done" : $f($n-1)}; $f(20000))`: `"done"`,
		`$v ~> |$[a=1]|{"b":2},"a"|`:                                 `[{"b":2},{"a":2}]`,
		`[1..3].($*2)`:                                               `[2,4,6]`,
		`$map([1,2],$string)`:                                        `["1","2"]`,
		`(λ($x,$y){$x-$y})(?,1)(5)`:                                  `4`,
		`0.1+0.2`:                                                    `0.30000000000000004`,
		`$string(0.1+0.2)`:                                           `"0.3"`,
		`1e21 & ""`:                                                  `"1e+21"`,
		`{"b":1,"1":2}`:                                              `{"1":2,"b":1}`,
		`$match("aXbX",/(?<=a)x/i).index`:                            `1`,
		`$replace("John Smith",/(\w+) (\w+)/,"$2, $1")`:              `"Smith, John"`,
		`"\ud83d\ude00" & "!"`:                                       `"😀!"`,
		`$length("😀")`:                                               `1`,
		`"a" + 1`:                                                    `T2001 The left side of the "+" operator must evaluate to a number`,
		`(`:                                                          `S0203 Expected ")" before end of expression`,
		`"a`:                                                         `S0101 String literal must be terminated by a matching quote`,
		`nothing()`:                                                  `T1006 Attempted to invoke a non-function`,
		`/(/`:                                                        `S0302 No terminating / in regular expression`,
	} {
		if got := outcome(t, text); got != want {
			t.Errorf("%s = %s, want %s", text, got, want)
		}
	}
}

func TestStepFunctions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`$eval("1")`:               `T1006 Attempted to invoke a non-function`,
		`$partition([1..5],2.9)`:   `[[1,2],[3,4],[5]]`,
		`$range(1,9,2)`:            `[1,3,5,7,9]`,
		`$range(5,1,-2)`:           `[5,3,1]`,
		`$range(1,9,9)`:            `1`,
		`$hash("abc","MD5")`:       `"900150983cd24fb0d6963f7d28e17f72"`,
		`$hash("abc","SHA-1")`:     `"a9993e364706816aba3e25717850c26c9cd0d89d"`,
		`$parse('{"a":[1,2.50]}')`: `{"a":[1,2.50]}`,
		`$random(7) = $random(7)`:  `true`,
		`$random() < 1`:            `true`,
		`$length($uuid())`:         `36`,
		`$substring($uuid(),14,1)`: `"4"`,
		`$exists($partition)`:      `true`,
	} {
		if got := outcome(t, text, jsonata.WithStepFunctions()); got != want {
			t.Errorf("%s = %s, want %s", text, got, want)
		}
	}
	if got := outcome(t, `$exists($partition)`); got != "false" {
		t.Error("$partition exists without the option")
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	// A small value that represents an immense tree, because its parts are shared.
	const tree = `($f := function($s,$n){$n=0?$s:$f([[$s],[$s]],$n-1)}; `
	for text, limits := range map[string]jsonata.Limits{
		`($f := function(){$f()}; $f())`:            {Steps: 10_000},
		`($f := function($n){1 + $f($n+1)}; $f(0))`: {},
		`[1..1000].[1..1000]`:                       {Steps: 10_000},
		`$pad("",100000000)`:                        {Steps: 10_000},
		`[1..100]`:                                  {Output: 100},
		`($f := function($s,$n){$n=0?$s:$f($s&$s,$n-1)}; $f("abcdefgh",60))`:  {},
		`($f := function($s,$n){$n=0?$s:$f([$s,$s],$n-1)}; $f("x",60))`:       {},
		`($f := function($s,$n){$n=0?$s:$f({"a":$s,"b":$s},$n-1)}; $f(1,60))`: {},
		`$match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",/^(a+)+$/)`:      {Steps: 1_000_000},
		tree + `$f([[1]],60) = $f([[1]],60))`:                                 {Steps: 100_000},
		tree + `$f([[1]],60).a)`:                                              {Steps: 100_000},
		tree + `$f([[0]],60) ? 1 : 2)`:                                        {Steps: 100_000},
		tree + `$string($f([[1]],60) & ""))`:                                  {Steps: 100_000},
		tree + `$keys($f([[1]],60)))`:                                         {Steps: 100_000},
		tree + `$spread($f([[1]],60)))`:                                       {Steps: 100_000},
		tree + `$string($f([[1]],60)))`:                                       {Steps: 100_000},
		tree + `{"a":$f([[1]],60)}.*)`:                                        {Steps: 100_000},
		tree + `$f([[1]],60).**)`:                                             {Steps: 100_000},
		tree + `$clone($f([[1]],60)))`:                                        {Steps: 100_000},
		tree + `$distinct([[$f([[1]],60)],[$f([[1]],60)]]))`:                  {Steps: 100_000},
		strings.Repeat("(", 5000):                                             {},
		strings.Repeat("-", 5000):                                             {},
	} {
		if got := outcome(t, text, jsonata.WithLimits(limits)); !strings.HasPrefix(got, "U1001 ") {
			t.Errorf("%.60s = %.100s, want a limit", text, got)
		}
	}
}

func TestMessagesAreBounded(t *testing.T) {
	t.Parallel()
	got := outcome(t, `($f := function($s,$n){$n=0?$s:$f([[$s],[$s]],$n-1)}; {$f([[1]],60): 1})`)
	if !strings.HasPrefix(got, "T1003 Key in object structure must evaluate to a string; got: [") ||
		len(got) > 100_000 {
		t.Errorf("%.200s (%d bytes)", got, len(got))
	}
}

// cancelled is an Env whose context has ended.
type cancelled struct {
	env
	context.Context
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := evaluate(`$sum([1..100000])`, &cancelled{Context: ctx})
	if !errors.Is(err, context.Canceled) {
		t.Error("the error is", err)
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	x, err := jsonata.Compile(`$map($v, function($x){$x.a * 2}) ~> $sum()`)
	if err != nil {
		t.Fatal(err)
	}
	shared := parse(t, `{"v":[{"a":1},{"a":2}]}`)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 100 {
				r, err := x.Eval(&env{bindings: shared})
				if err != nil || r.Value().JSON() != "6" {
					t.Error(r.Value().JSON(), err)
				}
			}
		})
	}
	wait.Wait()
}

func TestInputIsNotChanged(t *testing.T) {
	t.Parallel()
	data := parse(t, `{"list":[{"a":1}],"e":[]}`)
	before := data.JSON()
	if _, err := evaluate(`($ ~> |list|{"a":2}|; $merge([list[0],{"a":3}]); list[].a; e{"x":1}; $append(list,9))`,
		&env{root: &data}); err != nil {
		t.Fatal(err)
	}
	if after := data.JSON(); after != before {
		t.Error("the input became", after)
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{`1 + `: 4, `"é😀" + 1`: 7, `$error("x")`: 7} {
		_, err := evaluate(text, &env{})
		var failure *jsonata.Error
		if !errors.As(err, &failure) || failure.Position != want {
			t.Errorf("%s fails at %+v, want position %d", text, failure, want)
		}
	}
}

func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		`a.b[c=1]{d:$sum(e)}^(>f)`, `$map(a,function($x)<n:n>{$x})`, `a@$b#$i.%.c`, `|a|{"b":1},"c"|`,
		`$fromMillis(0,"[Y]-[MNn,3-3]")`,
		`$formatNumber(1.5,"#,##0.0#e0")`, `$match("ab",/(?<=a)(b|c)*\1/i)`, `"\ud800"&'x'`,
		`$formatInteger(12,"Ww;o")`, `a ~> $f(?,1)`,
	} {
		f.Add(seed, `{"a":[{"b":1,"c":"x"},null,true],"d":{}}`)
	}
	f.Fuzz(func(t *testing.T, text, data string) {
		e := &env{}
		if root, err := jsonvalue.Parse(data); err == nil {
			e.root = &root
		}
		limits := jsonata.WithLimits(jsonata.Limits{Steps: 100_000, Depth: 500, Output: 1 << 20})
		r, err := evaluate(text, e, jsonata.WithStepFunctions(), limits)
		var failure *jsonata.Error
		if err != nil && !errors.As(err, &failure) {
			t.Errorf("an error of another type: %v", err)
		}
		if r.Kind() == jsonata.Value {
			if _, err := jsonvalue.Parse(r.Value().JSON()); err != nil {
				t.Errorf("%s gives %s: %v", text, r.Value().JSON(), err)
			}
		}
	})
}

func BenchmarkEval(b *testing.B) {
	x, err := jsonata.Compile(`{"total": $sum($states.input.list), "first": $states.input.list[0], "id": "x-" & $states.input.n}`)
	if err != nil {
		b.Fatal(err)
	}
	bindings, err := jsonvalue.Parse(`{"states":{"input":{"n":1,"list":[1,2,3]}}}`)
	if err != nil {
		b.Fatal(err)
	}
	e := &env{bindings: bindings}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := x.Eval(e); err != nil {
			b.Fatal(err)
		}
	}
}
