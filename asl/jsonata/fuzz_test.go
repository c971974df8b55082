package jsonata_test

import (
	"errors"
	"testing"
	"time"

	"stepback/asl/jsonata"
)

// FuzzEval compiles and evaluates arbitrary text: nothing may panic or exceed its limits, errors are *Error, and the
// same expression over the same data gives the same result.
func FuzzEval(f *testing.F) {
	for _, text := range []string{
		`$sum(a.(b * c))`, `a[b > 1]^(>c){d: $sum(e)}`, `($x := function($n) { $n < 2 ? 1 : $n * $x($n - 1) }; $x(5))`,
		`a@$v#$i[$i < 2].{'v': $v.%.b}`, `$map([1..9], $string) ~> $join('-')`, `$ ~> |a|{'b': 1}, 'c'|`,
		`$match('abc', /b(c)?/i)`,
		`$formatNumber(1234.5, '#,##0.00')`, `$toMillis('2020-01-01', '[Y]-[M]-[D]')`, `$partition([1,2,3], 2)[0]`,
		"`a b`.*.**",
	} {
		f.Add(text)
	}
	root := parse(f, `{"a":[{"b":1,"c":[2,3]},{"b":"x","c":null}],"d":{"e":[[],{}]}}`)
	limits := jsonata.WithLimits(jsonata.Limits{Depth: 200, Steps: 20_000, Memory: 1 << 16})
	f.Fuzz(func(t *testing.T, text string) {
		x, err := jsonata.Compile(text, jsonata.WithStepFunctions(), limits)
		var e *jsonata.Error
		if err != nil {
			if !errors.As(err, &e) {
				t.Fatalf("%T", err)
			}
			return
		}
		x.RootReads()
		first, err := x.Eval(&env{root: &root, now: time.Unix(0, 0)})
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("%T", err)
		}
		again, errAgain := x.Eval(&env{root: &root, now: time.Unix(0, 0)})
		if first.Kind() != again.Kind() || first.Value().JSON() != again.Value().JSON() ||
			(err == nil) != (errAgain == nil) {
			t.Fatalf("%s, %v; then %s, %v", first.Value().JSON(), err, again.Value().JSON(), errAgain)
		}
	})
}
