package main

import (
	"context"
	"fmt"
	"strings"

	"stepback/engine/simulation"
)

// transitions measures one execution of 1,000 Pass and Choice transitions in memory on one core.
func transitions() measurement {
	const states, repeats = 1000, 500
	return measurement{
		name: "Pass/Choice transition, interpreter in memory", unit: "µs", target: "< 1.5 µs",
		measure: func(context.Context, string) (reading, error) {
			run, err := simulation.Bare(chain(states), `{"n":1,"text":"a payload of a usual size, not too small"}`)
			if err != nil {
				return reading{}, err
			}
			s, err := timed(func() error {
				for range repeats {
					if err := run(); err != nil {
						return err
					}
				}
				return nil
			})
			return reading{value: s * 1e6 / (states * repeats)}, err
		},
	}
}

// chain returns a machine of alternating Pass and Choice states.
func chain(states int) string {
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
	return d.String()
}
