package analysis_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"stepback/adaptive/analysis"
)

func TestExamples(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	var c analysis.Collector
	x := analysis.Task{Execution: "one", State: "Save", Callee: "db", Ending: analysis.Done}
	for i, name := range []string{"Deadlock", "Deadlock", "CircuitOpen", "Deadlock", ""} {
		start := at.Add(time.Duration(i) * 10 * time.Second)
		x.Attempts = append(x.Attempts, analysis.Attempt{Start: start, End: start.Add(time.Second), Error: name,
			Bytes: 200})
	}
	c.Add(x)
	open := x
	open.Execution, open.Ending = "two", analysis.Cut
	open.Attempts = []analysis.Attempt{x.Attempts[0], {Start: x.Attempts[1].Start}} // its end is unknown
	c.Add(open)
	// attempts of other tasks, before the first retry was decided
	for i, name := range []string{"States.Timeout", "", "", ""} {
		end := at.Add(time.Duration(i-8) * time.Second)
		c.Add(analysis.Task{Execution: "other", State: "Save", Callee: "db", Ending: analysis.Done,
			Attempts: []analysis.Attempt{{Start: end.Add(-time.Second), End: end, Error: name, Bytes: 1}}})
	}
	var got []string
	for _, e := range c.Examples() {
		rate, load := "unknown", "unknown"
		if e.FailureRate != nil {
			rate, load = fmt.Sprintf("%.2f", *e.FailureRate), fmt.Sprint(*e.Load)
		}
		got = append(got, fmt.Sprint(e.At.Sub(at).Seconds(), "s ", e.Execution, " ", e.Error, " ", e.Attempt, " ", e.SinceFirst,
			"s ", e.Succeeded, " ", rate, " ", load, " ", *e.FailingFor, "s ", *e.Bytes))
	}
	// An example has what was known when the failure before the retry ended. In the ten seconds before the first one, 1
	// of 4 calls of other tasks failed by load; the calls of the same second and of the task itself do not count.
	// Nothing is known of the ten seconds before the third retry; the last success was at −5 s.
	want := []string{
		"1s one Deadlock 1 1s false 0.25 0 6s 200",
		"31s one Deadlock 3 31s true unknown unknown 36s 200",
	}
	if !slices.Equal(got, want) {
		t.Errorf("examples are %q, want %q", got, want)
	}
}
