package template_test

import "testing"

func BenchmarkEval(b *testing.B) {
	templates := map[string]string{
		"one path":   `{"id.$":"$.a"}`,
		"batch item": `{"source.$":"$.o","row.$":"$.a","record":{"first.$":"$.list[0]","kind":"order"}}`,
		"literal":    `{"a":1,"b":{"c":[1,2,3]}}`,
	}
	for name, text := range templates {
		b.Run(name, func(b *testing.B) {
			c, e := compile(b, text), env(b)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Eval(e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
