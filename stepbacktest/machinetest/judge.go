package machinetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"stepback/internal/spelling"
	"stepback/jsonvalue"
	"stepback/stepbacktest/observed"
)

// judge returns the expectations that were not met.
func (r *Result) judge() []string {
	var failures []string
	fail := func(what, format string, args ...any) {
		failures = append(failures, fmt.Sprintf("%s:%d: %s", r.File.Name, max(r.Test.Expect.Lines[what], r.Test.Line),
			fmt.Sprintf(format, args...)))
	}
	e := &r.Test.Expect
	e.Judge(r.Execution, fail)
	r.judgePath(fail)
	for _, n := range e.Attempts {
		if got := r.attempts(n.State); got != n.N {
			fail("attempts", "attempts: %s ran %s, expected %d", n.State, spelling.Counted(got, "time"), n.N)
		}
	}
	for _, w := range e.Waits {
		if got := observed.Waits(r.Events, w.State); !slices.Equal(got, w.Waits) {
			fail("waits", "waits: %s waited %s, expected %s", w.State, Durations(got), Durations(w.Waits))
		}
	}
	e.JudgeTook(r.Execution, fail)
	return failures
}

// attempts returns the number of attempts of a state in the execution and its children.
func (r *Result) attempts(state string) int {
	n := observed.Attempts(r.Events, state)
	for _, events := range r.Children {
		n += observed.Attempts(events, state)
	}
	return n
}

// judgePath checks the states that were entered.
func (r *Result) judgePath(fail func(what, format string, args ...any)) {
	e := &r.Test.Expect
	got := observed.Entered(r.Events)
	if e.Path != nil && !slices.Equal(got, e.Path) {
		fail("path", "path: %s", PathDifference(got, e.Path))
	}
	everywhere := got
	for _, events := range r.Children {
		everywhere = append(everywhere[:len(everywhere):len(everywhere)], observed.Entered(events)...)
	}
	for _, s := range e.Entered {
		if !slices.Contains(everywhere, s) {
			fail("entered", "entered: %s was not; the path was %s", s, strings.Join(got, " → "))
		}
	}
	for _, s := range e.Never {
		if slices.Contains(everywhere, s) {
			fail("never", "never: %s was entered; the path was %s", s, strings.Join(got, " → "))
		}
	}
}

// PathDifference shows where two paths diverge.
func PathDifference(got, want []string) string {
	same := 0
	for same < len(got) && same < len(want) && got[same] == want[same] {
		same++
	}
	rest := func(path []string) string {
		if same == len(path) {
			return "(the end)"
		}
		return strings.Join(path[same:], " → ")
	}
	where := "differs from the beginning"
	if same > 0 {
		where = "differs after " + strings.Join(got[:same], " → ")
	}
	return fmt.Sprintf("%s\n      expected %s\n      got      %s", where, rest(want), rest(got))
}

// Durations lists waits for a message: "2s, 4s", or "never" if there are none.
func Durations(all []time.Duration) string {
	if len(all) == 0 {
		return "never"
	}
	texts := make([]string, len(all))
	for i, d := range all {
		texts[i] = d.String()
	}
	return strings.Join(texts, ", ")
}

// shownDifferences is the maximum number of differences shown for an output.
const shownDifferences = 10

// differences lists the places where a value differs from the expected one; path is the path of both. If part is set,
// objects may have additional members.
func differences(path string, got, want jsonvalue.Value, part bool) []string {
	if jsonvalue.Equal(got, want) {
		return nil
	}
	var found []string
	switch {
	case got.Kind() == jsonvalue.Object && want.Kind() == jsonvalue.Object:
		for i, name := range want.Keys() {
			member, ok := got.Get(name)
			if !ok {
				found = append(found, fmt.Sprintf("%s.%s is missing, expected %s", path, name, Cut(want.At(i).JSON())))
				continue
			}
			found = append(found, differences(path+"."+name, member, want.At(i), part)...)
		}
		for i, name := range got.Keys() {
			if _, ok := want.Get(name); !ok && !part {
				found = append(found, fmt.Sprintf("%s.%s is %s, and was not expected", path, name, Cut(got.At(i).JSON())))
			}
		}
	case got.Kind() == jsonvalue.Array && want.Kind() == jsonvalue.Array && got.Len() == want.Len():
		for i := range want.Len() {
			found = append(found, differences(fmt.Sprintf("%s[%d]", path, i), got.At(i), want.At(i), part)...)
		}
	default:
		found = append(found, fmt.Sprintf("%s is %s, expected %s", path, Cut(got.JSON()), Cut(want.JSON())))
	}
	if len(found) > shownDifferences {
		found = append(found[:shownDifferences:shownDifferences], fmt.Sprintf("and %d more", len(found)-shownDifferences))
	}
	return found
}
