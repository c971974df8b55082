package model

import "strings"

// CheckAction returns an error if a task cannot have the Resource aws-sdk:SERVICE:ACTION. service is named as in a
// Resource, such as cloudwatchlogs. action begins with a lower-case letter, such as getLogEvents. The error is an
// *UnknownServiceError, an *UnknownOperationError, an *EventStreamError or, as a warning, a *ClosedServiceError.
func CheckAction(service, action string) error {
	s, err := Find(service)
	if err != nil {
		if gone := closedService(service); gone != nil {
			return gone
		}
		return err
	}
	o, err := s.Action(action)
	if err == nil && o.EventStream() {
		return &EventStreamError{Service: service, Operation: o.Name}
	}
	if err != nil {
		return err
	}
	return closedService(service)
}

// Action finds an operation by its name in a Resource (putItem) or in the model (PutItem). It returns the errors of
// Operation, but with names as in Resources.
func (s *Service) Action(name string) (*Operation, error) {
	if s.Has(name) || name == "" {
		return s.Operation(name)
	}
	operation := strings.ToUpper(name[:1]) + name[1:]
	if s.Has(operation) {
		return s.Operation(operation)
	}
	similar := nearest(operation, s.operations)
	for i, n := range similar {
		similar[i] = strings.ToLower(n[:1]) + n[1:]
	}
	return nil, &UnknownOperationError{Service: s.Name, Name: name, Similar: similar}
}

// EventStreamError reports that an operation sends or returns an event stream. Tasks do not support event streams.
type EventStreamError struct{ Service, Operation string }

// Error implements error.
func (e *EventStreamError) Error() string {
	return "the operation " + e.Operation + " of the service " + e.Service + " sends or answers a stream of events"
}
