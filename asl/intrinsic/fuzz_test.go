package intrinsic_test

import (
	"errors"
	"testing"

	"stepback/asl/intrinsic"
)

func FuzzCompile(f *testing.F) {
	for _, text := range []string{
		"States.UUID()", `States.Format('a \{ {} \'', $.a['b,c'])`, "States.Array(1, -2.5e3, null, true, $$.x, $v)",
		"States.ArrayGetItem(States.StringSplit($$.StateMachine.Name, '-'), 0)",
		"States.Array($[?(@.a > 1)], $.length())",
		"States.MathRandom(1, 9, 3)", `States.Format('\`, "States.JsonMerge($, $, false)",
		"States.StringToJson('[-0]')",
	} {
		f.Add(text)
	}
	input := parse(f, `{"a":[1,{"b,c":2}],"s":"x"}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := intrinsic.Compile(text)
		if err != nil {
			var syntax *intrinsic.SyntaxError
			if !errors.As(err, &syntax) || syntax.Column < 1 || syntax.Column > len(text)+1 {
				t.Fatalf("got %v, want a *SyntaxError within the text", err)
			}
			return
		}
		if c.Text() != text {
			t.Fatalf("Text() = %q", c.Text())
		}
		if v, err := c.Eval(&values{input: input}); err == nil {
			parse(t, v.JSON())
		}
	})
}
