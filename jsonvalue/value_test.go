package jsonvalue_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"stepback/jsonvalue"
)

func ExampleParse() {
	v, err := jsonvalue.Parse(`{"b": 1.0, "a": 12345678901234567890}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.JSON())
	// Output: {"b":1.0,"a":12345678901234567890}
}

func TestParseAndPrint(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`null`:                     `null`,
		` true `:                   `true`,
		`-0.50e+10`:                `-0.50e+10`,
		`"a\u0041\ud83d\ude00\n/"`: `"aA😀\n/"`,
		`"\ud800x"`:                "\"\uFFFDx\"",
		`"\u001f"`:                 `"\u001F"`,
		`[ 1 , [ ] , { } ]`:        `[1,[],{}]`,
		`{"a":1,"b":2,"a":3}`:      `{"a":3,"b":2}`,
		`"<>&é"`:                   `"<>&é"`,
	} {
		v, err := jsonvalue.Parse(in)
		if err != nil {
			t.Errorf("Parse(%s): %v", in, err)
			continue
		}
		if got := v.JSON(); got != want {
			t.Errorf("Parse(%s) prints %s, want %s", in, got, want)
		}
	}
}

func TestParseErrorsNameThePlace(t *testing.T) {
	t.Parallel()
	const values = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"
	for in, want := range map[string]string{
		"{\n \"a\" 1}":  `Unexpected character ('1' (code 49)): was expecting a colon to separate field name and value at line 2, column 6`,
		`{"a"`:          `Unexpected end-of-input within/between Object entries at line 1, column 5`,
		`{"a":`:         `Unexpected end-of-input within/between Object entries at line 1, column 6`,
		`{"a":}`:        `Unexpected character ('}' (code 125)): expected a value at line 1, column 6`,
		`{"a":1`:        `Unexpected end-of-input: expected close marker for Object (start marker at [line: 1, column: 1]) at line 1, column 7`,
		`{`:             `Unexpected end-of-input: expected close marker for Object (start marker at [line: 1, column: 1]) at line 1, column 2`,
		`{"a":1,`:       `Unexpected end-of-input within/between Object entries at line 1, column 8`,
		`{"a":1,}`:      `Unexpected character ('}' (code 125)): was expecting double-quote to start field name at line 1, column 8`,
		`{'a':1}`:       `Unexpected character (''' (code 39)): was expecting double-quote to start field name at line 1, column 2`,
		`{"a":1 "b":2}`: `Unexpected character ('"' (code 34)): was expecting comma to separate Object entries at line 1, column 8`,
		`{"a":1]`:       `Unexpected close marker ']': expected '}' (for Object starting at [line: 1, column: 1]) at line 1, column 7`,
		`[1 2]`:         `Unexpected character ('2' (code 50)): was expecting comma to separate Array entries at line 1, column 4`,
		" [":            `Unexpected end-of-input: expected close marker for Array (start marker at [line: 1, column: 2]) at line 1, column 3`,
		`[1,`:           `Unexpected end-of-input within/between Array entries at line 1, column 4`,
		`[1}`:           `Unexpected close marker '}': expected ']' (for Array starting at [line: 1, column: 1]) at line 1, column 3`,
		`[1,]`: `Unexpected character (']' (code 93)): expected a valid value ` + values +
			` at line 1, column 4`,
		`€`: `Unexpected character ('€' (code 8364 / 0x20ac)): expected a valid value ` + values +
			` at line 1, column 1`,
		`01`:            `Invalid numeric value: Leading zeroes not allowed at line 1, column 1`,
		`-x`:            `Unexpected character ('x' (code 120)) in numeric value: expected digit (0-9) to follow minus sign, for valid numeric value at line 1, column 2`,
		`1.`:            `Unexpected end-of-input in a Number value: Decimal point not followed by a digit at line 1, column 3`,
		`1e+z`:          `Unexpected character ('z' (code 122)) in numeric value: Exponent indicator not followed by a digit at line 1, column 4`,
		`"\x"`:          `Unrecognized character escape 'x' (code 120) at line 1, column 2`,
		`"\u00g0"`:      `Unexpected character ('g' (code 103)): expected a hex-digit for character escape sequence at line 1, column 6`,
		"\"a\nb\"":      `Illegal unquoted character ((CTRL-CHAR, code 10)): has to be escaped using backslash to be included in string value at line 1, column 3`,
		`"a`:            `Unexpected end-of-input: was expecting closing quote for a string value at line 1, column 3`,
		`"\`:            `Unexpected end-of-input in character escape sequence at line 1, column 2`,
		`"\u00`:         `Unexpected end-of-input in character escape sequence at line 1, column 6`,
		`{} {}`:         `Unexpected character ('{' (code 123)): expected the end of the text after the value at line 1, column 4`,
		`{} more`:       `Unrecognized token 'more': was expecting ` + values + ` at line 1, column 4`,
		`nul`:           `Unrecognized token 'nul': was expecting ` + values + ` at line 1, column 1`,
		`nullable`:      `Unrecognized token 'nullable': was expecting ` + values + ` at line 1, column 1`,
		`not some json`: `Unrecognized token 'not': was expecting ` + values + ` at line 1, column 1`,
		`[True]`:        `Unrecognized token 'True': was expecting ` + values + ` at line 1, column 2`,
		``:              `Unexpected end-of-input: expected a value at line 1, column 1`,
	} {
		_, err := jsonvalue.Parse(in)
		if err == nil || err.Error() != want {
			t.Errorf("Parse(%q) = %v, want %s", in, err, want)
		}
	}
}

func TestDeepNestingIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := jsonvalue.Parse(strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)); err == nil {
		t.Error("10,000 levels were accepted")
	}
	if _, err := jsonvalue.Parse(strings.Repeat("[", 1000) + strings.Repeat("]", 1000)); err != nil {
		t.Errorf("1,000 levels: %v", err)
	}
}

func TestEqualAndCompare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true},
		{`100`, `1e2`, true},
		{`9007199254740993`, `9007199254740992`, false},
		{`{"a":1,"b":[2]}`, `{"b":[2.0],"a":1}`, true},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`"1"`, `1`, false},
		{`1e999`, `2e999`, true}, // beyond the exact range both are infinite
	} {
		if got := jsonvalue.Equal(must(t, c.a), must(t, c.b)); got != c.want {
			t.Errorf("Equal(%s, %s) = %v", c.a, c.b, got)
		}
	}
}

func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int64{`2`: 2, `2.0`: 2, `2e3`: 2000, `-7`: -7} {
		if got, ok := must(t, in).Int(); !ok || got != want {
			t.Errorf("%s.Int() = %d, %v", in, got, ok)
		}
	}
	for _, in := range []string{`2.5`, `9223372036854775808`, `1e400`, `"2"`} {
		if got, ok := must(t, in).Int(); ok {
			t.Errorf("%s.Int() = %d, want none", in, got)
		}
	}
}

func TestChangesLeaveTheOriginalAlone(t *testing.T) {
	t.Parallel()
	v := must(t, `{"a":[1,2],"b":3}`)
	a, _ := v.Get("a")
	changed := v.With("a", a.WithIndex(1, jsonvalue.OfString("x"))).With("c", jsonvalue.Value{})
	if got := changed.JSON(); got != `{"a":[1,"x"],"b":3,"c":null}` {
		t.Error(got)
	}
	if got := v.JSON(); got != `{"a":[1,2],"b":3}` {
		t.Error("the original changed:", got)
	}
}

func TestLargeObjectsAreIndexed(t *testing.T) {
	t.Parallel()
	b := jsonvalue.NewObject(0)
	for i := range 100 {
		b.Set(fmt.Sprint("k", i), jsonvalue.OfInt(int64(i)))
	}
	b.Set("k50", jsonvalue.OfInt(-1))
	v := b.Value()
	if got, _ := v.Get("k50"); v.Len() != 100 || got.Text() != "-1" {
		t.Errorf("len %d, k50 %s", v.Len(), got.Text())
	}
	if _, ok := v.Get("nope"); ok {
		t.Error("found a member that is not there")
	}
}

func TestJSONUpTo(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`null`, `"é\n"`, `12.50`, `[]`, `{}`, `[1,[2,{"a":[true,false]}],"x"]`,
		`{"a":{"b":[1,2,3]},"c":"d"}`} {
		v, err := jsonvalue.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		want := v.JSON()
		for limit := range len(want) + 2 {
			got, ok := v.JSONUpTo(limit)
			if ok != (limit >= len(want)) || ok && got != want {
				t.Errorf("%s up to %d: %q %v", text, limit, got, ok)
			}
		}
	}
}

// TestJSONUpToOfSharedParts uses a value whose text would have 2^40 elements.
func TestJSONUpToOfSharedParts(t *testing.T) {
	t.Parallel()
	v := jsonvalue.OfInt(1)
	for range 40 {
		v = jsonvalue.OfArray([]jsonvalue.Value{v, v})
	}
	if text, ok := v.JSONUpTo(1000); ok || text != "" {
		t.Errorf("%d bytes", len(text))
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.50,"\u00e9"]}`, `"\ud83d\ude00"`, `[[[[`, `1e+`, "\"\xff\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := jsonvalue.Parse(s)
		if err != nil {
			return
		}
		if !json.Valid([]byte(s)) {
			t.Fatalf("accepted %q, which is not JSON", s)
		}
		again, err := jsonvalue.Parse(v.JSON())
		if err != nil || again.JSON() != v.JSON() {
			t.Fatalf("%q prints as %q, which reads as %q, %v", s, v.JSON(), again.JSON(), err)
		}
	})
}

func must(t *testing.T, s string) jsonvalue.Value {
	t.Helper()
	v, err := jsonvalue.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func BenchmarkParse(b *testing.B) {
	const doc = `{"user_id":"u000001","login_count":"12","post_count":"3","nested":{"a":[1,2,3],"b":null,"c":true}}`
	b.ReportAllocs()
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if _, err := jsonvalue.Parse(doc); err != nil {
			b.Fatal(err)
		}
	}
}

func TestSyntaxErrorsInTwoLines(t *testing.T) {
	t.Parallel()
	const values = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"
	long := `{"a": ` + strings.Repeat("1", 600) + `!`
	for text, want := range map[string]string{
		"not a definition": `Unrecognized token 'not': was expecting ` + values + "\n at [Source: (String)\"not a definition\"; line: 1, column: 4]",
		`{"seq": [1, 3, e]}`: `Unrecognized token 'e': was expecting ` + values +
			"\n at [Source: (String)\"{\"seq\": [1, 3, e]}\"; line: 1, column: 17]",
		`{"boardId": """}`: `Unexpected character ('"' (code 34)): was expecting comma to separate Object entries` +
			"\n at [Source: (String)\"{\"boardId\": \"\"\"}\"; line: 1, column: 16]",
		long: `Unexpected character ('!' (code 33)): was expecting comma to separate Object entries` + "\n at [Source: (String)\"" +
			long[:500] + "\"[truncated 107 chars]; line: 1, column: 608]",
	} {
		_, err := jsonvalue.Parse(text)
		var syntax *jsonvalue.SyntaxError
		if !errors.As(err, &syntax) {
			t.Fatalf("%s: %v", text, err)
		}
		if got := syntax.TwoLines(text); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
