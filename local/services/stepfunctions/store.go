package stepfunctions

import (
	"errors"

	"stepback/local/services/stepfunctions/activities"
	"stepback/local/services/stepfunctions/statemachines"
)

// Store stores state machines and activities, but no executions. Implementations are safe for concurrent use; the
// records they return belong to the caller.
type Store interface {
	statemachines.Store
	activities.Store
	// Machines returns the state machines whose ARNs start with prefix, in order of creation.
	Machines(prefix string) ([]*statemachines.Machine, error)
}

// HasActivity returns a function that reports whether s has an activity. Engines use it for tasks that refer to
// activities.
func HasActivity(s Store) func(arn string) (bool, error) {
	return func(arn string) (bool, error) {
		_, err := s.Activity(arn)
		if errors.Is(err, activities.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
}
