package faultscenario

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"stepback/csvimport/pipeline"
	"stepback/internal/sorting"
)

// Scenario is something that breaks, and what must hold all the same.
type Scenario struct {
	// About says in a line what breaks.
	About string
	// Run carries it out. The error is one of the rehearsal itself; what does not hold is in the report.
	Run func(ctx context.Context, o Options) (*Report, error)
}

// Options are those of every scenario.
type Options struct {
	// Seed decides which calls fail.
	Seed uint64
}

// All are the scenarios by name. A further one is a line here.
var All = map[string]Scenario{
	"lambda-error": lambdaError.scenario(),
	"database":     databaseError.scenario(),
	"throttling":   throttling.scenario(),
	"breaker":      breakerOpens.scenario(),
	"adaptive":     adapting.scenario(),
	"outbox":       outboxStory,
}

// Names are the names of all scenarios, in order.
func Names() []string {
	names := make([]string, 0, len(All))
	for name := range All {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Report is what came of a scenario.
type Report struct {
	Scenario string `json:"scenario"`
	About    string `json:"about"`
	Seed     uint64 `json:"seed"`
	// Passed tells whether all checks hold.
	Passed bool    `json:"passed"`
	Checks []Check `json:"checks"`
	// Timeline is what happened, in order.
	Timeline []Moment `json:"timeline"`
	// Lasted is how long it took on the scenario's own clock, in seconds.
	Lasted float64 `json:"lastedSeconds"`
	// Rows are those of the import, Retries what was retried; absent in scenarios without an import.
	Rows    *pipeline.Rows   `json:"rows,omitempty"`
	Retries []pipeline.Retry `json:"retries,omitempty"`
}

// Check is one thing that must hold.
type Check struct {
	What   string `json:"what"`
	Passed bool   `json:"passed"`
	// Got says what was found.
	Got string `json:"got"`
}

// Moment is one entry of a timeline.
type Moment struct {
	// At is the time since the beginning, in seconds.
	At   float64 `json:"at"`
	What string  `json:"what"`
}

// Holds adds a check. The format describes what was found.
func (r *Report) Holds(passed bool, what, format string, args ...any) {
	r.Checks = append(r.Checks, Check{what, passed, fmt.Sprintf(format, args...)})
}

// finish sorts the timeline and says whether all checks hold.
func (r *Report) finish() {
	sorting.Stable(r.Timeline, func(a, b Moment) int { return cmp.Compare(a.At, b.At) })
	r.Passed = !slices.ContainsFunc(r.Checks, func(c Check) bool { return !c.Passed })
}

// Print writes the report for people: the timeline, then the checks.
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
