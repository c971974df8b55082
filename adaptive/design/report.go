package design

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/internal/spelling"
)

// WriteText writes the report: the answer, the settings, the predictions, what each part brings, and the bounds.
func (d *Design) WriteText(w io.Writer) {
	r := d.Result
	fmt.Fprintf(w, "%s, state %s: %s\n", d.Name, d.State, d.Text())
	for _, n := range d.Unknown {
		fmt.Fprintf(w, "not known: %s\n", n)
	}
	fmt.Fprintf(w, "objective: %s\n\n", &d.Objective)
	if r.Feasible {
		fmt.Fprintf(w, "design: %s\n", &r.Settings)
	} else {
		verdict := "no design found" // the search is no proof
		if slices.ContainsFunc(r.Bounds, func(b Bound) bool { return b.Excludes }) {
			verdict = "cannot be met"
		}
		fmt.Fprintf(w, "%s, because %s\nthe nearest is: %s\n", verdict, r.Because, r.Nearest)
	}
	fmt.Fprintf(w, "\npredictions for a period of %s (median, and the interval of nine periods in ten):\n", inWords(d.Period))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "condition\tmet\tsaved %\tp50 s\tp99 s\tcalls/record\tcalls/s at most\tUSD/1,000\tdead letters\t\n")
	for _, p := range r.Predictions {
		fmt.Fprintf(t, "%s\t%.0f %%", p.Condition, 100*p.Met)
		for _, m := range metrics[:7] {
			x, scale := p.Metrics[m.name], 1.0
			if m.name == "saved" {
				scale = 100
			}
			fmt.Fprintf(t, "\t%.4g (%.4g–%.4g)", x.Median*scale, x.Low*scale, x.High*scale)
		}
		fmt.Fprint(t, "\t\n")
	}
	_ = t.Flush() // the report's writers report their own errors
	if d.Map != nil {
		for _, p := range r.Predictions {
			x := p.Metrics["finish"]
			fmt.Fprintf(w, "  %s: the Map ends after %s (%s–%s)\n", p.Condition, inWords(x.Median), inWords(x.Low), inWords(x.High))
		}
	}
	if len(r.Without) > 0 {
		fmt.Fprint(w, "\nwhat each part brings, by removing it (medians in the condition that suffers most):\n")
	}
	for _, x := range r.Without {
		fmt.Fprintf(w, "  without %s (%s): saved %.4g → %.4g %%, p99 %.4g → %.4g s, $%.4g → $%.4g per 1,000; %.0f %% of the periods meet "+
			"the objective\n", x.What, x.Condition, 100*x.Saved[0], 100*x.Saved[1], x.P99[0], x.P99[1], x.USDPerThousand[0],
			x.USDPerThousand[1], 100*x.Met)
	}
	fmt.Fprint(w, "\nbounds by theory:\n")
	for _, b := range r.Bounds {
		mark := ""
		if b.Excludes {
			mark = "  (excludes the objective)"
		}
		fmt.Fprintf(w, "  %s%s\n", b.Text, mark)
	}
	fmt.Fprint(w, "\nalarms:\n")
	for _, a := range r.Alarms {
		fmt.Fprintf(w, "  %s\n", a.Text)
	}
	if x := r.Redrive; x != nil && x.Records > 0 {
		letters := spelling.Counted(int64(x.Records), "dead letter")
		if x.PerSecond > 0 {
			fmt.Fprintf(w, "redrive: up to %s, at %.3g a second, in %s\n", letters, x.PerSecond, inWords(x.Seconds))
		} else {
			fmt.Fprintf(w, "redrive: up to %s; the callee has no spare capacity for them\n", letters)
		}
	}
	fmt.Fprintf(w, "\n%d periods simulated, seeds from %d; prices of %s\n", r.Simulated, d.Seed, r.Prices)
}

// Scenario returns a condition as a scenario of the laboratory, and the design as a policy for it. Condition 0 is calm,
// and condition k the fault k−1.
func (d *Design) Scenario(condition int) (*scenario.Scenario, *policy.Policy) {
	s := &d.Result.Settings
	return d.scenario(s, condition, d.Seed+predictedFrom), s.Policy()
}
