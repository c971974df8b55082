package conformance_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepback/engine/conformance"
)

// tally counts the cases of one group.
type tally struct{ cases, replayed, outcome, history int }

// tabulate shows by group how many cases were replayed and how many agree on each level.
func tabulate(cases []*conformance.Case, verdicts []*conformance.Verdict) string {
	groups := map[string]*tally{}
	total := &tally{}
	for i, c := range cases {
		if groups[c.Group] == nil {
			groups[c.Group] = &tally{}
		}
		for _, t := range []*tally{groups[c.Group], total} {
			t.add(verdicts[i])
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-24s %6s %9s %9s %9s\n", "group", "cases", "replayed", "outcome", "history")
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		groups[g].write(&b, g)
	}
	total.write(&b, "all")
	return b.String()
}

func (t *tally) add(v *conformance.Verdict) {
	t.cases++
	if v == nil {
		return
	}
	t.replayed++
	if len(v.Outcome) == 0 {
		t.outcome++
	}
	if len(v.History) == 0 && len(v.Outcome) == 0 {
		t.history++
	}
}

func (t *tally) write(b *strings.Builder, name string) {
	percent := func(n int) string {
		if t.replayed == 0 {
			return "-"
		}
		return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(t.replayed))
	}
	fmt.Fprintf(b, "%-24s %6d %9d %9s %9s\n", name, t.cases, t.replayed, percent(t.outcome), percent(t.history))
}
