package asl

import (
	"slices"
	"strings"

	"stepback/jsonvalue"
)

// anyError matches every error that can be handled at all.
const anyError = "States.ALL"

// reservedErrors are the error names of the states language and of Step Functions.
var reservedErrors = []string{
	anyError, "States.BranchFailed", "States.DataLimitExceeded", "States.ExceedToleratedFailureThreshold",
	"States.HeartbeatTimeout", "States.Http.Socket", "States.IntrinsicFailure", "States.ItemReaderFailed",
	"States.NoChoiceMatched", "States.ParameterPathFailure", "States.Permissions", "States.QueryEvaluationError",
	"States.ResultPathMatchFailure", "States.ResultWriterFailed", "States.Runtime", "States.TaskFailed",
	"States.Timeout",
}

// ReservedErrors returns the error names of the states language and of Step Functions, sorted. The slice is a copy.
func ReservedErrors() []string { return slices.Clone(reservedErrors) }

// errorEquals decodes the error names of a retrier or catcher.
func (d *decoder) errorEquals(o object, last bool) []string {
	if !o.notEmpty("ErrorEquals") {
		return nil
	}
	var names []string
	o.each("ErrorEquals", func(_ int, v jsonvalue.Value) {
		if v.Kind() != jsonvalue.String {
			d.expect("String", v)
			return
		}
		names = append(names, v.Text())
		d.adviseErrorName(v.Text())
	})
	if slices.Contains(names, anyError) && (len(names) > 1 || !last) {
		d.enter("ErrorEquals")
		d.fail("States.ALL must appear alone and at end of list").
			hint("move it into an element of its own after all the others")
		d.leave()
	}
	return names
}

// adviseErrorName reports names that are nearly a reserved one. The service accepts them, but they never match.
func (d *decoder) adviseErrorName(name string) {
	guess, unknown := nearlyReserved(name)
	if !unknown {
		return
	}
	if guess == "" {
		guess = "the reserved names are " + strings.Join(reservedErrors, ", ")
	}
	d.report(SeverityAdvice, UnknownErrorName,
		"'"+name+"' is no reserved error name; it matches nothing but an error of this very name").hint(guess).about = name
}

// nearlyReserved reports whether a name looks like a reserved error name without being one. guess asks whether the
// nearest reserved name was meant; it is empty if none is near.
func nearlyReserved(name string) (guess string, unknown bool) {
	if slices.Contains(reservedErrors, name) || strings.HasPrefix(name, "States.Http.StatusCode.") {
		return "", false
	}
	if len(name) < 2 || !strings.EqualFold(name[:2], "st") {
		return "", false // most names are the function's own
	}
	guess = didYouMean(name, reservedErrors)
	return guess, guess != "" || strings.HasPrefix(name, "States.")
}

// UnknownErrorNames returns the names in the machine's ErrorEquals that Parse reports as UnknownErrorName: they look
// like a reserved error name, and no Fail state of the machine raises them. A retrier or catcher that has only such
// names never matches.
func (m *Machine) UnknownErrorNames() map[string]bool {
	unknown, raised := map[string]bool{}, map[string]bool{}
	m.visit(func(s *State) {
		if e := s.Error.Literal; s.Type == Fail && e != nil && e.Kind() == jsonvalue.String {
			raised[e.Text()] = true
		}
		note := func(names []string) {
			for _, name := range names {
				if _, is := nearlyReserved(name); is {
					unknown[name] = true
				}
			}
		}
		for i := range s.Retry {
			note(s.Retry[i].ErrorEquals)
		}
		for i := range s.Catch {
			note(s.Catch[i].ErrorEquals)
		}
	})
	for name := range raised {
		delete(unknown, name)
	}
	return unknown
}

// visit calls f with every state of the graph, including those of branches and processors.
func (g *Graph) visit(f func(*State)) {
	for _, s := range g.States {
		f(s)
		for _, b := range s.Branches {
			b.visit(f)
		}
		if s.Map != nil && s.Map.Processor != nil {
			s.Map.Processor.visit(f)
		}
	}
}

// forgetRaised removes the findings about error names that the definition's own Fail states raise.
func (d *decoder) forgetRaised() {
	d.findings = slices.DeleteFunc(d.findings, func(f *finding) bool {
		return f.Code == UnknownErrorName &&
			d.raised[f.about]
	})
}
