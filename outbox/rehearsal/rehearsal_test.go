package rehearsal_test

import (
	"testing"

	"stepback/outbox/rehearsal"
)

func TestTheStoryHoldsForEverySeed(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		r, err := rehearsal.Run(t.Context(), seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Checks {
			if !c.Passed {
				t.Errorf("seed %d: %s: %s", seed, c.What, c.Got)
			}
		}
		if !r.Passed() || len(r.Timeline) < 5 {
			t.Errorf("%+v", r)
		}
	}
}
