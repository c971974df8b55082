package eventpattern_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stepback/jsonvalue"
	"stepback/local/services/eventpattern"
)

func compiled(t testing.TB, text string) *eventpattern.Pattern {
	t.Helper()
	p, err := eventpattern.Compile(text, eventpattern.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

func parsed(t testing.TB, text string) jsonvalue.Value {
	t.Helper()
	v, err := jsonvalue.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func Example() {
	p, err := eventpattern.Compile(`{
		"source": ["aws.states"],
		"detail": {"status": ["FAILED", {"prefix": "TIMED"}], "name": [{"anything-but": {"wildcard": "test-*"}}]}
	}`, eventpattern.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{
		`{"source": "aws.states", "detail": {"status": "TIMED_OUT", "name": "nightly"}}`,
		`{"source": "aws.states", "detail": {"status": "FAILED", "name": "test-7"}}`,
	} {
		event, _ := jsonvalue.Parse(text)
		fmt.Println(p.Match(event))
	}
	_, err = eventpattern.Compile(`{"source": "aws.states"}`, eventpattern.Limits{})
	fmt.Println(err)
	// Output:
	// true
	// false
	// "source" must be an object or an array
	//  at [Source: (String)"{"source": "aws.states"}"; line: 1, column: 13]
}

// TestMatching contains the examples in AWS's documentation of content filtering, and event-ruler's behaviour for
// values of other types, arrays and missing fields.
func TestMatching(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{`{"a":["x","y"]}`, []string{`{"a":"x"}`, `{"a":"y","b":1}`, `{"a":["q","x"]}`, `{"a":[["x"]]}`},
			[]string{`{"a":"X"}`, `{"a":"z"}`, `{"a":{"x":"x"}}`, `{}`, `{"a":[]}`, `{"a":null}`, `"x"`, `[]`}},
		{`{"a":[""]}`, []string{`{"a":""}`}, []string{`{"a":null}`, `{}`, `{"a":" "}`}},
		{`{"a":[null]}`, []string{`{"a":null}`, `{"a":[1,null]}`}, []string{`{"a":"null"}`, `{}`, `{"a":[]}`}},
		{`{"a":[true]}`, []string{`{"a":true}`}, []string{`{"a":"true"}`, `{"a":false}`}},
		{`{"a":[300]}`, []string{`{"a":300}`, `{"a":300.0}`, `{"a":3e2}`, `{"a":3.00E+2}`},
			[]string{`{"a":"300"}`, `{"a":300.1}`, `{"a":-300}`}},
		{`{"a":[123456789012]}`, []string{`{"a":123456789012}`}, []string{`{"a":1.23456789012e11}`, `{"a":"123456789012"}`}},
		{`{"a":[{"prefix":"us-"}]}`, []string{`{"a":"us-"}`, `{"a":"us-east-1"}`}, []string{`{"a":"US-"}`, `{"a":3}`, `{}`}},
		{`{"a":[{"prefix":""}]}`, []string{`{"a":""}`, `{"a":"x"}`}, []string{`{"a":3}`, `{"a":null}`}},
		{`{"a":[{"prefix":{"equals-ignore-case":"EventB"}}]}`, []string{`{"a":"EVENTBridge"}`, `{"a":"eventb"}`},
			[]string{`{"a":"event"}`, `{"a":" eventb"}`}},
		{`{"a":[{"suffix":".png"}]}`, []string{`{"a":"a.png"}`, `{"a":".png"}`}, []string{`{"a":"a.PNG"}`, `{"a":1}`}},
		{`{"a":[{"suffix":{"equals-ignore-case":".png"}}]}`, []string{`{"a":"a.PnG"}`}, []string{`{"a":"png"}`, `{"a":"a.png "}`}},
		{`{"a":[{"equals-ignore-case":"ällo"}]}`, []string{`{"a":"ÄLLO"}`, `{"a":"ällo"}`}, []string{`{"a":"allo"}`, `{"a":"ällos"}`}},
		{`{"a":[{"exactly":"x"}]}`, []string{`{"a":"x"}`}, []string{`{"a":"y"}`}},
		{`{"a":[{"wildcard":"dir/*.png"}]}`, []string{`{"a":"dir/.png"}`, `{"a":"dir/sub/x.png"}`},
			[]string{`{"a":"dirx.png"}`, `{"a":"dir/x.pngs"}`, `{"a":"dir.png"}`, `{"a":7}`}},
		{`{"a":[{"wildcard":"*a*b*a"}]}`, []string{`{"a":"aba"}`, `{"a":"xaxbxa"}`, `{"a":"aaba"}`}, []string{`{"a":"ab"}`, `{"a":"aab"}`, `{"a":"aa"}`}},
		{`{"a":[{"wildcard":"*"}]}`, []string{`{"a":""}`, `{"a":"x"}`}, []string{`{"a":1}`, `{"a":null}`}},
		{`{"a":[{"wildcard":""}]}`, []string{`{"a":""}`}, []string{`{"a":"x"}`}},
		{`{"a":[{"wildcard":"a\\*b\\\\*"}]}`, []string{`{"a":"a*b\\"}`, `{"a":"a*b\\x"}`}, []string{`{"a":"axb\\"}`}},
		{`{"a":[{"wildcard":"ab*ba"}]}`, []string{`{"a":"abba"}`}, []string{`{"a":"aba"}`}},
		{`{"a":[{"anything-but":"x"}]}`, []string{`{"a":"y"}`, `{"a":null}`, `{"a":1}`, `{"a":["x","y"]}`, `{"a":true}`},
			[]string{`{"a":"x"}`, `{}`, `{"a":[]}`, `{"a":["x","x"]}`, `{"a":{"b":1}}`}},
		{`{"a":[{"anything-but":["x","y"]}]}`, []string{`{"a":"z"}`}, []string{`{"a":"x"}`, `{"a":"y"}`}},
		{`{"a":[{"anything-but":[100,200]}]}`, []string{`{"a":300}`, `{"a":"100"}`}, []string{`{"a":1e2}`, `{"a":200.0}`}},
		{`{"a":[{"anything-but":0}]}`, []string{`{"a":1}`}, []string{`{"a":0}`, `{"a":-0.0}`}},
		{`{"a":[{"anything-but":{"prefix":"in"}}]}`, []string{`{"a":"out"}`, `{"a":3}`, `{"a":null}`}, []string{`{"a":"init"}`, `{}`}},
		{`{"a":[{"anything-but":{"prefix":["in","re"]}}]}`, []string{`{"a":"out"}`}, []string{`{"a":"init"}`, `{"a":"redo"}`}},
		{`{"a":[{"anything-but":{"suffix":["1","2"]}}]}`, []string{`{"a":"x3"}`}, []string{`{"a":"x2"}`}},
		{`{"a":[{"anything-but":{"wildcard":["*/lib/*","*.tmp"]}}]}`, []string{`{"a":"/bin/a"}`}, []string{`{"a":"/lib/a"}`, `{"a":"a.tmp"}`}},
		{`{"a":[{"anything-but":{"equals-ignore-case":["INIT","idle"]}}]}`, []string{`{"a":"run"}`, `{"a":null}`}, []string{`{"a":"init"}`, `{"a":"IDLE"}`}},
		{`{"a":[{"numeric":[">",0,"<=",5]}]}`, []string{`{"a":0.000001}`, `{"a":5}`, `{"a":[9,3]}`}, []string{`{"a":0}`, `{"a":5.000001}`, `{"a":"3"}`, `{"a":null}`}},
		{`{"a":[{"numeric":["=",3.018e2]}]}`, []string{`{"a":301.8}`, `{"a":301.80}`}, []string{`{"a":301.81}`}},
		{`{"a":[{"numeric":["<",10]}]}`, []string{`{"a":-5e9}`, `{"a":9.999999}`}, []string{`{"a":10}`, `{"a":-6e9}`}},
		{`{"a":[{"numeric":[">=",-2.5]}]}`, []string{`{"a":-2.5}`, `{"a":5000000000}`}, []string{`{"a":-2.500001}`, `{"a":5000000001}`}},
		{`{"a":[{"exists":true}]}`, []string{`{"a":null}`, `{"a":""}`, `{"a":[0]}`}, []string{`{}`, `{"a":{"b":1}}`, `{"a":[]}`, `{"b":1}`}},
		{`{"a":[{"exists":false}]}`, []string{`{}`, `{"a":{"b":1}}`, `{"a":[]}`}, []string{`{"a":null}`, `{"a":1}`}},
		{`{"a":["x",{"exists":false}],"b":["y"]}`, []string{`{"b":"y"}`, `{"a":"x","b":"y"}`}, []string{`{"a":"z","b":"y"}`, `{"a":"x"}`}},
		{`{"a":[{"cidr":"10.0.0.0/24"}]}`, []string{`{"a":"10.0.0.0"}`, `{"a":"10.0.0.255"}`}, []string{`{"a":"10.0.1.0"}`, `{"a":"10.0.0"}`, `{"a":"::a00:0"}`, `{"a":10}`}},
		{`{"a":[{"cidr":"10.0.0.5/24"}]}`, []string{`{"a":"10.0.0.5"}`, `{"a":"10.0.0.255"}`}, []string{`{"a":"10.0.0.4"}`}},
		{`{"a":[{"cidr":"10.0.0.0/0"}]}`, []string{`{"a":"255.1.2.3"}`}, []string{`{"a":"9.1.2.3"}`}},
		{`{"a":[{"cidr":"2001:db8::/33"}]}`, []string{`{"a":"2001:DB8:7fff::1"}`}, []string{`{"a":"2001:db8:8000::"}`, `{"a":"10.0.0.1"}`}},
		{`{"a":["2001:db8::1","10.0.0.9"]}`, []string{`{"a":"2001:0db8:0:0::1"}`, `{"a":"10.0.0.9"}`}, []string{`{"a":"2001:db8::2"}`, `{"a":"10.0.0.90"}`}},
		{`{"a":["10.0.0.256"]}`, []string{`{"a":"10.0.0.256"}`}, []string{`{"a":"10.0.0.25"}`}},
		{`{"a":{"b":["x"]}}`, []string{`{"a":{"b":"x"}}`, `{"a.b":"x"}`, `{"a":[{"b":"y"},{"b":"x"}]}`}, []string{`{"a":"x"}`, `{"b":"x"}`}},
		{`{"a.b":["x"]}`, []string{`{"a":{"b":"x"}}`, `{"a.b":"x"}`}, []string{`{"a":{"c":"x"}}`}},
		{`{"a":["x"],"a":["y"]}`, []string{`{"a":"y"}`}, []string{`{"a":"x"}`}},
		{`{"a":{"b":[1]},"c":[{"exists":true}]}`, []string{`{"a":{"b":1},"c":2}`}, []string{`{"a":{"b":1}}`}},
		// Arrays of objects: all fields within one element.
		{`{"l":{"f":["Anna"],"n":["Ito"]}}`, []string{`{"l":[{"f":"Anna","n":"Ito"}]}`, `{"l":[{"f":"Ben","n":"Ito"},{"f":"Anna","n":"Ito"}]}`},
			[]string{`{"l":[{"f":"Anna","n":"Mori"},{"f":"Ben","n":"Ito"}]}`}},
		{`{"l":{"f":["a"],"m":{"g":["b"],"h":["c"]}}}`,
			[]string{`{"l":[{"f":"x"},{"f":"a","m":[{"g":"b","h":"x"},{"g":"b","h":"c"}]}]}`},
			[]string{`{"l":[{"f":"a","m":[{"g":"b","h":"x"},{"g":"y","h":"c"}]}]}`,
				`{"l":[{"f":"a","m":[{"g":"b"}]},{"f":"x","m":[{"g":"b","h":"c"}]}]}`}},
		{`{"l":{"f":["a"],"g":[{"exists":false}]}}`, []string{`{"l":[{"f":"b","g":1},{"f":"a"}]}`}, []string{`{"l":[{"f":"a","g":1},{"f":"b"}]}`}},
		{`{"l":{"f":["a"]},"m":{"f":["b"]}}`, []string{`{"l":[{"f":"x"},{"f":"a"}],"m":[{"f":"b"},{"f":"x"}]}`}, []string{`{"l":[{"f":"a"}],"m":[{"f":"a"}]}`}},
		// $or.
		{`{"s":["a"],"$or":[{"m":["c","d"]},{"t":["x"],"n":["y"]}]}`, []string{`{"s":"a","m":"d"}`, `{"s":"a","t":"x","n":"y"}`},
			[]string{`{"s":"b","m":"d"}`, `{"s":"a","t":"x"}`, `{"s":"a"}`}},
		{`{"d":{"$or":[{"c":[{"numeric":[">",0,"<=",5]}]},{"e":[{"numeric":["<",10]}]},{"x":[{"numeric":["=",3.018e2]}]}]}}`,
			[]string{`{"d":{"c":3}}`, `{"d":{"e":1}}`, `{"d":{"x":301.8}}`}, []string{`{"c":3}`, `{"d":{"c":9,"e":10,"x":0}}`}},
		{`{"$or":[{"a":["1"]},{"b":["2"]}],"$or":[{"c":["3"]},{"d":["4"]}]}`, []string{`{"a":"1","d":"4"}`, `{"b":"2","c":"3"}`}, []string{`{"a":"1","b":"2"}`, `{"c":"3"}`}},
		{`{"$or":[{"a":["1"],"$or":[{"b":["2"]},{"b":["3"]}]},{"c":["4"]}]}`, []string{`{"a":"1","b":"3"}`, `{"c":"4"}`}, []string{`{"a":"1"}`, `{"b":"2"}`}},
		{`{"$or":[{"a":["1"]},{"b":["2"]}],"a":["9"]}`, []string{`{"a":"9"}`}, []string{`{"a":"1"}`, `{"b":"2"}`}},
	} {
		p := compiled(t, c.pattern)
		for _, e := range c.yes {
			if !p.Match(parsed(t, e)) {
				t.Errorf("%s does not match %s", c.pattern, e)
			}
		}
		for _, e := range c.no {
			if p.Match(parsed(t, e)) {
				t.Errorf("%s matches %s", c.pattern, e)
			}
		}
	}
}

// TestRefusals checks AWS's reasons. at is the column after which AWS stopped; 0 if it reports no position, negative
// if it reports the position twice.
// tooComplex is the message for wildcards with many prefixes that match at the same time.
const tooComplex = "Rule is too complex - try using fewer wildcard characters or fewer repeating character sequences " +
	"after a wildcard character"

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, brief string
		at             int
	}{
		{`[]`, "Filter is not an object", 2},
		{`"x"`, "Filter is not an object", 2},
		{``, "Filter is not an object", 1},
		{`{"source": ["aws.health"], "detail": {}}`, "Empty objects are not allowed", 40},
		{`{}`, "Empty objects are not allowed", 3},
		{`{"slug": "some"}`, `"slug" must be an object or an array`, 11},
		{`{"a": 12}`, `"a" must be an object or an array`, 9},
		{`{"a":[]}`, "Empty arrays are not allowed", 8},
		{`{"a":[["x"]]}`, "Match value must be String, number, true, false, or null", 8},
		{`{"a":[{}]}`, "Match expression name not found", 9},
		{`{"a":[{"like":"x"}]}`, "Unrecognized match type like", 16},
		{`{"a":[{"prefix":"x","suffix":"y"}]}`, "Only one key allowed in match expression", 31},
		{`{"a":[{"prefix":1}]}`, "prefix match pattern must be a string", 18},
		{`{"a":[{"suffix":["x"]}]}`, "suffix match pattern must be a string", 18},
		{`{"a":[{"prefix":{"suffix":"x"}}]}`, "Unsupported prefix pattern: suffix", 28},
		{`{"a":[{"suffix":{}}]}`, "Suffix expression name not found", 19},
		{`{"a":[{"prefix":{"equals-ignore-case":["x"]}}]}`, "equals-ignore-case match pattern must be a string", 40},
		{`{"a":[{"equals-ignore-case":["x"]}]}`, "equals-ignore-case match pattern must be a string", 30},
		{`{"a":[{"exists":"true"}]}`, "exists match pattern must be either true or false.", 18},
		{`{"a":[{"wildcard":3}]}`, "wildcard match pattern must be a string", 20},
		{`{"a":[{"wildcard":"a**"}]}`, "Consecutive wildcard characters at pos 2", 24},
		{`{"a":[{"wildcard":"a\\b"}]}`, "Invalid escape character at pos 2", 25},
		{`{"a":[{"wildcard":"*:*:*:*:*:event-bus/*"}]}`, tooComplex, 0},
		{`{"a":[{"anything-but":{"wildcard":["x","*:*:*:*:*:event-bus/*"]}}]}`, tooComplex, 0},
		{`{"a":[{"anything-but":{"wildcard":"**"}}]}`, "Consecutive wildcard characters at pos 1", 39},
		{`{"a":[{"anything-but":null}]}`, "Value of anything-but must be an array or single string/number value.", 27},
		{`{"a":[{"anything-but":["x",1]}]}`, "Inside anything but list, either all values are number or string, mixed type is not supported", 30},
		{`{"a":[{"anything-but":[]}]}`, "Inside anything but list, either all values are number or string, mixed type is not supported", 25},
		{`{"a":[{"anything-but":[null]}]}`, "Inside anything but list, start|null|boolean is not supported.", -28},
		{`{"a":[{"anything-but":{"numeric":["=",1]}}]}`, "Unsupported anything-but pattern: numeric", 35},
		{`{"a":[{"anything-but":{}}]}`, "Anything-But expression name not found", 25},
		{`{"a":[{"anything-but":{"prefix":""}}]}`, "Null prefix/suffix not allowed", 35},
		{`{"a":[{"anything-but":{"prefix":7}}]}`, "prefix/suffix match pattern must be a string", 34},
		{`{"a":[{"anything-but":{"prefix":["a",""]}}]}`, "Null prefix/suffix not allowed", -40},
		{`{"a":[{"anything-but":{"equals-ignore-case":[1]}}]}`,
			"Inside anything-but/equals-ignore-case list, number|start|null|boolean is not supported.", -47},
		{`{"a":[{"anything-but":{"prefix":"x","suffix":"y"}}]}`, "Too many elements in numeric expression", 47},
		{`{"a":[{"anything-but":6000000000}]}`, "Value must be between -5.0E9 and 5.0E9, inclusive", 0},
		{`{"a":[{"numeric":">5"}]}`, "Value of numeric must be an array.", 19},
		{`{"a":[{"numeric":[5]}]}`, "Invalid member in numeric match: 5", 20},
		{`{"a":[{"numeric":["=","5"]}]}`, "Value of equals must be numeric", 24},
		{`{"a":[{"numeric":[">","5"]}]}`, "Value of > must be numeric", 24},
		{`{"a":[{"numeric":["==",5]}]}`, "Unrecognized numeric range operator: ==", 25},
		{`{"a":[{"numeric":["<",5,">",1]}]}`, "Too many elements in numeric expression", 26},
		{`{"a":[{"numeric":[">",5,"=",1]}]}`, "Bad numeric range operator: =", 28},
		{`{"a":[{"numeric":[">",5,"<",5]}]}`, "Bottom must be less than top", 31},
		{`{"a":[{"numeric":[">",1,"<",5,"<",6]}]}`, "Too many terms in numeric range expression", 32},
		{`{"a":[{"numeric":["=",6e9]}]}`, "Value must be between -5.0E9 and 5.0E9, inclusive", 27},
		{`{"a":[{"cidr":"10.0.0.0"}]}`, "Malformed CIDR, one '/' required", 0},
		{`{"a":[{"cidr":"10.0.0.0/x"}]}`, "Malformed CIDR, mask bits must be an integer", 0},
		{`{"a":[{"cidr":"10.0.0.0/-1"}]}`, "Malformed CIDR, mask bits must not be negative", 0},
		{`{"a":[{"cidr":"10.0.0.0/32"}]}`, "IPv4 mask bits must be < 32", 0},
		{`{"a":[{"cidr":"2001::/128"}]}`, "IPv6 mask bits must be < 128", 0},
		{`{"a":[{"cidr":"xx.11.0.0/8"}]}`, "Nonstandard IP address: xx.11.0.0", 0},
		{`{"a":[{"cidr":["10.0.0.0/8"]}]}`, "prefix match pattern must be a string", 16},
		{`{"$or":{"a":["x"]}}`, "It must be an Array followed with $or.", 9},
		{`{"$or":[{"a":["x"]}]}`, "There must have at least 2 Objects in $or relationship.", 21},
		{`{"$or":["x",{"a":["x"]}]}`, "Only JSON object is allowed in array of $or relationship.", 10},
		{`{"$or":[{"prefix":["x"]},{"a":["x"]}]}`, "prefix is Ruler reserved fieldName which cannot be used inside $or.", 20},
		{`{"a":["ä"], "b": 1}`, `"b" must be an object or an array`, 19},
	} {
		_, err := eventpattern.Compile(c.pattern, eventpattern.Limits{})
		var refused *eventpattern.Error
		if !errors.As(err, &refused) {
			t.Errorf("%s is accepted: %v", c.pattern, err)
			continue
		}
		want, times, column := c.brief, 1, c.at
		if c.at < 0 {
			times, column = 2, -c.at
		}
		if c.at != 0 {
			want += strings.Repeat(fmt.Sprintf("\n at [Source: (String)%q; line: 1, column: %d]", "§", column), times)
			want = strings.ReplaceAll(want, "§", c.pattern)
		}
		if refused.Reason != want || refused.Brief != c.brief || refused.Column != column {
			t.Errorf("%s:\ngot  %s\nwant %s", c.pattern, refused.Reason, want)
		}
	}
	_, err := eventpattern.Compile("{\n  \"a\": [1,\n", eventpattern.Limits{})
	if err == nil || !strings.HasPrefix(err.Error(), "Unexpected end-of-input") || !strings.Contains(err.Error(), "line: 3") {
		t.Errorf("%v", err)
	}
	_, err = eventpattern.Compile("{\n  \"a\": \"x\"\n}", eventpattern.Limits{})
	if err == nil || !strings.HasSuffix(err.Error(), "line: 2, column: 9]") {
		t.Errorf("%v", err)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	long := `{"a":["` + strings.Repeat("x", eventpattern.MaxBytes-10) + `"]}`
	compiled(t, long[:len(long)-3]+`"]}`)
	_, err := eventpattern.Compile(long+" ", eventpattern.Limits{})
	if err == nil || err.Error() != "The pattern has 2049 bytes; it may have 2048" {
		t.Errorf("%v", err)
	}
	if _, err = eventpattern.Compile(long+" ", eventpattern.Limits{Bytes: 4096}); err != nil {
		t.Errorf("%v", err)
	}
	ten := `"$or":[` + strings.TrimSuffix(strings.Repeat(`{"a":[1]},`, 10), ",") + `]`
	thousand := "{" + ten + "," + ten + "," + ten
	if p := compiled(t, thousand+"}"); p.Branches() != 1000 {
		t.Errorf("%d branches", p.Branches())
	}
	_, err = eventpattern.Compile(thousand+`,"$or":[{"a":[1]},{"a":[2]}]}`, eventpattern.Limits{})
	if err == nil || !strings.HasPrefix(err.Error(), "The $or relationships make more than 1000 combinations") {
		t.Errorf("%v", err)
	}
	p := compiled(t, `{"d":{"y":[1,2,3]},"a.b":[1,{"exists":false}],"$or":[{"z":[1]},{"z":[1,2]}]}`)
	if got := p.Fields(); !slices.Equal(got, []string{"a.b", "d.y", "z"}) || p.Values() != 3*2*1+3*2*2 {
		t.Errorf("%v, %d", got, p.Values())
	}
}

// TestNumbersCompareAsNumbers compares with integer arithmetic.
func TestNumbersCompareAsNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		millionths := rapid.Int64Range(-5_000_000_000_000_000, 5_000_000_000_000_000)
		n, bound := millionths.Draw(t, "n"), millionths.Draw(t, "bound")
		if rapid.Bool().Draw(t, "equal") {
			n = bound
		}
		operator := rapid.SampledFrom([]string{"<", "<=", "=", ">=", ">"}).Draw(t, "operator")
		p, err := eventpattern.Compile(fmt.Sprintf(`{"a":[{"numeric":[%q,%s]}]}`, operator, decimal(bound)), eventpattern.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]bool{"<": n < bound, "<=": n <= bound, "=": n == bound, ">=": n >= bound, ">": n > bound}[operator]
		for _, text := range []string{decimal(n), fmt.Sprintf("%de-6", n), fmt.Sprintf("%d.0E-6", n)} {
			if v, _ := jsonvalue.Parse(`{"a":` + text + `}`); p.Match(v) != want {
				t.Errorf("%s %s %s is not %v", text, operator, decimal(bound), want)
			}
		}
	})
}

