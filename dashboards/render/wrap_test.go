package render

import (
	"slices"
	"testing"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text           string
		letters, lines int
		want           []string
	}{
		{"", 10, 2, []string{""}},
		{"as it is", 10, 2, []string{"as it is"}},
		{"broken between words", 10, 3, []string{"broken", "between", "words"}},
		{"two lines and what is left", 10, 2, []string{"two lines", "and what …"}},
		{"a incomprehensibilities", 10, 3, []string{"a", "incompreh…"}},
		{"利用者の 数が 多い", 6, 2, []string{"利用者の", "数が 多い"}},
	} {
		if got := wrap(c.text, c.letters, c.lines); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d lines of %d is %q, want %q", c.text, c.lines, c.letters, got, c.want)
		}
	}
}
