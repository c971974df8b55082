package scenarios_test

import (
	"slices"
	"strings"
	"testing"

	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenarios"
)

func TestWhatComesAlongIsValid(t *testing.T) {
	t.Parallel()
	for _, name := range scenarios.Names() {
		s, err := scenarios.Named(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Name != name || s.About == "" || len(s.Expect) == 0 {
			t.Errorf("%s is named %q, about %q, with %d expectations", name, s.Name, s.About, len(s.Expect))
		}
		for _, e := range s.Expect {
			if !slices.Contains(policy.Names(), e.Policy) {
				t.Errorf("%s expects something of %q, which is no policy", name, e.Policy)
			}
		}
	}
	for _, name := range policy.Names() {
		if p, err := scenarios.OpenPolicy(name); err != nil || p.Name != name || p.About == "" {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func TestUnknownNamesAreExplained(t *testing.T) {
	t.Parallel()
	if _, err := scenarios.Open("outrage"); err == nil || !strings.Contains(err.Error(), "outage-30s") {
		t.Errorf("error is %v, want one that lists the scenarios", err)
	}
	if _, err := scenarios.OpenPolicy("../policy/none"); err == nil {
		t.Error("a path without a file is opened")
	}
}
