package events

import (
	"strings"

	"stepback/aws"
	"stepback/local/services/dispatch"
)

// count tells what has happened to a rule, by the metrics of AWS/Events.
func (s *Service) count(scope aws.Scope, bus, rule, metric string, n int) {
	if s.o.Count != nil && n > 0 {
		s.o.Count(scope, bus, rule, metric, float64(n))
	}
}

// counted tells what has happened to the rule of a letter.
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

// triggered tells that an event has matched a rule, and how many targets it is sent to.
func (s *Service) triggered(r *rule, targets int) {
	if s.o.Count == nil {
		return
	}
	scope := r.scope()
	s.count(scope, r.Bus, r.Name, "MatchedEvents", 1)
	s.count(scope, r.Bus, r.Name, "TriggeredRules", 1)
	s.count(scope, r.Bus, r.Name, "Invocations", targets)
}

// attempted tells how an attempt to send a letter has ended.
func (s *Service) attempted(l *dispatch.Letter, err error) {
	s.counted(l, "InvocationAttempts")
	if l.Failed > 0 {
		s.counted(l, "RetryInvocationAttempts")
	}
	if err == nil {
		s.counted(l, "SuccessfulInvocationAttempts")
	}
}

// died tells that a letter was given up.
func (s *Service) died(l *dispatch.Letter, buried bool) {
	s.counted(l, "FailedInvocations")
	switch {
	case buried:
		s.counted(l, "InvocationsSentToDlq")
	case l.DeadLetters != "":
		s.counted(l, "InvocationsFailedToBeSentToDlq")
	}
}
