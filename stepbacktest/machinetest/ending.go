package machinetest

import (
	"strings"
	"time"

	"stepback/engine"
	"stepback/jsonvalue"
)

// Ending is the expected end of an execution, of a state machine or of a durable function. Fields that are not set are
// not checked.
type Ending struct {
	Status       string
	Error, Cause string // Cause must only be contained
	Output       *jsonvalue.Value
	Contains     *jsonvalue.Value // members that the output must have, among others
	Took         *time.Duration
	// Lines contains the line of each member of the expectation in the test file.
	Lines map[string]int
}

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
