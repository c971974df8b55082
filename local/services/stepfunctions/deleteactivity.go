package stepfunctions

import (
	"context"

	"stepback/aws"
)

// deleteActivity succeeds for what does not exist too. Tasks of the activity that are under way go on.
func (s *Service) deleteActivity(_ context.Context, scope aws.Scope, in *activityRequest) (*none, error) {
	at, err := parseActivityARN(in.ARN)
	if err != nil || at.scope != scope {
		return &none{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &none{}, s.cfg.Store.DeleteActivity(in.ARN)
}
