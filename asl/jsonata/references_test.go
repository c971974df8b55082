package jsonata_test

import (
	"strings"
	"testing"

	"stepback/asl/jsonata"
)

func TestRootReads(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`$states.input.a`:             ``,
		`phone`:                       `phone`,
		`phone.number[type = 'home']`: `phone`,
		`$sum(a) + b.c + a`:           `a b`,
		`$states.input.items[price > $max].price`:       ``,
		`$states.input.items.(price * quantity)`:        ``,
		`$states.input.items{kind: $sum(price)}`:        ``,
		`$states.input.items^(>price)[0]`:               ``,
		`$`:                                             `$`,
		`$.a`:                                           `$`,
		`$states.input.items.$`:                         ``,
		`$states.input.items[$ > 1]`:                    ``,
		`[1, a, {'k': b, 'l': [c]}]`:                    `a b c`,
		`(x ? y : z)`:                                   `x y z`,
		`($x := a; $x.b)`:                               `a`,
		`$map($states.input, function($v) { $v.a })`:    ``,
		`$map($states.input, function($v) { name })`:    ``,
		`$states.input.items[id = $$.id]`:               `$$`,
		`$states.input ~> | items | {'n': price * 2} |`: ``,
		`a ~> $uppercase()`:                             `a`,
		`"a" & 'b'`:                                     ``,
		`*.a`:                                           ``,
		`$f(1)(b)`:                                      `b`,
	} {
		x, err := jsonata.Compile(text, jsonata.WithStepFunctions())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := strings.Join(x.RootReads(), " "); got != want {
			t.Errorf("%s reads %q, want %q", text, got, want)
		}
	}
}
