package jsonpath_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"stepback/asl/jsonpath"
	"stepback/jsonvalue"
)

func ExampleCompile() {
	orders, _ := jsonvalue.Parse(`{"orders":[{"id":1,"total":5},{"id":2,"total":50}]}`)
	for _, text := range []string{"$.orders[0].id", "$.orders[?(@.total > 10)].id", "$.orders[7].id"} {
		path, err := jsonpath.Compile(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		v, err := path.Eval(orders)
		fmt.Println(v.JSON(), err)
	}
	// Output:
	// 1 <nil>
	// [2] <nil>
	// null No results for path: $['orders'][7]['id']
}

const shop = `{"book":[{"t":"A","p":8.95,"tags":["x","y"]},{"t":"B","p":12.99,"isbn":"1"},{"t":"C","p":22,"isbn":null}],
"n":[1,2,3,4,5],"neg":[-3,-1],"a":{"b c":1,"x.y":2,"q'":3,"d":{"e":5}},"s":"hello","nul":null,"o":{},"empty":[],
"deep":[[1,2],[3,[4]]],"limit":10,"é":8,"both":{"1":1,"2":"1"}}`

func TestEval(t *testing.T) {
	t.Parallel()
	root := must(t, shop)
	for path, want := range map[string]string{
		`$.n[-1]`:                     `5`,
		`$.n[0,2,9]`:                  `[1,3]`,
		`$.n[ 1 , 2 ]`:                `[2,3]`,
		`$.n[-2:]`:                    `[4,5]`,
		`$.n[:-3]`:                    `[1,2]`,
		`$.n[1:-1]`:                   `[]`,
		`$.n[-3:-1]`:                  `[3,4]`,
		`$.n[-1:2]`:                   `[5,1,2]`,
		`$.n[-99999999:2]`:            `[1,2,3,4,5,1,2]`,
		`$.n[7:9]`:                    `[]`,
		`$['a']["b c"]`:               `1`,
		`$.a['q\'']`:                  `3`,
		`$.a['\u0064'].e`:             `5`,
		`$.a['b c','nope']`:           `{"b c":1}`,
		`$.book[*]['t','isbn']`:       `[{"t":"A"},{"t":"B","isbn":"1"},{"t":"C","isbn":null}]`,
		`$['a','both']['1']`:          `[1]`,
		`$.é`:                         `8`,
		`  $.s  `:                     `"hello"`,
		`$..e`:                        `[5]`,
		`$..isbn`:                     `["1",null]`,
		`$..[0]`:                      `[{"t":"A","p":8.95,"tags":["x","y"]},"x",1,-3,[1,2],1,3,4]`,
		`$..book[0].t`:                `["A"]`,
		`$..['t','p']`:                `[{"t":"A","p":8.95},{"t":"B","p":12.99},{"t":"C","p":22}]`,
		`$..book[?(@.isbn)].t`:        `["B","C"]`,
		`$..[?(@.isbn)].t`:            `["B","C"]`,
		`$.deep[*][*]`:                `[1,2,3,[4]]`,
		`$.deep[1][*][0]`:             `[4]`,
		`$.o.*`:                       `[]`,
		`$.s.*`:                       `[]`,
		`$[*].e`:                      `[]`,
		`$.book[*].tags[0]`:           `["x"]`,
		`$.n.length()`:                `5`,
		`$.a.size()`:                  `4`,
		`$.s.length()`:                `null`,
		`$.length($.n)`:               `5`,
		`$..tags.length()`:            `2`,
		`$.n.min()`:                   `1.0`,
		`$.neg.max()`:                 `-1.0`,
		`$.n.avg()`:                   `3.0`,
		`$.n.stddev()`:                `1.4142135623730951`,
		`$..p.sum()`:                  `43.94`,
		`$.sum($.n, 10)`:              `25.0`,
		`$.n.append(6, "x").length()`: `7`,
		`$.n.append({"k":[1,2]})`:     `[1,2,3,4,5,{"k":[1,2]}]`,
		`$.s.append(1)`:               `"hello"`,
		`$.book[0].tags.concat("z")`:  `"xyz"`,
		`$.concat($.n, "-", $.s)`:     `"12345-hello"`,
		`$.o.keys()`:                  `[]`,
		`$.keys().length()`:           `12`,
		`$.n.first()`:                 `1`,
		`$.n.last()`:                  `5`,
		`$.n.index(-2)`:               `4`,
	} {
		p, err := jsonpath.Compile(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		got, err := p.Eval(root)
		if err != nil || got.JSON() != want {
			t.Errorf("%s = %s, %v; want %s", path, got.JSON(), err, want)
		}
	}
}

func TestEscapesInQuotedNames(t *testing.T) {
	t.Parallel()
	root := must(t, `{"a'b":1,"a\"b":2,"a\\\"b":3,"a\\b":4}`)
	for path, want := range map[string]string{
		`$['a\'b']`: `1`, `$["a\"b"]`: `2`, `$['a"b']`: `2`, `$['a\"b']`: `3`, `$['a\\b']`: `4`, `$["a'b"]`: `1`,
	} {
		p, err := jsonpath.Compile(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got, err := p.Eval(root); err != nil || got.JSON() != want {
			t.Errorf("%s = %s, %v; want %s", path, got.JSON(), err, want)
		}
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	root := must(t, shop)
	for filter, want := range map[string]string{
		`@.p < 10`:                            `["A"]`,
		`@.p <= 12.99`:                        `["A","B"]`,
		`@.p>12`:                              `["B","C"]`,
		`@.p >= 22.0`:                         `["C"]`,
		`@.p == '22'`:                         `["C"]`,
		`@.p === '22'`:                        `[]`,
		`@.p !== '22'`:                        `["A","B","C"]`,
		`@.t != 'A'`:                          `["B","C"]`,
		`@.nope != 1`:                         `["A","B","C"]`,
		`@.nope == @.nope`:                    `[]`,
		`@.t > 'A'`:                           `["B","C"]`,
		`@.isbn == null`:                      `["C"]`,
		`@.isbn`:                              `["B","C"]`,
		`!@.isbn`:                             `["A"]`,
		`!(@.t == 'A')`:                       `["B","C"]`,
		`!!@.isbn`:                            `["B","C"]`,
		`@.t in ['A', "C"]`:                   `["A","C"]`,
		`@.t IN ['A']`:                        `["A"]`,
		`@.t nin ['A']`:                       `["B","C"]`,
		`@.t in 'A'`:                          `[]`,
		`!(@.t in 'A')`:                       `[]`,
		`@.t in {"A":1}`:                      `[]`,
		`@.tags subsetof ['x','y','z']`:       `["A"]`,
		`@.tags subsetof ['x']`:               `[]`,
		`@.tags anyof ['y']`:                  `["A"]`,
		`@.tags noneof ['z']`:                 `["A"]`,
		`@.tags all ['x']`:                    `["A"]`,
		`@.tags contains 'x'`:                 `["A"]`,
		`@.t contains 'B'`:                    `["B"]`,
		`@.tags size 2`:                       `["A"]`,
		`@.t size 1`:                          `["A","B","C"]`,
		`@.tags empty false`:                  `["A"]`,
		`@.t empty true`:                      `[]`,
		`@.t empty 1`:                         `[]`,
		`@.tags == ["x","y"]`:                 `["A"]`,
		`@.t =~ /[ab]/i`:                      `["A","B"]`,
		`@.t =~ /[ab]/`:                       `[]`,
		`/A|C/ =~ @.t`:                        `["A","C"]`,
		`@.p =~ /\d+/`:                        `["C"]`,
		`@.tags =~ /y/`:                       `["A"]`,
		`@.t == 'A' || @.t == 'B' && @.p > 9`: `["A","B"]`,
		`(@.t == 'A' || @.t == 'B') && @.p>9`: `["B"]`,
		`@.p > $.limit`:                       `["B","C"]`,
		`$.n.length() == 5`:                   `["A","B","C"]`,
		`@.tags.length() == 2`:                `["A"]`,
		`@.tags[0] == 'x'`:                    `["A"]`,
		`@['t'] == 'B'`:                       `["B"]`,
		`@.tags[?(@ == 'y')]`:                 `["A"]`,
		`@.tags[*]`:                           `["A"]`,
		`@.t == 'A' && true == true`:          `["A"]`,
		`@.t == ')'`:                          `[]`,
		`@`:                                   `["A","B","C"]`,
	} {
		p, err := jsonpath.Compile("$.book[?(" + filter + ")].t")
		if err != nil {
			t.Errorf("%s: %v", filter, err)
			continue
		}
		got, err := p.Eval(root)
		if err != nil || got.JSON() != want {
			t.Errorf("%s = %s, %v; want %s", filter, got.JSON(), err, want)
		}
	}
}

func TestEvalErrors(t *testing.T) {
	t.Parallel()
	root := must(t, shop)
	const provider = " This is not a json object according to the JsonProvider: 'com.jayway.jsonpath.spi.json.JsonSmartJsonProvider'."
	for path, want := range map[string]string{
		`$.NoSuch`:                    `PathNotFoundException: No results for path: $['NoSuch']`,
		`$.no.such.path`:              `PathNotFoundException: Missing property in path $['no']`,
		`$.a.no.such`:                 `PathNotFoundException: Missing property in path $['a']['no']`,
		`$.n[9].x`:                    `PathNotFoundException: No results for path: $['n'][9]['x']`,
		`$.book[-1].x.y`:              `PathNotFoundException: Missing property in path $['book'][-1]['x']`,
		`$["no"]`:                     `PathNotFoundException: No results for path: $["no"]`,
		`$.s.x`:                       `PathNotFoundException: Expected to find an object with property ['x'] in path $['s'] but found 'java.lang.String'.` + provider,
		`$.limit.x`:                   `PathNotFoundException: Expected to find an object with property ['x'] in path $['limit'] but found 'java.lang.Integer'.` + provider,
		`$.nul[0]`:                    `PathNotFoundException: The path $['nul'] is null`,
		`$.a[0].b`:                    `PathNotFoundException: Filter: [0]['b'] can only be applied to arrays. Current context is: {b c=1, x.y=2, q'=3, d={e=5}}`,
		`$.s[?(@.x)]`:                 `JsonPathException: Filter: [?] can not be applied to primitives. Current context is: hello`,
		`$.empty.sum()`:               `JsonPathException: Aggregation function attempted to calculate value using empty array`,
		`$.n.index(9)`:                `JsonPathException: Target index:9 larger than object count:5`,
		`$.n.index("x")`:              `JsonPathException: index() needs a whole number as its argument`,
		`$.s.first()`:                 `JsonPathException: Aggregation function attempted to calculate value using empty array`,
		`$.n.append($.nope)`:          `PathNotFoundException: No results for path: $['nope']`,
		`$.book[?(@.tags.sum() > 1)]`: `JsonPathException: Aggregation function attempted to calculate value using empty array`,
		`$.a['s']x`:                   `PathNotFoundException: No results for path: $['a']['s']`,
		// a single character after a step is ignored
		`$.missing[*]`: `PathNotFoundException: Missing property in path $['missing']`,
	} {
		p, err := jsonpath.Compile(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		v, err := p.Eval(root)
		if err == nil {
			t.Errorf("%s = %s", path, v.JSON())
		} else if got := jaywayError(err); got != want {
			t.Errorf("%s:\n got %s\nwant %s", path, got, want)
		}
	}
}

func TestSelectYieldsAnEmptyArrayForIndefinitePathsThatLeadNowhere(t *testing.T) {
	t.Parallel()
	root := must(t, `{}`)
	for _, text := range []string{`$[*]`, `$.items[*]`, `$.items[1:]`, `$.items[:1].itemValue`,
		`$.item.items[1:5].itemValue`} {
		p, err := jsonpath.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := p.Select(root); err != nil || v.JSON() != `[]` {
			t.Errorf("%s selects %s, %v", text, v.JSON(), err)
		}
	}
	p, _ := jsonpath.Compile(`$.item`)
	if _, err := p.Select(root); err == nil {
		t.Error("a definite path that leads nowhere must fail")
	}
}

func TestRoots(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, variable string
		root           jsonpath.Root
	}{
		{`$`, "", jsonpath.Input},
		{`$.a`, "", jsonpath.Input},
		{`$['x']`, "", jsonpath.Input},
		{`$$`, "", jsonpath.Context},
		{`$$.Execution.Id`, "", jsonpath.Context},
		{`$x`, "x", jsonpath.Variable},
		{`$été_2.a[0]`, "été_2", jsonpath.Variable},
		{`$x[0]`, "x", jsonpath.Variable},
	} {
		p, err := jsonpath.Compile(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if p.Root() != c.root || p.Variable() != c.variable || p.Text() != c.text {
			t.Errorf("%s: root %d, variable %q", c.text, p.Root(), p.Variable())
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
		{``, 1, `Path must start with '$'`},
		{`a.b`, 1, `Path must start with '$'`},
		{`@.a`, 1, `Path must start with '$'`},
		{`$.`, 2, `Path must not end with a '.' or '..'`},
		{`$...a`, 4, `Character '.' on position 3 is not valid.`},
		{`$-a`, 2, `Illegal character at position 1 expected '.' or '['`},
		{`$$x`, 3, `Illegal character at position 1 expected '.' or '['`},
		{`$_x`, 2, `Illegal character at position 1 expected '.' or '['`},
		{`$.a b`, 4, `Use bracket notion ['my prop'] if your property contains blank characters. position: 2`},
		{`$.é.a b`, 7, `Use bracket notion ['my prop'] if your property contains blank characters. position: 4`},
		{`$. a`, 3, `Could not parse token starting at position 2`},
		{`$.a[b]`, 4, `Could not parse token starting at position 3. Expected ?, ', 0-9, * `},
		{`$.a[1`, 4, `Could not parse token starting at position 3. Expected ?, ', 0-9, * `},
		{`$.a[*`, 6, `Expected wildcard token to end with ']' on position 5`},
		{`$.a[1:2:x]`, 4, `Could not parse token starting at position 3. Expected ?, ', 0-9, * `},
		{`$.a[1 :2]`, 5, `Failed to parse SliceOperation: 1 :2`},
		{`$.a[99999999999]`, 5, `Failed to parse token in ArrayIndexOperation: 99999999999`},
		{`$.a[1,,2]`, 5, `Failed to parse token in ArrayIndexOperation: `},
		{`$['a',]`, 7, `Found empty property at index 6`},
		{`$['a`, 3, `Property has not been closed - missing closing '`},
		{`$[?]`, 3, `Not enough predicates supplied for filter [?] at position 1`},
		{`$[?(@.a]`, 2, `Could not parse token starting at position 1. Expected ?, ', 0-9, * `},
		{`$[?()]`, 5, `Failed to parse filter: (), error on position: 1, char: )`},
		{`$[?(@.a =~ /(/)]`, 12, "The pattern /(/ cannot be used: error parsing regexp: missing closing ): `\\A(?:()\\z`"},
		{`$[?(@.a ~ 1)]`, 9, `Expected character: )`},
		{`$[?('a')]`, 8, `Expected path node`},
		{`$[?(@.a) x]`, 2, `Could not parse token starting at position 1. Expected ?, ', 0-9, * `},
		{`$[?(@.a == 1 @.b)]`, 14, `Expected character: )`},
		{`$.a.nope()`, 5, `Function with name: nope does not exist.`},
		{`$.a.sum(`, 8, `Arguments to function: 'sum' are not closed properly.`},
		{`$.a.sum({x})`, 9, `Argument {x} is not valid JSON: Unexpected character ('x' (code 120)): was expecting double-quote to start field name at line 1, column 2`},
		{`$x.b[b]`, 5, `Could not parse token starting at position 3. Expected ?, ', 0-9, * `},
	} {
		p, err := jsonpath.Compile(c.text)
		e, ok := errors.AsType[*jsonpath.SyntaxError](err)
		if !ok {
			t.Errorf("%q: %v, %v", c.text, p, err)
			continue
		}
		if e.Message != c.message || e.Column != c.column || e.Path != c.text {
			t.Errorf("%q: column %d, %s\nwant column %d, %s", c.text, e.Column, e.Message, c.column, c.message)
		}
	}
}

func TestCompilationIsBounded(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"steps":       "$" + strings.Repeat(".a", 2000),
		"filters":     strings.Repeat("$[?(", 30) + "@.a" + strings.Repeat(")]", 30),
		"nested":      "$" + strings.Repeat("[?(@", 30) + strings.Repeat(")]", 30),
		"parentheses": "$[?(" + strings.Repeat("(", 10_000) + "@.a" + strings.Repeat(")", 10_000) + ")]",
		"negations":   "$[?(" + strings.Repeat("!", 10_000) + "(@.a))]",
		"arguments":   strings.Repeat("$.sum(", 40) + "1" + strings.Repeat(")", 40),
		"literals":    "$[?(@.a == " + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + ")]",
	} {
		if _, err := jsonpath.Compile(text); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestEvaluationIsBounded(t *testing.T) {
	t.Parallel()
	numbers := must(t, `{"a":[`+strings.Repeat(`1,`, 60_000)+`1],"b":2}`)
	for text, root := range map[string]jsonvalue.Value{
		"$" + strings.Repeat("..*", 20): must(t, strings.Repeat(`[`, 900)+strings.Repeat(`]`,
			900)),
		`$.a[?(@ nin $.a)]`:        numbers,
		`$.a[?($.a == $.a)]`:       numbers,
		`$.a[?($.a subsetof $.a)]`: numbers,
		`$.a[?($.a[?(@ == $.b)] empty true && $.a contains $.b)]`: numbers,
	} {
		p, err := jsonpath.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Eval(root); err == nil || err.Error() != "the path visits more than 16000000 nodes" {
			t.Errorf("%.40s: %v", text, err)
		}
	}
	p, _ := jsonpath.Compile(`$.a[?(@ in [0,1])]`)
	if v, err := p.Eval(numbers); err != nil || v.Len() != 60_001 {
		t.Errorf("a filter over 60,001 numbers selects %d, %v", v.Len(), err)
	}
}

func TestPlainPathsDoNotAllocate(t *testing.T) {
	root := must(t, shop)
	p, _ := jsonpath.Compile(`$.book[1].t`)
	if n := testing.AllocsPerRun(100, func() { _, _ = p.Eval(root) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkEval(b *testing.B) {
	root := must(b, shop)
	for _, text := range []string{`$.book[1].t`, `$.book[*].t`, `$.book[?(@.p < 10)].t`, `$..t`} {
		p, _ := jsonpath.Compile(text)
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Eval(root); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{`$.a['b']["c"][0][-1]`, `$$.x[1:2,3]`, `$v..*`,
		`$[?(@.a == 'x' && !(@.b in ['y',{"z":1}]))].sum($.a, 1)`,
		`$[?(@.a =~ /x\/y/i)]`, `$.a.concat("(", $.b)`, `$['\u00e9\`, "$[?(@['", `$.length(@)`} {
		f.Add(seed)
	}
	root := must(f, shop)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := jsonpath.Compile(text)
		if err != nil {
			e, ok := errors.AsType[*jsonpath.SyntaxError](err)
			if !ok || e.Column < 1 || e.Column > len(text)+1 {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		v, err := p.Eval(root)
		if err == nil && !p.Definite() && v.Kind() != jsonvalue.Array {
			t.Fatalf("%q is indefinite and yields %s", text, v.JSON())
		}
		if p.IsReference() && p.Root() == jsonpath.Input {
			checkReference(t, text, root)
		}
	})
}

func checkReference(t *testing.T, text string, root jsonvalue.Value) {
	t.Helper()
	r, err := jsonpath.CompileReference(text)
	if err != nil {
		t.Fatalf("%q is a reference path but %v", text, err)
	}
	changed, err := r.Set(root, jsonvalue.OfString("V"))
	if err != nil {
		return
	}
	p, _ := jsonpath.Compile(text)
	if v, err := p.Eval(changed); err != nil || v.JSON() != `"V"` {
		t.Fatalf("%q was set but reads %s, %v", text, v.JSON(), err)
	}
}

// Samples published by AWS, and users of its parameter store, compare with unquoted text.
func TestFiltersCompareWithUnquotedText(t *testing.T) {
	t.Parallel()
	root := must(t, `{"a":[{"k":"v","n":1},{"k":"/eggs/cooked/like","n":2},{"k":"two words","n":3},{"k":"12ab","n":4},
		{"k":"trueish","n":5},{"k":"/one/","n":6}]}`)
	for path, want := range map[string]string{
		`$.a[?(@.k == v)].n`:                     `[1]`,
		`$.a[?(@.k==v)].n`:                       `[1]`,
		`$.a[?(@.k != v)].n`:                     `[2,3,4,5,6]`,
		`$.a[?(@.k==/eggs/cooked/like)].n`:       `[2]`,
		`$.a[?(@.k == /one/)].n`:                 `[6]`,
		`$.a[?(@.k == two words && @.n > 2)].n`:  `[3]`,
		`$.a[?(@.k == 12ab || @.k == v)].n`:      `[1,4]`,
		`$.a[?((@.k == trueish) && @.n == 5)].n`: `[5]`,
		`$.a[?(@.n == 2)].k`:                     `["/eggs/cooked/like"]`,
	} {
		p, err := jsonpath.Compile(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		got, err := p.Eval(root)
		if err != nil || got.JSON() != want {
			t.Errorf("%s = %s, %v; want %s", path, got.JSON(), err, want)
		}
	}
}
