package regret

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// WriteTable writes the report as text: the regret by kind of scenario, its distribution, and the worst scenarios.
func (r *Report) WriteTable(w io.Writer) {
	fmt.Fprintf(w, "regret of %s against the best of none, static and aimd: scenarios %d to %d, seeds %d to %d each\n\n",
		r.Policy, r.First, r.First+uint64(len(r.Rows))-1, r.FirstSeed, r.FirstSeed+uint64(r.Seeds)-1)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "kind\tscenarios\tsaves less\tslower\tdearer\tsuccess %\tof none\tof static\tof aimd\t\n")
	for _, k := range kinds {
		rows := slices.DeleteFunc(slices.Clone(r.Rows), func(x Row) bool { return x.Kind != k.name })
		if len(rows) > 0 {
			r.line(t, k.name, rows)
		}
	}
	r.line(t, "all", r.Rows)
	_ = t.Flush() // the report's writers report their own errors
	fmt.Fprintf(w, "\nslower, dearer: more than %v times the p99 or the cost of the cheapest that saves as much\n\n", Ratio)
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\tmedian\t90 %\t95 %\t99 %\tlargest\twithin bounds\t\n")
	r.distribution(t, "p99 ÷ best", func(x Row) float64 { return x.SlowerBy }, r.SlowerWithin())
	r.distribution(t, "cost ÷ best", func(x Row) float64 { return x.DearerBy }, r.DearerWithin())
	_ = t.Flush()
	r.worst(w)
	verdict := "NOT MET"
	if r.Met() {
		verdict = "met"
	}
	fmt.Fprintf(w, "\nanother policy saves more in %d of %d scenarios (goal 0); within %v times are p99 in %.1f %% and cost in "+
		"%.1f %% (goal %.0f %%): %s\n", len(r.Below()), len(r.Rows), Ratio, 100*r.SlowerWithin(), 100*r.DearerWithin(), 100*Within, verdict)
}

func (r *Report) line(w io.Writer, name string, rows []Row) {
	var less, slower, dearer int
	mean := map[string]float64{}
	for _, x := range rows {
		less += count(x.Lost > 0)
		slower += count(x.SlowerBy > Ratio)
		dearer += count(x.DearerBy > Ratio)
		for p, s := range x.Success {
			mean[p] += 100 * s / float64(len(rows))
		}
	}
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t\n", name, len(rows), less, slower, dearer,
		mean[r.Policy], mean["none"], mean["static"], mean["aimd"])
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (r *Report) distribution(w io.Writer, name string, of func(Row) float64, within float64) {
	values := make([]float64, len(r.Rows))
	for i, x := range r.Rows {
		values[i] = of(x)
	}
	slices.Sort(values)
	at := func(q float64) float64 { return values[min(int(q*float64(len(values))), len(values)-1)] }
	fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.1f %%\t\n", name, at(0.5), at(0.9), at(0.95), at(0.99), at(1),
		100*within)
}

// shown is the maximum number of scenarios listed.
const shown = 15

// worst lists the scenarios in which a bound is not kept, the worst first.
func (r *Report) worst(w io.Writer) {
	rows := slices.DeleteFunc(slices.Clone(r.Rows), func(x Row) bool {
		return x.Lost == 0 && x.SlowerBy <= Ratio && x.DearerBy <= Ratio
	})
	if len(rows) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(max(b.SlowerBy, b.DearerBy), max(a.SlowerBy,
			a.DearerBy)))
	})
	fmt.Fprintf(w, "\noutside the bounds (--print NUMBER shows the scenario)\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, x := range rows[:min(shown, len(rows))] {
		lost := "saves as much as the best"
		if x.Lost > 0 {
			lost = fmt.Sprintf("saves %.3f %% less than %s", 100*x.Lost, x.Best)
		}
		fmt.Fprintf(t, "  %d\t%s\t%s\tp99 %.1f s, × %.2f\t%.2f USD, × %.2f\n", x.Number, x.About, lost,
			x.P99[r.Policy], x.SlowerBy, x.USD[r.Policy], x.DearerBy)
	}
	_ = t.Flush()
	if n := len(rows) - shown; n > 0 {
		fmt.Fprintf(w, "  and %d more\n", n)
	}
}
