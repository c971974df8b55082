package stepfunctions

import (
	"context"

	"stepback/aws"
)

type listTagsRequest struct {
	ARN string `json:"resourceArn"`
}

type listTagsResponse struct {
	Tags []tag `json:"tags"`
}

func (s *Service) listTagsForResource(_ context.Context, scope aws.Scope, in *listTagsRequest) (*listTagsResponse,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.tagged(scope, in.ARN)
	if err != nil {
		return nil, err
	}
	return &listTagsResponse{t.list()}, nil
}
