package events

import (
	"strings"

	"stepback/aws"
	"stepback/local/services/dispatch"
)

// count adds n to a metric of a rule in AWS/Events.
func (s *Service) count(scope aws.Scope, bus, rule, metric string, n int) {
	if s.o.Count != nil && n > 0 {
		s.o.Count(scope, bus, rule, metric, float64(n))
	}
}

// counted adds one to a metric of the rule that a letter came from.
func (s *Service) counted(l *dispatch.Letter, metric string) {
	if s.o.Count == nil {
		return
	}
	a, _ := aws.ParseARN(l.Labels["RULE_ARN"])
	name := strings.TrimPrefix(a.Resource, "rule/")
	bus, rule, custom := strings.Cut(name, "/")
	if !custom {
		bus, rule = defaultBus, name
	}
	s.count(a.Scope(), bus, rule, metric, 1)
}

// countMatch counts a match of the rule, and the number of targets that the event is sent to.
func (s *Service) countMatch(r *rule, targets int) {
	if s.o.Count == nil {
		return
	}
	scope := r.scope()
	s.count(scope, r.Bus, r.Name, "MatchedEvents", 1)
	s.count(scope, r.Bus, r.Name, "TriggeredRules", 1)
	s.count(scope, r.Bus, r.Name, "Invocations", targets)
}

// countAttempt counts an attempt to deliver a letter and its result.
func (s *Service) countAttempt(l *dispatch.Letter, err error) {
	s.counted(l, "InvocationAttempts")
	if l.Failed > 0 {
		s.counted(l, "RetryInvocationAttempts")
	}
	if err == nil {
		s.counted(l, "SuccessfulInvocationAttempts")
	}
}

// countDropped counts a letter whose delivery was given up; buried is true if it was sent to the dead-letter queue.
func (s *Service) countDropped(l *dispatch.Letter, buried bool) {
	s.counted(l, "FailedInvocations")
	switch {
	case buried:
		s.counted(l, "InvocationsSentToDlq")
	case l.DeadLetters != "":
		s.counted(l, "InvocationsFailedToBeSentToDlq")
	}
}
