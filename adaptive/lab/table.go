package lab

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// WriteTable writes the report as text: a table for each scenario, and the expectations.
func (r *Report) WriteTable(w io.Writer) {
	last := ""
	var rows, tiers [][]string
	flush := func() {
		if len(rows) > 0 {
			writeColumns(w, rows)
		}
		if len(tiers) > 0 {
			fmt.Fprintln(w, "load of the services, from the records down")
			writeColumns(w, tiers)
		}
		rows, tiers = nil, nil
	}
	for i := range r.Results {
		res := &r.Results[i]
		if res.Scenario != last {
			flush()
			last = res.Scenario
			fmt.Fprintf(w, "%s, seeds %d to %d\n", res.Scenario, r.Seeds.First, r.Seeds.First+uint64(r.Seeds.Count)-1)
			rows = append(rows, []string{
				"policy", "success % (95 %)", "tips over (95 %)", "dead letters", "calls/record", "calls during", "recovers after", "drains after",
				"p99 s", "USD", "changes",
			})
		}
		rows = append(rows, res.row(r.Seeds.Count))
		if len(res.Tiers) > 0 && tiers == nil {
			tiers = append(tiers, []string{
				"policy", "service", "calls/s at most", "calls/record", "calls for each above", "refused %", "failed %",
			})
		}
		for _, t := range res.Tiers {
			tiers = append(tiers, []string{
				res.Policy, t.Service, plain(t.Peak.Mean, 1), plain(t.CallsPerRecord.Mean, 2),
				plain(t.CallsPerCall.Mean, 2), plain(100*t.Refused.Mean, 2), plain(100*t.Failed.Mean, 2),
			})
		}
	}
	flush()
	if len(r.Expectations) == 0 {
		return
	}
	fmt.Fprintln(w, "expected")
	for _, e := range r.Expectations {
		verdict := "  met     "
		switch {
		case !e.Judged:
			verdict = "  not run "
		case !e.Met:
			verdict = "  NOT MET "
		}
		fmt.Fprintf(w, "%s %s: %s (%s)\n", verdict, e.Scenario, e.Text, e.Got)
	}
}

func (r *Result) row(seeds int) []string {
	m := r.Metrics
	recovers := seconds(m["timeToRecover"].Mean)
	if r.NotRecovered > 0 {
		recovers = fmt.Sprintf("not in %d of %d", r.NotRecovered, seeds)
	}
	drains := seconds(m["timeToDrain"].Mean)
	if r.Undrained > 0 {
		drains = fmt.Sprintf("not in %d of %d", r.Undrained, seeds)
	}
	return []string{
		r.Policy, withInterval(m["success"], 100, 2), r.TippedOver.String(), plain(m["deadLettered"].Mean, 1),
		plain(m["amplification"].Mean, 2),
		plain(m["callsDuring"].Mean, 0), recovers, drains, plain(m["p99"].Mean, 1), plain(m["costUSD"].Mean, 2),
		plain(m["changes"].Mean, 1),
	}
}

// withInterval formats an estimate like "16.77 (16.74–26.39)".
func withInterval(e Estimate, scale float64, digits int) string {
	if math.IsNaN(e.Low) {
		return plain(e.Mean*scale, digits)
	}
	return fmt.Sprintf("%s (%s–%s)", plain(e.Mean*scale, digits), plain(e.Low*scale, digits), plain(e.High*scale, digits))
}

// String formats a share like "1 of 30 (0.6–17 %)".
func (s Share) String() string {
	return fmt.Sprintf("%d of %d (%s–%s %%)", s.Seeds, s.Of, percent(s.Low), percent(s.High))
}

// percent formats a share in percent, with one decimal below 10 %.
func percent(share float64) string {
	if share > 0 && share < 0.0995 {
		return plain(100*share, 1)
	}
	return plain(100*share, 0)
}

func plain(f float64, digits int) string {
	switch {
	case math.IsNaN(f):
		return "–"
	case math.IsInf(f, 0):
		return "never"
	}
	return strconv.FormatFloat(f, 'f', digits, 64)
}

func seconds(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return plain(f, 0)
	}
	return plain(f, 0) + " s"
}

// writeColumns aligns the first column left and the others right.
func writeColumns(w io.Writer, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString("  " + cell + pad)
			} else {
				b.WriteString("  " + pad + cell)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
	fmt.Fprintln(w)
}
