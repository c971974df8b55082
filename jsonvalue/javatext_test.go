package jsonvalue_test

import (
	"math"
	"slices"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"stepback/jsonvalue"
)

func TestAppendJava(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"Arg1":1,"Arg2":[]}`:             `{Arg1=1, Arg2=[]}`,
		`{"a":{"b":"x y"},"c":[1,"z",{}]}`: `{a={b=x y}, c=[1, z, {}]}`,
		`"plain"`:                          `plain`,
		`null`:                             `null`,
		`1.50`:                             `1.50`,
	} {
		if got := string(must(t, in).AppendJava(nil)); got != want {
			t.Errorf("AppendJava(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestOfFloatWritesLikeJava(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]string{
		0: "0.0", 15: "15.0", -2.5: "-2.5", 0.001: "0.001", 1e7: "1.0E7", 1.25e10: "1.25E10", 2.5e-4: "2.5E-4",
		9999999: "9999999.0",
		1e100:   "1.0E100", math.Inf(1): "",
	} {
		if got := jsonvalue.OfFloat(f).Text(); got != want {
			t.Errorf("OfFloat(%g) = %s, want %s", f, got, want)
		}
	}
}

func TestCompareUTF16(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune{'a', 'b', 'é', '😀', '\uE000', '\uFFFD', '\U0010FFFF'}), 0, 4, -1)
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		if got := jsonvalue.CompareUTF16(a, b); got != want {
			t.Fatalf("CompareUTF16(%q, %q) = %d, want %d", a, b, got, want)
		}
		if got := jsonvalue.LenUTF16(a); got != len(utf16.Encode([]rune(a))) {
			t.Fatalf("LenUTF16(%q) = %d", a, got)
		}
	})
}

func TestWithOnLargeObjects(t *testing.T) {
	t.Parallel()
	v := must(t, `{"a":0,"b":1,"c":2,"d":3,"e":4,"f":5,"g":6,"h":7,"i":8,"j":9,"k":10,"l":11,"m":12}`)
	changed := v.With("m", jsonvalue.OfInt(-1)).With("n", jsonvalue.OfInt(13))
	if m, _ := changed.Get("m"); m.Text() != "-1" {
		t.Error("m is", m.JSON())
	}
	if n, ok := changed.Get("n"); !ok || n.Text() != "13" || changed.Len() != 14 {
		t.Error("n is", n.JSON())
	}
	if _, ok := v.Get("n"); ok || v.Len() != 13 {
		t.Error("the original changed")
	}
	if got := jsonvalue.OfInt(1).With("a", jsonvalue.OfInt(2)).JSON(); got != `{"a":2}` {
		t.Error(got)
	}
}
