package regret_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/regret"
	"stepback/adaptive/lab/scenario"
)

func named(t *testing.T, name string) *policy.Policy {
	t.Helper()
	p, err := policy.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDrawnScenariosAreValid(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for number := range uint64(500) {
		text, kind := regret.Draw(number)
		s, err := scenario.Parse("drawn.yaml", text, scenario.Options{})
		if err != nil {
			t.Fatalf("scenario %d: %v\n%s", number, err, text)
		}
		if again, _ := regret.Draw(number); string(again) != string(text) || s.Name == "" {
			t.Errorf("scenario %d is drawn differently the second time", number)
		}
		seen[kind]++
	}
	if len(seen) != 11 || seen["poison"] < 40 {
		t.Errorf("500 scenarios have the kinds %v", seen)
	}
}

// One scenario of each kind: no other policy saves more than adaptive in any of them.
func TestAdaptiveDoesNoHarm(t *testing.T) {
	t.Parallel()
	r, err := regret.Run(t.Context(), regret.Options{Policy: named(t, "adaptive"), Scenarios: 11, First: 1, Seeds: 3, FirstSeed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Below() {
		t.Errorf("scenario %d (%s): %s saves %.4f more", row.Number, row.About, row.Best, row.Lost)
	}
	if slower, dearer := r.SlowerWithin(), r.DearerWithin(); slower < 0.8 || dearer < 0.9 {
		t.Errorf("p99 is within the bound in %.2f of the scenarios, cost in %.2f", slower, dearer)
	}
	var out strings.Builder
	r.WriteTable(&out)
	for _, want := range []string{"regret of adaptive against the best of none, static and aimd: scenarios 1 to 11, seeds 1 to 3",
		"partial outage", "p99 ÷ best", "cost ÷ best",
		"\nanother policy saves more in 0 of 11 scenarios (goal 0); within 1.25 times are p99 in "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// A policy that saves nothing has no p99, which JSON shows as null.
func TestMissingNumbersAreNull(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(regret.Row{P99: regret.Values{"none": 1.5, "static": math.NaN()}})
	if want := `"p99":{"none":1.5,"static":null}`; err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%s, %v; want %s in it", text, err, want)
	}
}

func TestABadPolicyHasRegret(t *testing.T) {
	t.Parallel()
	r, err := regret.Run(t.Context(), regret.Options{Policy: named(t, "bucket"), Scenarios: 2, First: 1, Seeds: 3, FirstSeed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if below := r.Below(); len(below) == 0 || r.Met() || below[0].Best == "" {
		t.Errorf("the token bucket has no regret: %+v", r.Rows)
	}
	var out strings.Builder
	if r.WriteTable(&out); !strings.HasSuffix(out.String(), "(goal 95 %): NOT MET\n") ||
		!strings.Contains(out.String(), fmt.Sprintf("another policy saves more in %d of 2 scenarios", len(r.Below()))) {
		t.Errorf("the verdict is missing:\n%s", out.String())
	}
}

func TestOptionsOutOfRangeAreRefused(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]regret.Options{
		"0 scenarios are out of range":                  {Policy: named(t, "adaptive"), Seeds: 2},
		"1 seeds are too few":                           {Policy: named(t, "adaptive"), Scenarios: 1, Seeds: 1},
		"the policy aimd is one of those that it would": {Policy: named(t, "aimd"), Scenarios: 1, Seeds: 2},
	} {
		if _, err := regret.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q in it", err, want)
		}
	}
}
