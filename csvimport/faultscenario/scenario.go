package faultscenario

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"stepback/csvimport/pipeline"
)

// Scenario is a failure and the checks that must hold despite it.
type Scenario struct {
	// About describes in one line what breaks.
	About string
	// Run runs the scenario. It returns an error if the rehearsal itself fails; failed checks are in the report.
	Run func(ctx context.Context, o Options) (*Report, error)
}

// Options are the options of every scenario.
type Options struct {
	// Seed determines which calls fail.
	Seed uint64
}

// All holds the scenarios by name. Add new ones here.
var All = map[string]Scenario{
	"lambda-error": lambdaError.scenario(),
	"database":     databaseError.scenario(),
	"throttling":   throttling.scenario(),
	"breaker":      breakerOpens.scenario(),
	"adaptive":     adapting.scenario(),
	"outbox":       outboxStory,
}

// Names returns the names of all scenarios, sorted.
func Names() []string {
	names := make([]string, 0, len(All))
	for name := range All {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Report is the result of a scenario.
type Report struct {
	Scenario string `json:"scenario"`
	About    string `json:"about"`
	Seed     uint64 `json:"seed"`
	// Passed is true if all checks hold.
	Passed bool    `json:"passed"`
	Checks []Check `json:"checks"`
	// Timeline lists what happened, in order.
	Timeline []Moment `json:"timeline"`
	// Lasted is the duration on the scenario's own clock, in seconds.
	Lasted float64 `json:"lastedSeconds"`
	// Rows counts the rows of the import; Retries lists the retries by state and error. Both are absent in
	// scenarios without an import.
	Rows    *pipeline.Rows   `json:"rows,omitempty"`
	Retries []pipeline.Retry `json:"retries,omitempty"`
}

// Check is a condition that must hold, and its result.
type Check struct {
	What   string `json:"what"`
	Passed bool   `json:"passed"`
	// Got describes what was found.
	Got string `json:"got"`
}

// Moment is one entry of a timeline.
type Moment struct {
	// At is the time since the start, in seconds.
	At   float64 `json:"at"`
	What string  `json:"what"`
}

// Holds adds a check. The format describes what was found.
func (r *Report) Holds(passed bool, what, format string, args ...any) {
	r.Checks = append(r.Checks, Check{what, passed, fmt.Sprintf(format, args...)})
}

// finish sorts the timeline and sets Passed.
func (r *Report) finish() {
	slices.SortStableFunc(r.Timeline, func(a, b Moment) int { return cmp.Compare(a.At, b.At) })
	r.Passed = !slices.ContainsFunc(r.Checks, func(c Check) bool { return !c.Passed })
}

// Print writes the report as readable text: the timeline, then the checks.
func (r *Report) Print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n", r.Scenario, r.About)
	for _, m := range r.Timeline {
		at := time.Duration(m.At * float64(time.Second)).Round(100 * time.Millisecond)
		fmt.Fprintf(w, "  %10s  %s\n", at, m.What)
	}
	for _, c := range r.Checks {
		mark := "ok"
		if !c.Passed {
			mark = "FAILED"
		}
		fmt.Fprintf(w, "  %-6s  %s: %s\n", mark, c.What, c.Got)
	}
	verdict := "passed"
	if !r.Passed {
		verdict = "FAILED"
	}
	fmt.Fprintf(w, "%s %s, after %s of its own time\n", r.Scenario, verdict,
		time.Duration(r.Lasted*float64(time.Second)).Round(time.Second))
}
