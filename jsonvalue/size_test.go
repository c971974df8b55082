package jsonvalue_test

import (
	"strings"
	"testing"

	"stepback/jsonvalue"
)

func TestFitsIn(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`null`, `true`, `false`, `-1.50`, `""`, `"a\n\u0001é😀\""`, `[]`, `[1,"x",[null]]`, `{}`,
		`{"a":1,"b\t":{"c":[]}}`,
	} {
		v := must(t, text)
		n := len(v.JSON())
		if !v.FitsIn(n) || v.FitsIn(n-1) {
			t.Errorf("%s has %d bytes, FitsIn says %v and, for one less, %v", text, n, v.FitsIn(n), v.FitsIn(n-1))
		}
	}
	if broken := jsonvalue.OfString("a\xffb"); !broken.FitsIn(len(broken.JSON())) ||
		broken.FitsIn(len(broken.JSON())-1) {
		t.Error("a string that is not UTF-8 is counted wrongly")
	}
}

func TestFitsInStopsEarly(t *testing.T) {
	t.Parallel()
	v := jsonvalue.OfString(strings.Repeat("x", 100))
	for range 60 { // 2^60 leaves, unless it stops
		v = jsonvalue.OfArray([]jsonvalue.Value{v, v})
	}
	if v.FitsIn(1 << 20) {
		t.Error("a tree of 2^60 leaves fits in a megabyte")
	}
}
