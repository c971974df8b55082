package stepfunctions

import (
	"errors"

	"stepback/local/services/stepfunctions/activities"
	"stepback/local/services/stepfunctions/statemachines"
)

// Store keeps what is known of state machines beside their executions, and activities. Implementations are safe for
// concurrent use; what they hand out is the caller's own.
type Store interface {
	statemachines.Store
	activities.Store
	// Machines returns the state machines whose ARN begins with a prefix, in the order of their creation.
	Machines(prefix string) ([]*statemachines.Machine, error)
}

// HasActivity reports whether a store has an activity, for the engines whose tasks name it.
func HasActivity(s Store) func(arn string) (bool, error) {
	return func(arn string) (bool, error) {
		_, err := s.Activity(arn)
		if errors.Is(err, activities.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
}
