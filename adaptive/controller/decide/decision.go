package decide

import (
	"fmt"
	"strings"
	"time"

	"stepback/retrypatterns"
)

// Verdict is the kind of a decision.
type Verdict string

// The verdicts.
const (
	// Keep: everything was checked and nothing needs changing, or a guard defers the change.
	Keep Verdict = "keep"
	// Unknown: the measurements do not support a decision.
	Unknown Verdict = "unknown"
	// ChangeRetry: replace the state's Retry array by Retry.
	ChangeRetry Verdict = "change-retry"
	// ChangeMapRun: set the Map Run's MaxConcurrency to MapRun.Concurrency.
	ChangeMapRun Verdict = "change-map-run"
)

// Reason is one sentence of an explanation, with the rule or guard that gave it.
type Reason struct {
	Rule string `json:"rule"`
	Text string `json:"text"`
}

// Decision is the decision about one state.
type Decision struct {
	State   string    `json:"state"`
	At      time.Time `json:"at"`
	Verdict Verdict   `json:"verdict"`
	// Direction is the direction of a change.
	Direction Direction `json:"direction,omitempty"`
	// Before is the setting before the change, and Setting the one after it. Retry is the Retry array of Setting.
	Before  Setting                 `json:"before"`
	Setting Setting                 `json:"setting"`
	Retry   []retrypatterns.Retrier `json:"retry,omitempty"`
	// MapRun is the Map Run with the concurrency to set.
	MapRun *MapRun `json:"mapRun,omitempty"`
	// Reasons explain the decision, including why nothing changes, in the order in which the rules were evaluated.
	Reasons []Reason `json:"reasons"`
	// RollBack is true if the change undoes an earlier one.
	RollBack bool `json:"rollBack,omitempty"`

	watch                 *Watch
	pausedUntil, payUntil time.Time
}

// Changes reports whether the decision changes anything.
func (d Decision) Changes() bool { return d.Verdict == ChangeRetry || d.Verdict == ChangeMapRun }

// String describes the decision in one readable line.
func (d Decision) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", d.State)
	switch d.Verdict {
	case ChangeRetry:
		fmt.Fprintf(&b, "change Retry from %s to %s", d.Before, d.Setting)
	case ChangeMapRun:
		fmt.Fprintf(&b, "change MaxConcurrency to %d", d.MapRun.Concurrency)
	case Unknown:
		b.WriteString("no decision")
	case Keep:
		b.WriteString("no change")
	}
	for _, r := range d.Reasons {
		fmt.Fprintf(&b, "; %s: %s", r.Rule, r.Text)
	}
	return b.String()
}

// String returns "base", or the differences from the base: "at most 2 retries, waits × 3".
func (s Setting) String() string {
	var parts []string
	if s.Retries != Unlimited {
		noun := "retries"
		if s.Retries == 1 {
			noun = "retry"
		}
		parts = append(parts, fmt.Sprintf("at most %d %s", s.Retries, noun))
	}
	if s.Stretch > 1 {
		parts = append(parts, fmt.Sprintf("waits × %g", s.Stretch))
	}
	if len(s.Pay) > 0 {
		parts = append(parts, fmt.Sprintf("%d retriers that do not pay are shortened", len(s.Pay)))
	}
	if s.Source != nil {
		parts = append(parts, fmt.Sprintf("by section 5.1: %d retries fewer, interval × %g, cap × %g, rate + %g",
			s.Source.Fewer, s.Source.Interval, s.Source.MaxDelay, s.Source.Rate))
	}
	if len(parts) == 0 {
		return "base"
	}
	return strings.Join(parts, ", ")
}

// because appends a reason.
func (d *Decision) because(rule, format string, args ...any) {
	d.Reasons = append(d.Reasons, Reason{Rule: rule, Text: fmt.Sprintf(format, args...)})
}
