package lazyregexp_test

import (
	"slices"
	"testing"

	"stepback/internal/lazyregexp"
)

func TestRegexp(t *testing.T) {
	t.Parallel()
	r := lazyregexp.New(`(\w+)@(\w+)`)
	const text = "a@b, c@d"
	if !r.MatchString(text) || r.MatchString("a") {
		t.Error("MatchString")
	}
	if got := r.FindString(text); got != "a@b" {
		t.Errorf("FindString: %q", got)
	}
	if got := r.FindStringIndex(text); !slices.Equal(got, []int{0, 3}) {
		t.Errorf("FindStringIndex: %v", got)
	}
	if got := r.FindStringSubmatch(text); !slices.Equal(got, []string{"a@b", "a", "b"}) {
		t.Errorf("FindStringSubmatch: %q", got)
	}
	if got := r.FindStringSubmatchIndex(text); !slices.Equal(got, []int{0, 3, 0, 1, 2, 3}) {
		t.Errorf("FindStringSubmatchIndex: %v", got)
	}
	if got := r.FindSubmatch([]byte(text)); len(got) != 3 || string(got[2]) != "b" {
		t.Errorf("FindSubmatch: %q", got)
	}
	if got := r.FindAllString(text, -1); !slices.Equal(got, []string{"a@b", "c@d"}) {
		t.Errorf("FindAllString: %q", got)
	}
	if got := r.FindAllStringSubmatch(text, 1); len(got) != 1 || !slices.Equal(got[0], []string{"a@b", "a", "b"}) {
		t.Errorf("FindAllStringSubmatch: %q", got)
	}
	if got := r.FindAllStringSubmatchIndex(text, -1); len(got) != 2 || got[1][0] != 5 {
		t.Errorf("FindAllStringSubmatchIndex: %v", got)
	}
	if got := r.FindAllSubmatchIndex([]byte(text), -1); len(got) != 2 || got[1][1] != 8 {
		t.Errorf("FindAllSubmatchIndex: %v", got)
	}
	if got := r.ReplaceAllString(text, "$2@$1"); got != "b@a, d@c" {
		t.Errorf("ReplaceAllString: %q", got)
	}
	if got := r.ReplaceAllStringFunc(text, func(s string) string { return "<" + s + ">" }); got != "<a@b>, <c@d>" {
		t.Errorf("ReplaceAllStringFunc: %q", got)
	}
	if got := r.Split("1 a@b 2", -1); !slices.Equal(got, []string{"1 ", " 2"}) {
		t.Errorf("Split: %q", got)
	}
}

func TestInvalidPattern(t *testing.T) {
	t.Parallel()
	r := lazyregexp.New(`(`)
	defer func() {
		if recover() == nil {
			t.Error("an invalid pattern was accepted")
		}
	}()
	r.MatchString("a")
}
