package design

import (
	"context"

	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/simulation"
)

// Simulate simulates one period of a condition, under the settings, or under another policy if it is not nil.
func Simulate(ctx context.Context, p *Problem, s *Settings, other *policy.Policy, condition int, seed uint64) (Outcome, error) {
	if other == nil {
		other = s.Policy()
	}
	x := p.scenario(s, condition, seed)
	r, err := simulation.Run(ctx, simulation.Options{Scenario: x, Policy: other, Seed: seed,
		Within: seconds(p.Objective.Within)})
	if err != nil {
		return Outcome{}, err
	}
	return p.outcome(x, r), nil
}

// Conditions returns the number of conditions.
func (p *Problem) Conditions() int { return len(p.conditions()) }
