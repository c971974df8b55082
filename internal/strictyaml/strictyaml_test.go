package strictyaml_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"stepback/internal/strictyaml"
)

func TestValues(t *testing.T) {
	t.Parallel()
	r, v := strictyaml.Read("f.yaml", []byte("a: 1.5\nb: 250ms\nc: [x, y]\nd: {e: true}\nf: 7\n"))
	o := v.Object("a", "b", "c", "d", "f", "g")
	got := fmt.Sprint(o.Get("a").Duration(0, time.Minute), o.Get("b").Duration(0, time.Minute),
		len(o.Get("c").List(1, 2)),
		o.Get("d").Object("e").Get("e").Bool(), o.Get("f").Whole(1, 9), o.Get("f").Line(), o.Get("g").Present(),
		o.Get("g").WholeOr(3, 0, 9), o.Get("g").Text(9), o.Get("g").OneOf("first", "second"))
	if want := "1.5s 250ms 2 true 7 5 false 3first"; got != want || r.Err() != nil {
		t.Errorf("got %s, %v; want %s", got, r.Err(), want)
	}
}

func TestProblemsAreInTheOrderOfTheText(t *testing.T) {
	t.Parallel()
	r, v := strictyaml.Read("f.yaml", []byte("a: x\nb: [1]\nc:\nd: {}\ne: 5\n"))
	o := v.Object("a", "b", "c", "d")
	o.Get("d").Text(5)
	o.Get("c").Number(0, 1)
	o.Get("b").Bool()
	o.Get("a").Whole(0, 1)
	o.Need("f")
	var problems strictyaml.Problems
	if !errors.As(r.Err(), &problems) {
		t.Fatal(r.Err())
	}
	want := []string{
		"f.yaml:1:1: the member f is missing",
		`f.yaml:1:4: a: "x" is not a whole number; write one from 0 to 1`,
		"f.yaml:2:4: b: true or false is expected here, not a list",
		"f.yaml:3:3: c: a number is expected here, not nothing",
		"f.yaml:4:4: d: a text is expected here, not an object",
		`f.yaml:5:1: there is no member "e" here; known are a, b, c and d`,
	}
	if got := problems.Error(); got != strings.Join(want, "\n") {
		t.Errorf("problems are\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestParseSeconds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2": "2s", "0.05": "50ms", "1h30m": "1h30m0s", "-1": "-1s", "1e10": "error", "NaN": "error", "soon": "error",
		"1000000h": "error",
	} {
		d, err := strictyaml.ParseSeconds(text)
		got := d.String()
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

func TestHugeAndHostileTexts(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"large": strings.Repeat("a", strictyaml.MaxSize+1),
		"deep":  strings.Repeat("[", 200_000),
		"bomb":  "a: &a [x]\nb: [*a, *a]\n",
		"bytes": "\xff\xfe\x00",
	} {
		if r, _ := strictyaml.Read("f.yaml", []byte(text)); r.Err() == nil {
			t.Errorf("%s: read without complaint", name)
		}
	}
}
