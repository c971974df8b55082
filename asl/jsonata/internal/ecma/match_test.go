package ecma_test

import (
	"errors"
	"slices"
	"testing"
	"unicode/utf16"

	"stepback/asl/jsonata/internal/ecma"
)

func match(t *testing.T, pattern, text string, ignoreCase, multiline bool) []int {
	t.Helper()
	re, err := ecma.Compile(utf16.Encode([]rune(pattern)), ignoreCase, multiline)
	if err != nil {
		t.Fatalf("/%s/: %v", pattern, err)
	}
	steps := 10_000_000
	at, err := re.Match(utf16.Encode([]rune(text)), 0, &steps)
	if err != nil {
		t.Fatalf("/%s/ on %q: %v", pattern, text, err)
	}
	return at
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, text string
		want          []int
	}{
		{`b+`, "abbc", []int{1, 3}},
		{`b+?`, "abbc", []int{1, 2}},
		{`(a|ab)(c|bcd)(d*)`, "abcd", []int{0, 4, 0, 1, 1, 4, 4, 4}},
		{`(z)((a+)?(b+)?(c))*`, "zaacbbbcac", []int{0, 10, 0, 1, 8, 10, 8, 9, -1, -1, 9, 10}},
		{`(?=(a+))a*b\1`, "baaabac", []int{3, 6, 3, 4}},
		{`(?<=\$)\d+`, "a$42", []int{2, 4}},
		{`(?<!a)b`, "abb", []int{2, 3}},
		{`(?<=(\d+)(\d+))$`, "1053", []int{4, 4, 0, 1, 1, 4}},
		{`(?<y>\d{4})-\k<y>`, "2024-2024", []int{0, 9, 0, 4}},
		{`\bfoo\b`, "a foo", []int{2, 5}},
		{`[^]`, "\n", []int{0, 1}},
		{`[]`, "a", nil},
		{`a{,2}`, "a{,2}", []int{0, 5}},
		{`\u0041\x42\103`, "ABC", []int{0, 3}},
		{`.`, "😀", []int{0, 1}},
		{`(?:a*)*`, "b", []int{0, 0}},
		{`[\d-x]+`, "1-x", []int{0, 3}},
	} {
		if got := match(t, c.pattern, c.text, false, false); !slices.Equal(got, c.want) {
			t.Errorf("/%s/ on %q = %v, want %v", c.pattern, c.text, got, c.want)
		}
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	if got := match(t, `^B[c-d]$`, "a\nbD\n", true, true); !slices.Equal(got, []int{2, 4}) {
		t.Error(got)
	}
	// The Kelvin sign does not match k, because that would turn it into ASCII.
	if got := match(t, `k`, "\u212a", true, false); got != nil {
		t.Error(got)
	}
}

func TestCompileErrors(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		`(`: "Unterminated group", `a)`: "Unmatched ')'", `*`: "Nothing to repeat", `(?i)a`: "Invalid group",
		`[b-a]`: "Range out of order in character class",
		`[a`:    "Unterminated character class", `a{2,1}`: "numbers out of order in {} quantifier",
		`\`: `\ at end of pattern`, `(?<a>x)(?<a>y)`: "Duplicate capture group name",
		`(?<=a)*`: "Invalid quantifier", `(?<1>a)`: "Invalid capture group name",
	} {
		if _, err := ecma.Compile(utf16.Encode([]rune(pattern)), false, false); err == nil || err.Error() != want {
			t.Errorf("/%s/: %v, want %s", pattern, err, want)
		}
	}
}

func TestStepsAreBounded(t *testing.T) {
	t.Parallel()
	re, err := ecma.Compile(utf16.Encode([]rune(`^(a+)+$`)), false, false)
	if err != nil {
		t.Fatal(err)
	}
	steps := 100_000
	if _, err := re.Match(utf16.Encode([]rune("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!")), 0, &steps); !errors.Is(err,
		ecma.ErrSteps) {
		t.Error("the error is", err)
	}
}

func FuzzMatch(f *testing.F) {
	f.Add(`(?<=a)(b|c)*?\1{2,3}[^\d-z]`, "aabbcc", true)
	f.Add(`(?<n>\k<n>)+$`, "\n\u212a", false)
	f.Fuzz(func(t *testing.T, pattern, text string, flag bool) {
		re, err := ecma.Compile(utf16.Encode([]rune(pattern)), flag, !flag)
		if err != nil {
			return
		}
		in := utf16.Encode([]rune(text))
		steps := 100_000
		at, err := re.Match(in, 0, &steps)
		if err != nil && !errors.Is(err, ecma.ErrSteps) {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(at); i += 2 {
			if at[i] > at[i+1] || at[i+1] > len(in) {
				t.Fatalf("/%s/ on %q = %v", pattern, text, at)
			}
		}
	})
}
