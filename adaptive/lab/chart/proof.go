package chart

import (
	"stepback/adaptive/lab"
	"stepback/adaptive/lab/scenario"
)

// Proof draws the goodput and the vulnerability panel side by side, with a sentence that summarises them.
func Proof(r *lab.Report, s *scenario.Scenario, policies []string, sweep *lab.Sweep) *Figure {
	f := &Figure{Width: 1180, Height: 430, Title: "Four retries turn a 30-second outage into an outage without end"}
	goodput(f, r, s, policies, 56, 60, 620, 230)
	vulnerability(f, sweep, 760, 60, 390, 230)
	f.text(22, 412, start, 13, ink,
		"Four retries turn a 30-second outage into an outage without end. The dashed line is where that can begin: ρ(1 + m) = 1.")
	return f
}
