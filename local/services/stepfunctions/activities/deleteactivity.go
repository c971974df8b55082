package activities

import (
	"context"

	"stepback/aws"
	"stepback/local/services/stepfunctions/resource"
)

// deleteActivity succeeds for what does not exist too. Tasks of the activity that are under way go on.
func (s *Service) deleteActivity(_ context.Context, scope aws.Scope, in *activityRequest) (*none, error) {
	at, err := resource.ParseActivity(in.ARN)
	if err != nil || at.Scope != scope {
		return &none{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &none{}, s.cfg.Store.DeleteActivity(in.ARN)
}
