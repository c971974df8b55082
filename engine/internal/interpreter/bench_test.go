package interpreter_test

import (
	"fmt"
	"strings"
	"testing"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
)

// BenchmarkTransitions measures Pass and Choice transitions in memory on one core.
func BenchmarkTransitions(b *testing.B) {
	const states = 1000
	var d strings.Builder
	d.WriteString(`{"StartAt":"S0","States":{`)
	for i := range states {
		next := fmt.Sprintf("S%d", i+1)
		if i%2 == 0 {
			fmt.Fprintf(&d, `"S%d":{"Type":"Pass","Next":"%s"},`, i, next)
		} else {
			fmt.Fprintf(&d, `"S%d":{"Type":"Choice","Choices":[{"Variable":"$.n","NumericEquals":1,"Next":"%s"}],"Default":"%s"},`, i, next, next)
		}
	}
	fmt.Fprintf(&d, `"S%d":{"Type":"Succeed"}}}`, states)
	p := compile(b, d.String())
	var r interpreter.Result
	b.ReportAllocs()
	for b.Loop() {
		x := interpreter.New(interpreter.Machine{Plan: p}, &history.Info{ARN: "arn", MachineARN: "arn",
			Origin: history.Origin{Input: `{"n":1,"text":"some payload of a usual size, not too small"}`}})
		e := interpreter.Signal{Kind: interpreter.Start, At: epoch}
		for x.Status() == history.Running {
			r.Reset()
			x.Step(&e, &r)
			e.Kind = interpreter.Continue
		}
		if x.Status() != history.Succeeded {
			b.Fatal(x.Failure())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/states, "ns/transition")
}
