package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// Answer is the response to a call: a result or an error.
type Answer struct {
	// Result is the decoded JSON of a successful response.
	Result map[string]any
	// Code and Message describe the error; Code is empty on success.
	Code, Message string
}

// Failed reports whether the call failed.
func (a *Answer) Failed() bool { return a.Code != "" }

// Verdict lists the differences between the responses of one case and the recording, on both levels. Agreement on the
// history level includes the outcome level.
type Verdict struct {
	Outcome, History []string
}

// Judge compares the responses of one run of a case with its recording.
type Judge struct {
	Verdict
	outcome, history unifier
}

// NewJudge returns the Judge for one run of a case.
func NewJudge(c *Case, names *Names) *Judge {
	drift := map[string]bool{}
	for _, k := range c.Drift {
		drift[k] = true
	}
	return &Judge{
		outcome: unifier{names, drift, map[string]string{}},
		history: unifier{names, drift, map[string]string{}},
	}
}

// Judge compares the response of a step. It reports whether the run can continue: a call that failed unexpectedly
// ends it.
func (j *Judge) Judge(s *Step, a *Answer) bool {
	if a.Failed() != s.Error {
		m := "must fail"
		if a.Failed() {
			m = "must succeed, but: " + a.Code + ": " + a.Message
		}
		j.both(s, m)
		return false
	}
	for i := range s.Check {
		c := &s.Check[i]
		switch {
		case a.Failed():
			j.compareError(s, c, a)
		case c.LastEvent != nil:
			j.end(s, c.LastEvent, a.Result)
		default:
			j.result(s, c, a.Result)
		}
	}
	return true
}

func (j *Judge) both(s *Step, what string) {
	j.Outcome = append(j.Outcome, note(s, what))
	j.History = append(j.History, note(s, what))
}

func note(s *Step, what string) string { return fmt.Sprintf("step %d %s: %s", s.N, s.Op, what) }

func (j *Judge) notes(s *Step, found []*Mismatch) {
	for _, m := range found {
		j.History = append(j.History, note(s, m.String()))
	}
}

// compareError compares an error: its code on the outcome level, everything on the history level.
func (j *Judge) compareError(s *Step, c *Check, a *Answer) {
	text := fmt.Sprintf("An error occurred (%s) when calling the %s operation: %s", a.Code, s.Op, a.Message)
	if e := c.Exception; e != nil {
		if !strings.HasPrefix(e.Text, "An error occurred ("+a.Code+
			")") { // some recordings have the code only in the text
			j.both(s, "code: want "+e.Text+", got "+a.Code)
		} else if !j.history.matches(e.Text, text) {
			j.notes(s, []*Mismatch{{"text", e.Text, text}})
		}
		return
	}
	want, _ := c.Value.(map[string]any)
	failure, _ := want["Error"].(map[string]any)
	if m := j.outcome.attempt("code", failure["Code"], a.Code); m != nil {
		j.both(s, m.String())
		return
	}
	if m := j.history.attempt("message", failure["Message"], a.Message); m != nil {
		j.notes(s, []*Mismatch{m})
	}
	if m, ok := want["message"]; ok {
		if m := j.history.attempt("message", m, a.Message); m != nil {
			j.notes(s, []*Mismatch{m})
		}
	}
}

// end compares the last event of a history. These recordings kept only the event's type and the top level of its
// details.
func (j *Judge) end(s *Step, want map[string]any, result map[string]any) {
	got := last(result)
	if m := j.outcome.attempt("last event", quiet(want), quiet(got)); m != nil {
		j.Outcome = append(j.Outcome, note(s, m.String()))
	}
	if m := j.history.attempt("last event", quiet(want), quiet(got)); m != nil {
		j.notes(s, []*Mismatch{m})
	}
}

// last returns the type and details of a history's last event.
func last(history any) map[string]any {
	o, _ := history.(map[string]any)
	events := eventsOf(o["events"])
	if len(events) == 0 {
		return nil
	}
	return events[len(events)-1].without("id", "previousEventId", "timestamp")
}

// quiet drops the members that the outcome level ignores.
func quiet(v map[string]any) map[string]any {
	out := map[string]any{}
	for k, e := range v {
		if k == "inputDetails" || k == "outputDetails" {
			continue
		}
		if o, ok := e.(map[string]any); ok && strings.HasSuffix(k, "EventDetails") {
			e = quiet(o)
		}
		out[k] = e
	}
	return out
}

// outcomes are the members of responses that the outcome level compares.
var outcomes = []string{"status", "output", "error", "cause", "nextState"}

func (j *Judge) result(s *Step, c *Check, result map[string]any) {
	var got any = result
	if len(c.Path) > 0 {
		got, _ = follow(result, c.Path)
	}
	if c.Contains {
		j.element(s, c.Value, got)
		return
	}
	want, _ := c.Value.(map[string]any)
	if _, ok := want["events"]; !ok || s.Op != "GetExecutionHistory" {
		if s.Op == "DescribeExecution" {
			j.status(s, want, result)
		}
		if m := j.history.attempt(strings.Join(c.Path, "."), c.Value, got); m != nil {
			j.notes(s, []*Mismatch{m})
		}
		return
	}
	if m := j.outcome.attempt("last event", quiet(last(want)), quiet(last(result))); m != nil {
		j.Outcome = append(j.Outcome, note(s, m.String()))
	}
	j.notes(s, j.history.histories(eventsOf(want["events"]), eventsOf(result["events"])))
}

// status compares the outcome of an execution.
func (j *Judge) status(s *Step, want, got map[string]any) {
	for _, k := range outcomes {
		w, wanted := want[k]
		g, has := got[k]
		if !wanted && !has {
			continue
		}
		if wanted != has {
			w, g = k, absent{}
		}
		if m := j.outcome.attempt(k, w, g); m != nil {
			j.Outcome = append(j.Outcome, note(s, m.String()))
		}
	}
}

// element checks that a list contains a value.
func (j *Judge) element(s *Step, want, list any) {
	elements, _ := list.([]any)
	if !slices.ContainsFunc(elements, func(e any) bool { return j.history.attempt("", want, e) == nil }) {
		j.notes(s, []*Mismatch{{"element", want, list}})
	}
}
