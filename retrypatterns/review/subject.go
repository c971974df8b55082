package review

import (
	"fmt"
	"slices"

	"stepback/asl"
	"stepback/asl/source"
)

// found adds a finding of the rule that is being checked, about the value at a path; if the definition omits it, the
// finding points at the value that should contain it. fix may be nil.
func (s *subject) found(at source.Path, fix []source.Change, hint, message string, args ...any) {
	r := s.r
	span := r.index.Value(at)
	if opens := r.text[span.Start]; opens == '{' || opens == '[' { // a single line is enough
		span = r.index.Key(at)
		if r.text[span.Start] == opens {
			span.End = span.Start + 1
		}
	}
	p := r.lines.Position(span.Start)
	r.report.Findings = append(r.report.Findings, Finding{Fix: fix, Diagnostic: asl.Diagnostic{
		Severity: s.rule.Severity, Code: s.rule.Code, Message: fmt.Sprintf(message, args...), Hint: hint,
		Location: at.String(), Line: p.Line, Column: p.Column, Span: span,
	}})
}

// in returns the path of a member of the state.
func (s *subject) in(steps ...source.Step) source.Path { return s.at.Join(steps...) }

// retrier returns the path of element i of the state's Retry array, or of a member of it.
func (s *subject) retrier(i int, members ...string) source.Path {
	at := s.in(source.Member("Retry"), source.Element(i))
	for _, m := range members {
		at = at.Join(source.Member(m))
	}
	return at
}

// catcher returns the path of element i of the state's Catch array.
func (s *subject) catcher(i int) source.Path { return s.in(source.Member("Catch"), source.Element(i)) }

// active calls f for every retrier that can retry: an error can reach it, and MaxAttempts is above 0.
func (s *subject) active(f func(i int, x *asl.Retrier)) {
	for i := range s.Retry {
		reached := slices.ContainsFunc(s.Retry[i].ErrorEquals, func(name string) bool {
			by, _ := s.retrierOf(name)
			return by == i && !s.r.unknown[name] && s.neverRaised(name) == ""
		})
		if reached && s.Retry[i].MaxAttempts > 0 {
			f(i, &s.Retry[i])
		}
	}
}

// retrierOf returns the index of the first retrier that matches an error, and its number of retries; -1 if none
// matches.
func (s *subject) retrierOf(name string) (i int, retries int64) {
	i = slices.IndexFunc(s.Retry, func(x asl.Retrier) bool { return takes(x.ErrorEquals, name) })
	if i < 0 {
		return i, 0
	}
	return i, s.Retry[i].MaxAttempts
}

// retried reports whether an error is retried at least once.
func (s *subject) retried(name string) bool {
	_, n := s.retrierOf(name)
	return n > 0
}

// unmatched returns the errors that no retrier of the state matches.
func (s *subject) unmatched(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		i, _ := s.retrierOf(name)
		return i >= 0
	})
}

// catches reports whether a catcher of the state matches an error.
func (s *subject) catches(name string) bool {
	return slices.ContainsFunc(s.Catch, func(c asl.Catcher) bool { return takes(c.ErrorEquals, name) })
}

// bounded reports whether a timeout or a heartbeat timeout can end an attempt of the state.
func (s *subject) bounded() bool { return s.TimeoutSeconds.Present() || s.HeartbeatSeconds.Present() }

const (
	allErrors        = "States.ALL"
	taskFailed       = "States.TaskFailed"
	statesTimeout    = "States.Timeout"
	heartbeatTimeout = "States.HeartbeatTimeout"
)

// takes reports whether a retrier or catcher with errorEquals matches every error that name stands for.
func takes(errorEquals []string, name string) bool {
	if slices.Contains(errorEquals, allErrors) || slices.Contains(errorEquals, name) {
		return true
	}
	timeouts := name == statesTimeout || name == heartbeatTimeout
	return slices.Contains(errorEquals, taskFailed) && name != allErrors && !timeouts
}
