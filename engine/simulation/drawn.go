package simulation

import (
	"stepback/engine/history"
	"stepback/engine/simulation/machine"
)

// Drawn returns the history of one simulation of the interpreter alone, step by step: a random machine with Task,
// Parallel, Map and distributed Map states ran against random outcomes, with retries, timeouts, stops and redrives.
// The same seed returns the same history. An error is a fault that the simulation found.
func Drawn(seed uint64) (steps [][]history.Event, err error) {
	c := &core{draws: fromSeed(seed), now: machine.Epoch}
	if err := c.simulate(); err != nil {
		return nil, err
	}
	for i := range c.done {
		if r := &c.done[i]; len(r.History) > 0 {
			steps = append(steps, r.History)
		}
	}
	return steps, nil
}