func decimal(millionths int64) string {
	sign := ""
	if millionths < 0 {
		sign, millionths = "-", -millionths
	}
	return fmt.Sprintf("%s%d.%06d", sign, millionths/1e6, millionths%1e6)
}

// TestAnythingButIsTheOpposite checks that a single value matches either a test or its negation, but never both.
func TestAnythingButIsTheOpposite(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		test := rapid.SampledFrom([]string{"prefix", "suffix", "wildcard", "equals-ignore-case"}).Draw(t, "test")
		operand := rapid.StringMatching(`[abAB]{1,3}`).Draw(t, "operand")
		value := rapid.StringMatching(`[abAB]{0,4}`).Draw(t, "value")
		match := func(pattern string) bool {
			p, err := eventpattern.Compile(pattern, eventpattern.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			v, _ := jsonvalue.Parse(fmt.Sprintf(`{"a":%q}`, value))
			return p.Match(v)
		}
		if match(fmt.Sprintf(`{"a":[{%q:%q}]}`, test, operand)) ==
			match(fmt.Sprintf(`{"a":[{"anything-but":{%q:[%q]}}]}`, test, operand)) {
			t.Errorf("%s %q of %q", test, operand, value)
		}
	})
}

func FuzzCompile(f *testing.F) {
	f.Add(`{"a":[{"numeric":[">",0,"<",5]},{"cidr":"::/3"}],"$or":[{"b":[{"wildcard":"a*"}]},{"c":[null]}]}`, `{"a":[{"b":[1]}]}`)
	f.Fuzz(func(t *testing.T, pattern, event string) {
		p, err := eventpattern.Compile(pattern, eventpattern.Limits{})
		var refused *eventpattern.Error
		if err != nil && (!errors.As(err, &refused) || refused.Reason == "") {
			t.Fatalf("%v", err)
		}
		if v, wrong := jsonvalue.Parse(event); err == nil && wrong == nil {
			p.Match(v)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	p := compiled(b, `{"source":["aws.s3"],"detail-type":["Object Created"],"detail":{"bucket":{"name":["uploads"]},`+
		`"object":{"key":[{"suffix":".csv"}],"size":[{"numeric":[">",0]}]}}}`)
	v := parsed(b, `{"version":"0","id":"17793124-05d4-b198-2fde-7ededc63b103","detail-type":"Object Created",`+
		`"source":"aws.s3","account":"000000000000","time":"2026-11-22T00:00:00Z","region":"us-east-1",`+
		`"resources":["arn:aws:s3:::uploads"],"detail":{"version":"0","bucket":{"name":"uploads"},"object":`+
		`{"key":"in/a.csv","size":5,"etag":"b1946ac92492d2347c6235b4d2611184","sequencer":"00617F08299329D189"}}}`)
	b.ReportAllocs()
	for b.Loop() {
		if !p.Match(v) {
			b.Fatal("no match")
		}
	}
}
