package simulation

import (
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"
)

var (
	seed   = flag.Uint64("seed", 0, "run only the simulation of this seed, from 1; 0 runs many")
	count  = flag.Int("simulations", 2000, "how many simulations to run")
	during = flag.Duration("for", 0, "how long to run simulations, in place of how many; 0 goes by -simulations")
	first  = flag.Uint64("first", 1, "the seed of the first of many")
)

// TestCore simulates the interpreter alone.
func TestCore(t *testing.T) {
	t.Parallel()
	many(t, func(_ *testing.T, d *draws) error { return simulateCore(d) }, *count)
}

// TestShell simulates the whole engine on a simulated disk, a tenth as often because its simulations are longer.
func TestShell(t *testing.T) {
	t.Parallel()
	many(t, simulateShell, max(*count/10, 1))
}

// TestSeedsThatFailed runs simulations that once failed.
func TestSeedsThatFailed(t *testing.T) {
	t.Parallel()
	for s, why := range map[uint64]string{
		4711230613: "a redrive is lost by a disk that lies: timers are late, and nobody noticed",
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			if err := simulateShell(t, fromSeed(s)); err != nil {
				t.Errorf("seed %d: %v", s, err)
			}
		})
	}
}

// many runs simulations for one seed or for many, n of them or for a given time, and shows the first failure, shrunk.
func many(t *testing.T, simulate func(*testing.T, *draws) error, n int) {
	t.Helper()
	from, until := *first, time.Now().Add(*during)
	if *seed != 0 {
		from, n = *seed, 1
	}
	running := from
	defer func() {
		if p := recover(); p != nil {
			panic(fmt.Sprintf("seed %d: %v", running, p))
		}
	}()
	more := func(i int) bool { return i < n }
	if *during > 0 && *seed == 0 {
		more = func(int) bool { return time.Now().Before(until) }
	}
	for i := 0; more(i); i++ {
		s := from + uint64(i)
		running = s
		d := fromSeed(s)
		if err := simulate(t, d); err != nil {
			before := len(d.made)
			made, err := shrink(d.made, err, func(d *draws) error { return simulate(t, d) })
			t.Fatalf("seed %d (go test ./engine/simulation -run '^%s$' -seed=%d), shrunk from %d draws to %d:\n%v",
				s, t.Name(), s, before, len(made), err)
		}
		if *during > 0 && i%1000 == 999 {
			t.Logf("%d simulations, up to seed %d", i+1, s)
		}
	}
}

// Two simulations of the whole engine with the same seed run in the same order. With the race detector, Pebble checks
// itself at random and writes different bytes each time, which would change the effect of torn writes and damage. The
// disk is therefore tidy in that case.
func TestOneSeedIsOneRun(t *testing.T) {
	t.Parallel()
	for s := range uint64(15) {
		once, before := traced(t, fromSeed(s+*first), raceDetector)
		again, after := traced(t, fromSeed(s+*first), raceDetector)
		if before != nil || after != nil {
			t.Fatalf("seed %d: %v", s+*first, errors.Join(before, after))
		}
		for i := range max(len(once), len(again)) {
			if i >= len(once) || i >= len(again) || once[i] != again[i] {
				t.Fatalf("seed %d goes another way at %d of %d and %d: %q, %q", s+*first, i, len(once), len(again),
					once[i:min(i+3, len(once))], again[i:min(i+3, len(again))])
			}
		}
	}
}
