package logs

import (
	"testing"
)

func TestParsePattern(t *testing.T) {
	t.Parallel()
	const record = `{"id":"3","type":"ExecutionFailed","n":5,"details":{"error":"States.Timeout","list":[{"ok":true}]},"none":null}`
	for pattern, want := range map[string]struct{ good, matches bool }{
		"":                                     {true, true},
		"Timeout":                              {true, true},
		"Timeout -ExecutionFailed":             {true, false},
		`"ExecutionFailed\",\"n" id`:           {true, true},
		`"\"n\":5"`:                            {true, true},
		"?Nothing ?Timeout":                    {true, true},
		"?Nothing ?Else":                       {true, false},
		"%Execution(Failed|Aborted)%":          {true, true},
		"%(%":                                  {false, false},
		"[a, b":                                {false, false},
		`{ $.type = "ExecutionFailed" }`:       {true, true},
		`{ $.type = "Execution*" && $.n > 4 }`: {true, true},
		`{ $.type != ExecutionFailed || $.n <= 4 }`:                        {true, false},
		`{ ($.type = Nothing || $.n = 5) && $.details.error = *.Timeout }`: {true, true},
		`{ $.details.list[0].ok IS TRUE }`:                                 {true, true},
		`{ $.none IS NULL && $.never NOT EXISTS }`:                         {true, true},
		`{ $['type'] EXISTS }`:                                             {true, true},
		`{ $.n = "5" }`:                                                    {true, false},
		`{ $.n < }`:                                                        {false, false},
		`{ $.n LIKE 5 }`:                                                   {false, false},
		`{ $.type < "a" }`:                                                 {false, false},
		`{ type = 1 }`:                                                     {false, false},
		`{ ($.n = 5 }`:                                                     {false, false},
		`{ $.n = 5`:                                                        {false, false},
		`{}`:                                                               {false, false},
	} {
		matches, err := parsePattern(pattern)
		if (err == nil) != want.good {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		if err == nil && matches(record) != want.matches {
			t.Errorf("%s: %v", pattern, !want.matches)
		}
	}
	matches, err := parsePattern(`{ $.n = 5 }`)
	if err != nil || matches("not JSON") {
		t.Error("what is no JSON matches a JSON pattern")
	}
}

func FuzzParsePattern(f *testing.F) {
	f.Add(`{ ($.a[0].b = "x*" || $.n >= 1.5) && $.c NOT EXISTS }`, `{"n":2}`)
	f.Add(`?a -"b c" d`, "a d")
	f.Fuzz(func(_ *testing.T, pattern, message string) {
		if matches, err := parsePattern(pattern); err == nil {
			matches(message)
		}
	})
}

func TestStarsInJSONPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, text string
		same          bool
	}{
		{`*`, "", true}, {`a*`, "a", true}, {`a*a`, "a", false}, {`a*a`, "aa", true}, {`*b*`, "abc", true},
		{`*b*d*`, "abcd\nx", true},
		{`*d*b*`, "abcd", false}, {`a*b*b`, "ab", false}, {`"a.c"`, "abc", false}, {"\xf0*", "\xf0z", true},
		{`**`, "x", true},
	} {
		if wildcard(c.pattern)(c.text) != c.same {
			t.Errorf("%q is the same as %q: %v", c.text, c.pattern, !c.same)
		}
	}
}
