package simulation

import (
	"errors"
	"time"

	"stepback/asl"
	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
)

// Bare compiles a machine that neither waits nor calls anything. It returns a function that runs it once on the
// interpreter alone, without an engine, to measure the cost of a transition.
func Bare(definition, input string) (run func() error, err error) {
	m, diagnostics := asl.Parse(definition)
	if m == nil {
		return nil, errors.New(asl.InvalidDefinition(diagnostics))
	}
	p, err := plan.Compile(m)
	if err != nil {
		return nil, err
	}
	machine := interpreter.Machine{Plan: p, Name: "m"}
	info := &history.Info{ARN: "arn", MachineARN: "arn", Origin: history.Origin{Input: input}}
	var out interpreter.Result
	return func() error {
		x := interpreter.New(machine, info)
		s := interpreter.Signal{Kind: interpreter.Start, At: time.Now()}
		for x.Status() == history.Running {
			out.Reset()
			x.Step(&s, &out)
			s.Kind = interpreter.Continue
		}
		if x.Status() != history.Succeeded {
			f := x.Failure()
			return &f
		}
		return nil
	}, nil
}
