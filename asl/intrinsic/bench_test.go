package intrinsic_test

import "testing"

func BenchmarkEval(b *testing.B) {
	for _, text := range []string{"States.Format('{}-{}', $.id, $.n)", "States.MathAdd($.n, 1)", "States.UUID()"} {
		b.Run(text, func(b *testing.B) {
			c := compile(b, text)
			env := &values{input: parse(b, `{"id":"order-17","n":41}`)}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Eval(env); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
