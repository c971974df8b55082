package local

import (
	"time"

	"stepback/local/chaos"
	"stepback/local/console"
)

// consoleFaults shows the faults of the services on the console.
type consoleFaults struct{ set *chaos.Set }

// List implements console.Faults.
func (c consoleFaults) List() []console.Fault {
	all := c.set.List()
	shown := make([]console.Fault, len(all))
	for i, f := range all {
		shown[i] = console.Fault{ID: f.ID, Fault: f.Fault, Seed: f.Seed, Until: f.Until, Requests: f.Requests,
			Injected: f.Injected}
	}
	return shown
}

// Add implements console.Faults.
func (c consoleFaults) Add(fault string, seed uint64, last time.Duration) error {
	_, err := c.set.Add([]chaos.Wanted{{Fault: fault, Seed: seed, For: last}})
	return err
}

// Lift implements console.Faults.
func (c consoleFaults) Lift(id int) error {
	_, err := c.set.Lift(id)
	return err
}
