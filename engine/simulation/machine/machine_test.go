package machine_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"stepback/asl"
	"stepback/engine"
	"stepback/engine/simulation/machine"
)

type source struct{ *rand.Rand }

func (s source) Intn(n int) int { return s.IntN(n) }

// ofIntegration reports whether a diagnostic complains about missing parameters of an integration; those of a
// simulation need none.
func ofIntegration(d asl.Diagnostic) bool {
	return strings.Contains(d.Message, " field is required for resource ARN: ") || strings.HasSuffix(d.Message,
		"' is required but was missing")
}

func TestRandomMachinesAreValid(t *testing.T) {
	t.Parallel()
	limits := machine.Limits{
		States: 5, Depth: 3, Kinds: []machine.Kind{machine.Integration, machine.Function, machine.Token, machine.Job,
			machine.Activity},
	}
	seen := map[string]int{}
	for seed := range uint64(500) {
		m := machine.Random(source{rand.New(rand.NewPCG(seed, 0))}, limits)
		for _, d := range engine.Validate(m.Definition(), false, nil) {
			if d.Severity == asl.SeverityError && !ofIntegration(d) {
				t.Fatalf("seed %d: %v\n%s", seed, d, m.Definition())
			}
		}
		m.Root.Walk(func(s *machine.State) { seen[s.Type]++ })
	}
	for _, typ := range []string{
		machine.Pass, machine.Task, machine.Choice, machine.Wait, machine.Parallel, machine.Map, machine.Succeed,
		machine.Fail,
	} {
		if seen[typ] < 100 {
			t.Errorf("%d states of type %s in 500 machines", seen[typ], typ)
		}
	}
}
