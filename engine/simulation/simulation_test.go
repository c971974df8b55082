package simulation

import (
	"flag"
	"testing"
)

var (
	seed  = flag.Uint64("seed", 0, "run only the simulation of this seed, from 1; 0 runs many")
	count = flag.Int("simulations", 2000, "how many simulations to run")
	first = flag.Uint64("first", 1, "the seed of the first of many")
)

// TestCore drives the interpreter alone.
func TestCore(t *testing.T) {
	t.Parallel()
	many(t, simulateCore, *count)
}

// TestShell drives the whole engine in virtual time, a fifth as often: its simulations are longer.
func TestShell(t *testing.T) {
	t.Parallel()
	many(t, simulateShell, max(*count/5, 1))
}

// many simulates from one seed or from many and shows the first failure, shrunk.
func many(t *testing.T, simulate func(*draws) error, n int) {
	t.Helper()
	from := *first
	if *seed != 0 {
		from, n = *seed, 1
	}
	for i := range n {
		s := from + uint64(i)
		d := fromSeed(s)
		if err := simulate(d); err != nil {
			before := len(d.made)
			made, err := shrink(d.made, err, simulate)
			t.Fatalf("seed %d (go test ./engine/simulation -run '^%s$' -seed=%d), shrunk from %d draws to %d:\n%v",
				s, t.Name(), s, before, len(made), err)
		}
	}
}
