package faultscenario_test

import (
	"strings"
	"testing"

	"stepback/csvimport/faultscenario"
)

func TestScenarios(t *testing.T) {
	t.Parallel()
	for name, s := range faultscenario.All {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := s.Run(t.Context(), faultscenario.Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if !r.Passed || r.Scenario != name || len(r.Timeline) < 2 || len(r.Checks) < 4 {
				var b strings.Builder
				r.Print(&b)
				t.Error(b.String())
			}
		})
	}
}
