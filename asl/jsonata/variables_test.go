package jsonata_test

import (
	"fmt"
	"strings"
	"testing"

	"stepback/asl/jsonata"
)

func TestFreeVariables(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"$x + $y.a.$z":       "x y z",
		"$states.input.a":    "states",
		"$uppercase($name)":  "name",
		"$eval('1')":         "eval()",
		"($a := 1; $a + $b)": "b",
		"($a := $a + 1; $a)": "a",
		"($f := function($n) { $n < 1 ? 1 : $f($n - 1) * $k }; $f(3))":                       "k",
		"($even := function($n) { $odd($n) }; $odd := function($n) { $even($n) }; $even(1))": "",
		"($g := $h(1); $h := function($x) { $x })":                                           "h()",
		"$map([1], function($v, $i) { $v + $i + $w })":                                       "w",
		"$states.input.items@$e.lines#$i.{'e': $e, 'i': $i}":                                 "states",
		"[1, 2][$ > $limit]":             "limit",
		"$exists($x) ? $x : 0":           "x?",
		"$exists($x.a) and $x.a = 1":     "x?",
		"$states.input{ $key: $sum($) }": "states key",
		"$states.input^(>$by)":           "states by",
		"(($inner := 1); $inner)":        "inner",
		"|$states.input|{'a': $new}|":    "states new",
		"$fn(?, 1)":                      "fn()",
		"$$.a":                           "",
	} {
		x, err := jsonata.Compile(text, jsonata.WithStepFunctions())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, v := range x.FreeVariables() {
			name := v.Name
			if v.Called {
				name += "()"
			}
			if v.Tested {
				name += "?"
			}
			got = append(got, name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
}

func TestMismatches(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"'a' / 42":                        "/ left string",
		"1 + (2 * 'b')":                   "* right string",
		"-'a'":                            "-  string",
		"$uppercase($states.input.x) - 1": "- left string",
		"$states.input.x / 42":            "",
		"'a' & 42":                        "",
		"[1] + 1":                         "+ left array",
		"$count([1]) + 1":                 "",
		"true < 1":                        "< left boolean",
		"'a' < 1":                         "< right number",
		"'a' < 'b'":                       "",
		"(1 = 2) * 3":                     "* left boolean",
		"($now() > 5)":                    "> right number",
		"($x := 'a'; $x / 2)":             "",
		"($uppercase := function($s) { 1 }; $uppercase('a') / 2)": "",
		"[1..'b']":                          ".. right string",
		"($states.input.a ? 'x' : 'y') % 2": "% left string",
		"($states.input.a ? 'x' : 1) % 2":   "",
		"null + 1":                          "+ left null",
		"'ab'[0] / 2":                       "",
		"$split('a,b', ',') > 1":            "> left array",
		"$number('5') / 2":                  "",
	} {
		x, err := jsonata.Compile(text, jsonata.WithStepFunctions())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, m := range x.Mismatches() {
			got = append(got, fmt.Sprintf("%s %s %s", m.Operator, m.Side, m.Type))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
		// What is reported really fails.
		if _, err := x.Eval(fixed{}); want != "" && !strings.Contains(text, "$states") && err == nil {
			t.Errorf("%s does not fail", text)
		}
	}
}
