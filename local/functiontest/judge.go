package functiontest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"stepback/internal/spelling"
	"stepback/local/functiontest/recording"
	"stepback/stepbacktest/machinetest"
)

// judge returns the expectations that were not met.
func (r *Result) judge() []string {
	var failures []string
	fail := func(what, format string, args ...any) {
		failures = append(failures, fmt.Sprintf("%s:%d: %s", r.File.Name, max(r.Test.Expect.Lines[what], r.Test.Line),
			fmt.Sprintf(format, args...)))
	}
	r.Test.Expect.Judge(r.Execution, fail)
	r.judgeOperations(fail)
	r.Test.Expect.JudgeTook(r.Execution, fail)
	return failures
}

// judgeOperations checks the operations that ran.
func (r *Result) judgeOperations(fail func(what, format string, args ...any)) {
	e := &r.Test.Expect
	var ran []string // names, each once
	for _, o := range r.Operations {
		if o.Name != "" && !slices.Contains(ran, o.Name) {
			ran = append(ran, o.Name)
		}
	}
	if got := recording.Path(r.Operations); e.Path != nil && !slices.Equal(got, e.Path) {
		fail("path", "path: %s", machinetest.PathDifference(got, e.Path))
	}
	for _, name := range e.Ran {
		if !slices.Contains(ran, name) {
			fail("ran", "ran: %s did not%s", name, meant(name, ran))
		}
	}
	for _, name := range e.Never {
		if slices.Contains(ran, name) {
			fail("never", "never: %s ran; the path was %s", name, strings.Join(recording.Path(r.Operations), " → "))
		}
	}
	for _, n := range e.Attempts {
		got, hint := recording.Attempts(r.Operations, n.Name), ""
		if !slices.Contains(ran, n.Name) {
			hint = meant(n.Name, ran)
		}
		if got != n.N {
			fail("attempts", "attempts: %s ran %s, expected %d%s", n.Name, spelling.Counted(got, "time"), n.N, hint)
		}
	}
	for _, w := range e.Waits {
		got, hint := r.waits(w.Name), ""
		if !slices.Contains(ran, w.Name) {
			hint = meant(w.Name, ran)
		}
		if !slices.Equal(got, w.Waits) {
			fail("waits", "waits: %s waited %s, expected %s%s", w.Name, machinetest.Durations(got),
				machinetest.Durations(w.Waits), hint)
		}
	}
}

// waits returns the waits of the operations with a name, in the order of the operations.
func (r *Result) waits(name string) []time.Duration {
	var all []time.Duration
	for _, o := range r.Operations {
		if o.Name == name {
			all = append(all, o.Waited()...)
		}
	}
	return all
}
