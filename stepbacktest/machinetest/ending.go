package machinetest

import (
	"strings"
	"time"

	"stepback/engine"
	"stepback/internal/strictyaml"
	"stepback/jsonvalue"
)

// ReadInput reads the members input and inputFile of a test as JSON text: one of them, or {} if both are absent. read
// reads a file.
func ReadInput(o strictyaml.Object, read func(path string) ([]byte, error)) string {
	switch input, file := o.Get("input"), o.Get("inputFile"); {
	case input.Present() && file.Present():
		file.Problem("the input is given twice; remove one")
	case input.Present():
		return input.JSON().JSON()
	case file.Present():
		text, err := read(file.Text(textSize))
		if err == nil {
			_, err = jsonvalue.Parse(string(text))
		}
		if err != nil {
			file.Problem("%v", err)
		}
		return string(text)
	}
	return "{}"
}

// ReadTimes reads the number of attempts that get a response: 1 if v is absent, and 0 for "always".
func ReadTimes(v strictyaml.Value) int {
	switch {
	case !v.Present():
		return 1
	case v.Is("always"):
		return 0
	}
	return v.Whole(1, 1_000_000)
}

// Ending is the expected end of an execution, of a state machine or of a durable function. Fields that are not set are
// not checked.
type Ending struct {
	Status       string
	Error, Cause string // Cause must only be contained
	Output       *jsonvalue.Value
	Contains     *jsonvalue.Value // members that the output must have, among others
	Took         *time.Duration
	lines        map[string]int
}

// ReadEnding reads the members status, error, cause, output, contains and took of an expectation. statuses are the
// possible statuses, and longest is the maximum of took.
func ReadEnding(v strictyaml.Value, o strictyaml.Object, longest time.Duration, statuses ...string) Ending {
	e := Ending{Status: o.Get("status").OneOf(append([]string{""}, statuses...)...), Error: o.Get("error").Text(textSize),
		Cause: o.Get("cause").Text(textSize), lines: map[string]int{}}
	for _, m := range v.Members() {
		e.lines[m.Name] = m.Line()
	}
	if out := o.Get("output"); out.Present() {
		value := out.JSON()
		e.Output = &value
	}
	if out := o.Get("contains"); out.Present() {
		value := out.JSON()
		e.Contains = &value
	}
	if took := o.Get("took"); took.Present() {
		d := took.Duration(0, longest)
		e.Took = &d
	}
	return e
}

// Line returns the line of a member of the expectation in the test file, or 0 if the member is missing.
func (e *Ending) Line(member string) int { return e.lines[member] }

// Judge calls fail for each expectation that the execution does not meet, with the member of the expectation. Took is
// judged by JudgeTook.
func (e *Ending) Judge(x *engine.Execution, fail func(member, format string, args ...any)) {
	ended := string(x.Status)
	if x.Failure.HasName() {
		ended += ", " + x.Failure.Name
	}
	if x.Failure.HasCause() {
		ended += ": " + Cut(x.Failure.Cause)
	}
	if e.Status != "" && string(x.Status) != e.Status {
		fail("status", "status: expected %s, got %s", e.Status, ended)
	}
	if e.Error != "" && x.Failure.Name != e.Error {
		fail("error", "error: expected %s, got %s", e.Error, ended)
	}
	if e.Cause != "" && !strings.Contains(x.Failure.Cause, e.Cause) {
		fail("cause", "cause: expected one with %q, got %q", e.Cause, Cut(x.Failure.Cause))
	}
	if e.Output != nil || e.Contains != nil {
		e.judgeOutput(x.Output, ended, fail)
	}
}

// JudgeTook calls fail if the execution did not take the expected time.
func (e *Ending) JudgeTook(x *engine.Execution, fail func(member, format string, args ...any)) {
	if took := x.Stop.Sub(x.Start); e.Took != nil && took != *e.Took {
		fail("took", "took: %s, expected %s", took, *e.Took)
	}
}

func (e *Ending) judgeOutput(output, ended string, fail func(member, format string, args ...any)) {
	got, err := jsonvalue.Parse(output)
	if err != nil {
		fail("output", "output: missing; the execution ended as %s", ended)
		return
	}
	if e.Output != nil {
		for _, d := range differences("$", got, *e.Output, false) {
			fail("output", "output: %s", d)
		}
	}
	if e.Contains != nil {
		for _, d := range differences("$", got, *e.Contains, true) {
			fail("contains", "output: %s", d)
		}
	}
}
