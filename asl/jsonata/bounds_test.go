package jsonata_test

import (
	"errors"
	"strings"
	"testing"

	"stepback/asl/jsonata"
)

const (
	timeout  = "Expression evaluation timeout: Check for infinite loop"
	tooLarge = "Expression evaluation memory limit exceeded: Check for excessive memory usage"
)

// TestHostileExpressions evaluates expressions whose work grows with the square of their input or faster. Every
// loop that builds or reads texts, arrays or objects must take its steps before it works, so each of them ends
// within a moment with the error of a limit. The limits are a fifth of those of
// expressions in state machines.
func TestHostileExpressions(t *testing.T) {
	t.Parallel()
	long := `$t := $pad("", 400000, "a");`
	list := `$a := [1..200000];`
	for _, test := range []struct{ expression, want string }{
		// Texts.
		{`$reduce([1..5], function($a, $i) { $replace($a, /x/, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx") }, "x")`, tooLarge},
		{`(` + long + `$replace($t, /a+/, $join([1..1000].("$0"))))`, tooLarge},
		{`(` + long + `$replace($t, /a+/, function($m) { $join([1..1000].($t)) }))`, tooLarge},
		{`(` + long + `$replace($t, "a", $t))`, tooLarge},
		{`(` + long + `$string([1..1000].($t)))`, tooLarge},
		{`(` + long + `$string({"a": [1..1000].($t)}))`, tooLarge},
		{`(` + long + `$string([1..20].{$t: 1}))`, tooLarge},
		{`(` + long + `$split($t, ""))`, tooLarge},
		{`(` + long + `$split($t, "a"))`, tooLarge},
		{`(` + long + `$count([1..100000].$substring($t, 1, 2)))`, timeout},
		{`(` + long + `$count([1..100000].$length($t)))`, timeout},
		{`(` + long + `$count([1..100000].$substringBefore($t, "b")))`, timeout},
		{`(` + long + `$count([1..100000].$contains($t, "b")))`, timeout},
		{`(` + long + `$count([1..100000].$contains($t, /b/)))`, timeout},
		{`(` + long + `$count([1..100000].$hash($t, "SHA-512")))`, timeout},
		{`(` + long + `$count([1..100000].$trim($t)))`, timeout},
		{`(` + long + `$count([1..100000].($t & "b")))`, timeout},
		{`(` + long + `$u := $pad("", 400000, "a"); $count([1..200000].($t = $u)))`, timeout},
		{`(` + long + `$u := $pad("", 400000, "a"); $count([1..200000].($t < $u)))`, timeout},
		{`(` + long + `$u := $pad("", 400000, "a"); $count([1..200000].($t in $u)))`, timeout},
		{`(` + long + `$distinct([1..200000].($t)))`, timeout},
		{`(` + long + `$count($match($t, /a/)))`, timeout},
		{`(` + long + `$sort([1..100000].($t)))`, timeout},
		{`(` + long + `$formatNumber(1, $t))`, timeout},
		{`$formatNumber(1, $pad("#", 100000, ",#"))`, timeout},
		{`$formatInteger(1, $pad("#", 100000, ",#"))`, timeout},
		{`$fromMillis(0, $pad("", 100000, "[Y,9-1000]"))`, timeout},
		{`$toMillis($pad("", 400000, "1"), $pad("", 1400, "[Y,9-1000]"))`, timeout},
		{`$number($pad("", 400000, "0b") & $pad("", 400000, "1") & "x")`, "Unable to cast value to a number"},
		// Arrays.
		{`(` + list + `$o := {"x": $a}; $b := $a.$o; $count($b.x))`, timeout},
		{`(` + list + `$o := {"x": $a}; $b := $a.$o; $count($lookup($b, "x")))`, tooLarge},
		{`(` + list + `$count($a.($a)))`, tooLarge},
		{`(` + list + `$count($map($a, function() { $a }).$))`, tooLarge},
		{`(` + list + `$count([$a, $a, $a]))`, tooLarge},
		{`(` + list + `$a{"k": $count($)}; $b := $map([1..100], function() { $a }); $count($b{"k": $}))`, tooLarge},
		{`(` + list + `$a[$a])`, timeout},
		{`(` + list + `$count($a.$sum($a)))`, timeout},
		{`(` + list + `$count($a.$max($a)))`, timeout},
		{`(` + list + `$count($a.$count($a)))`, timeout},
		{`(` + list + `$count($a.$count($reverse($a))))`, timeout},
		{`(` + list + `$count($a.$count($shuffle($a))))`, timeout},
		{`(` + list + `$count($a.$count($zip($a, $a))))`, timeout},
		{`(` + list + `$count($a.(0 in $a)))`, timeout},
		{`(` + list + `$reduce($a, $append))`, timeout},
		{`(` + list + `$spread($a.{"a": $a}))`, timeout},
		{`(` + list + `$count($a@$x.$a@$y.($x + $y)))`, timeout},
		// Objects.
		{`($o := $merge([1..20000].{$string($): 1}); $count([1..100000].($o.*)))`, timeout},
		{`($o := $merge([1..20000].{$string($): 1}); $count($keys([1..100000].$o)))`, timeout},
		{`($o := $merge([1..20000].{$string($): 1}); $count([1..100000].$spread($o)))`, timeout},
		{`($o := $merge([1..20000].{$string($): 1}); $merge([1..100000].$o))`, timeout},
		{`($o := $merge([1..20000].{$string($): 1}); $count([1..100000].$each($o, $string)))`, timeout},
	} {
		t.Run(test.expression, func(t *testing.T) {
			t.Parallel()
			x, err := jsonata.Compile(test.expression, jsonata.WithStepFunctions(),
				jsonata.WithLimits(jsonata.Limits{Depth: 100, Steps: 1_000_000, Memory: 2_000_000}))
			if err != nil {
				t.Fatal(err)
			}
			if _, err = x.Eval(&env{}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if test.want != timeout {
				return
			}
			e := &interrupted{after: 5}
			_, err = x.Eval(e)
			if e.spent > 2_000_000 { // one call takes more than there is, at once
				return
			}
			if !errors.Is(err, errStop) {
				t.Errorf("interrupted early: %v after %d steps", err, e.spent)
			}
		})
	}
}

var errStop = errors.New("stop")

// interrupted is an env that interrupts an evaluation at its after-th check.
type interrupted struct {
	env
	after, spent int
}

func (i *interrupted) Err() error {
	if i.after--; i.after < 0 {
		return errStop
	}
	return nil
}

func (i *interrupted) Spent(steps int) { i.spent = steps }

// TestLongReplacements replaces many matches in a long text. Each replacement is appended once, not with all that
// precedes it.
func TestLongReplacements(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`$length($replace($pad("", 200000, "a"), /a/, "b"))`:                  `200000`,
		`$length($replace($pad("", 100000, "ab"), /a(b)/, "$1$1$0"))`:         `200000`,
		`$length($replace($pad("", 20000, "a"), /a/, function($m) { "bb" }))`: `40000`,
		`$replace("😀😀", /\uD83D/, "x")`:                                       `"x�x�"`,
		`$replace("\uD83Dx", /x/, "\uDE00")`:                                  `"😀"`,
		`$spread([{"a": 1, "b": 2}, {}, 3])`:                                  `[{"a":1},{"b":2},3]`,
		`$spread([{"a": 1}])`:                                                 `[{"a":1}]`,
		`$substring("a😀bc", 1, 2)`:                                            `"😀b"`,
		`$substring("hello", -3)`:                                             `"llo"`,
	} {
		if got := outcome(t, text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
