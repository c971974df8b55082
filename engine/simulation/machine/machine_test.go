package machine_test

import (
	"math/rand/v2"
	"testing"

	"stepback/asl"
	"stepback/engine"
	"stepback/engine/simulation/machine"
)

type source struct{ *rand.Rand }

func (s source) Intn(n int) int { return s.IntN(n) }

func TestRandomMachinesAreValid(t *testing.T) {
	t.Parallel()
	limits := machine.Limits{
		States: 5, Depth: 3, Kinds: []machine.Kind{machine.Integration, machine.Function, machine.Token, machine.Job, machine.Activity},
	}
	seen := map[string]int{}
	for seed := range uint64(500) {
		m := machine.Random(source{rand.New(rand.NewPCG(seed, 0))}, limits)
		if d := engine.Validate(m.Definition(), false); asl.HasErrors(d) {
			t.Fatalf("seed %d: %v\n%s", seed, d, m.Definition())
		}
		m.Root.Walk(func(s *machine.State) { seen[s.Type]++ })
	}
	for _, typ := range []string{
		machine.Pass, machine.Task, machine.Choice, machine.Wait, machine.Parallel, machine.Map, machine.Succeed, machine.Fail,
	} {
		if seen[typ] < 100 {
			t.Errorf("%d states of type %s in 500 machines", seen[typ], typ)
		}
	}
}
