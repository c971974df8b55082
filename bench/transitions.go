package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"stepback/asl"
	"stepback/engine/interpreter"
	"stepback/engine/plan"
)

// transitions measures one execution of 1,000 Pass and Choice transitions in memory on one core.
func transitions() measurement {
	const states, repeats = 1000, 500
	return measurement{
		name: "Pass/Choice transition, interpreter in memory", unit: "µs", target: "< 1.5 µs",
		measure: func(context.Context, string) (reading, error) {
			p, err := chain(states)
			if err != nil {
				return reading{}, err
			}
			var out interpreter.Result
			s, err := timed(func() error {
				for range repeats {
					if err := runChain(p, &out); err != nil {
						return err
					}
				}
				return nil
			})
			return reading{value: s * 1e6 / (states * repeats)}, err
		},
	}
}

func runChain(p *plan.Plan, out *interpreter.Result) error {
	x := interpreter.New(p, interpreter.Info{ARN: "arn", MachineARN: "arn",
		Input: `{"n":1,"text":"a payload of a usual size, not too small"}`})
	e := interpreter.Event{Kind: interpreter.Start, At: time.Now()}
	for x.Status() == interpreter.Running {
		out.Reset()
		x.Step(&e, out)
		e.Kind = interpreter.Continue
	}
	if x.Status() != interpreter.Succeeded {
		return errors.New(x.Failure().Cause)
	}
	return nil
}

// chain is a machine of alternating Pass and Choice states.
func chain(states int) (*plan.Plan, error) {
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
	m, diagnostics := asl.Parse(d.String())
	if m == nil {
		return nil, errors.New(asl.InvalidDefinition(diagnostics))
	}
	return plan.Compile(m)
}
