package server

import (
	"regexp"
	"strings"
	"testing"
)

// Patterns matched without package regexp give the same results as with it.
func TestPatternsOfCharacters(t *testing.T) {
	t.Parallel()
	texts := []string{"", "a", "Z", "a-b_c.d", "é", "a\n", "\n", "aé", strings.Repeat("a", 64), strings.Repeat("a", 65), "\x7f", "\xff",
		"a b", "0123456789"}
	for text, fast := range map[string]bool{
		`[a-zA-Z0-9_.-]+`: true, `[a-zA-Z0-9]{1,64}`: true, `[a-z]*`: true, `^[0-9]{2,}$`: true, `([a-z]+)`: true,
		`\d{10}`: true, `[\x00-\x7f]*`: true, `[^a]+`: false, `a+`: false, `[a-z]+-[a-z]+`: false, `.+`: false,
		`[a-z]+|[0-9]+`: false, `(?i)[a-z]+`: false, `[a-z]+?`: true, `[\s\S]*`: false, `[a-z]+$^`: false,
	} {
		p, err := compilePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, is := p.(*characters); is != fast {
			t.Errorf("%s: %v matched by characters, want %v", text, is, fast)
		}
		r := regexp.MustCompile(`\A(?:` + text + `)\z`)
		for _, s := range texts {
			if got, want := p.MatchString(s), r.MatchString(s); got != want {
				t.Errorf("%s and %q: %v, want %v", text, s, got, want)
			}
		}
	}
}

// TestPatternsWithLookaheads tests the forms of lookaheads that models have.
func TestPatternsWithLookaheads(t *testing.T) {
	t.Parallel()
	for text, matches := range map[string]map[string]bool{
		`^(?=.*[a-zA-Z_\-\.])[a-zA-Z0-9_\-\.]+$`: {"live": true, "v-7": true, "7.": true, "7": false, "two words": false,
			"!x": false, "x@": false, "": false},
		`^(?!\s*$).+`:                 {"x": true, " x": true, "{\n}": true, " ": false, "\n": false, "": false},
		`((?!^\d+$)^[0-9a-zA-Z-_]+$)`: {"live": true, "7a": true, "77": false, "a b": false},
		`(?=a)(?!ab)[a-z]+`:           {"ac": true, "ab": false, "ba": false},
		`(?=[)(])[()]+`:               {")(": true, "x": false},
		`^(?=a)a|b$`:                  nil, // which alternative has the lookahead?
		`[a-z](?=b)b`:                 nil,
		`(?<!a)b`:                     nil,
		`(?=a`:                        nil,
	} {
		p, err := compilePattern(text)
		if (err != nil) != (matches == nil) {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for s, want := range matches {
			if got := p.MatchString(s); got != want {
				t.Errorf("%s and %q: %v, want %v", text, s, got, want)
			}
		}
	}
}
