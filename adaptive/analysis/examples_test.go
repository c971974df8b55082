package analysis_test

import (
	"fmt"
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
		got = append(got, fmt.Sprint(e.Execution, " ", e.Error, " ", e.Attempt, " ", e.SinceFirst, " ", e.Repeated, " ", e.Succeeded,
			" ", *e.FailureRate, " ", *e.Load, " ", *e.Bytes))
	}
	// 1 of 6 calls failed by load before the first retry (a Deadlock is not load); before the third, one call was
	// seen and no refusal.
	want := "[one Deadlock 1 9 false false 0.16666666666666666 0 200 one Deadlock 3 39 false true 0 0 200]"
	if fmt.Sprint(got) != want {
		t.Errorf("examples are %v, want %s", got, want)
	}
}
