package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Tally counts the cases of one group: all, those replayed, and those that agree on each level.
type Tally struct{ Cases, Replayed, Outcome, History int }

// Tabulate returns a table, by group, of how many cases were replayed and how many agree on each level. A case
// without a verdict was not replayed.
func Tabulate(cases []*Case, verdicts []*Verdict) (table string, total *Tally) {
	groups := map[string]*Tally{}
	total = &Tally{}
	for i, c := range cases {
		if groups[c.Group] == nil {
			groups[c.Group] = &Tally{}
		}
		for _, t := range []*Tally{groups[c.Group], total} {
			t.add(verdicts[i])
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-24s %6s %9s %9s %9s\n", "group", "cases", "replayed", "outcome", "history")
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		groups[g].write(&b, g)
	}
	total.write(&b, "all")
	return b.String(), total
}

func (t *Tally) add(v *Verdict) {
	t.Cases++
	if v == nil {
		return
	}
	t.Replayed++
	if len(v.Outcome) == 0 {
		t.Outcome++
	}
	if len(v.History) == 0 && len(v.Outcome) == 0 {
		t.History++
	}
}

func (t *Tally) write(b *strings.Builder, name string) {
	percent := func(n int) string {
		if t.Replayed == 0 {
			return "-"
		}
		return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(t.Replayed))
	}
	fmt.Fprintf(b, "%-24s %6d %9d %9s %9s\n", name, t.Cases, t.Replayed, percent(t.Outcome), percent(t.History))
}
