package design

import (
	"fmt"
	"time"

	"stepback/adaptive/analysis"
	"stepback/internal/spelling"
)

func rangeOf(b analysis.Bounds) Range { return Range{b.Low, b.High} }

// Fitted returns the problem with the members that the record shows in place of those that are missing; with replace,
// also in place of those that it has. Faults and objective stay as they are. So do given servers, unless the record
// contradicts them: it shows the capacity, or more calls in flight that were served as fast.
func (p *Problem) Fitted(fit *analysis.Fit, replace bool) Problem {
	out := *p
	if out.Map == nil && (out.Arrivals == nil || replace) {
		if fit.Closed {
			out.Map = &Map{Items: fit.Items}
		} else {
			out.Arrivals = &Arrivals{Rate: rangeOf(fit.Rate)}
		}
	}
	missing := out.Callee.Mean.High == 0
	if missing || replace {
		out.Callee.Mean, out.Callee.CV = rangeOf(fit.Mean), fit.Variation
		servers := missing || fit.Saturated || fit.Slowed || fit.Servers.Low > out.Callee.Servers.High
		if servers {
			out.Callee.Servers = rangeOf(fit.Servers)
		}
		if missing {
			out.Callee.Queue, out.Callee.Rejection = 1000, "ServiceUnavailableError"
		}
		out.Unknown = unknown(fit, servers)
		errors := make([]Error, 0, len(fit.Errors))
		for _, e := range fit.Errors {
			errors = append(errors, Error{Name: e.Name, Share: rangeOf(e.Share), Permanent: e.Permanent})
		}
		out.Callee.Errors = errors
	}
	return out
}

// unknown lists what a record does not show of the callee that was fitted to it. servers is true if its servers were
// fitted, too.
func unknown(f *analysis.Fit, servers bool) []string {
	var all []string
	if servers && !f.Saturated && !f.Slowed {
		all = append(all, "the histories show no overload, so the capacity is the least that the callee has served; give "+
			"callee.servers if it has more")
	}
	if !f.Slowed && f.Few > 1 && 2*f.Few > f.Many {
		all = append(all, fmt.Sprintf(
			"the calls found %s in flight, themselves included; one that finds fewer may take less time",
			Range{float64(f.Few), float64(f.Many)}))
	}
	noun := "period"
	if f.Closed {
		noun = "Map Run"
	}
	span := f.To.Sub(f.From)
	switch {
	case f.Periods < 2 && f.Closed:
		all = append(all, "the histories cover one Map Run, so how much the time of a call varies between Map Runs is not "+
			"known, and its range does not contain that")
	case f.Periods < 2:
		all = append(all, "the histories cover one period, so how much the time of a call varies between periods is not "+
			"known, and its range does not contain that")
	case span < time.Hour:
		all = append(all, fmt.Sprintf(
			"the range of a call's time contains the variation between %s within %s; how much it varies over longer times is "+
				"not known", spelling.Counted(int64(f.Periods), noun), inWords(span.Seconds())))
	}
	return all
}
