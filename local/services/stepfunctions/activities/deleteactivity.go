package activities

import (
	"context"

	"stepback/aws"
	"stepback/local/services/stepfunctions/resource"
)

// deleteActivity deletes an activity. It succeeds if the activity does not exist. Running tasks of the activity
// continue.
func (s *Service) deleteActivity(_ context.Context, scope aws.Scope, in *activityRequest) (*none, error) {
	at, err := resource.ParseActivity(in.ARN)
	if err != nil || at.Scope != scope {
		return &none{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &none{}, s.cfg.Store.DeleteActivity(in.ARN)
}
