package simulation

import "math/rand/v2"

// draws is a machine.Rand that records what it drew and can draw the same again.
type draws struct {
	random *rand.Rand // nil once only the given draws are left
	given  []int
	made   []int
}

// fromSeed returns a source of random draws.
func fromSeed(seed uint64) *draws {
	return &draws{random: rand.New(rand.NewPCG(seed, 0x5741_7465))}
}

// repeated returns a source that repeats earlier draws and then draws the plainest possibility.
func repeated(made []int) *draws { return &draws{given: made} }

// Intn implements machine.Rand.
func (d *draws) Intn(n int) int {
	v := 0
	switch {
	case d.random != nil:
		v = d.random.IntN(n)
	case len(d.made) < len(d.given):
		v = d.given[len(d.made)] % n
	}
	d.made = append(d.made, v)
	return v
}

// one returns true once in n times.
func (d *draws) one(n int) bool { return d.Intn(n) == n-1 }

func pick[T any](d *draws, of ...T) T { return of[d.Intn(len(of))] }
