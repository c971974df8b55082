package logs

import (
	"context"

	"stepback/aws"
)

func (s *Service) deleteLogGroup(_ context.Context, scope aws.Scope, r *groupRequest) (*none, error) {
	g, _, err := s.store.Group(in(scope), r.Group)
	if err != nil {
		return nil, err
	}
	if g.Protected {
		return nil, &aws.Error{Code: "ValidationException", Status: 400, Message: "The log group is protected against deletion."}
	}
	return &none{}, s.store.DeleteGroup(in(scope), r.Group)
}
