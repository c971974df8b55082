package stepfunctions

import (
	"context"

	"stepback/aws"
)

type tagResourceRequest struct {
	ARN  string `json:"resourceArn"`
	Tags []tag  `json:"tags"`
}

func (s *Service) tagResource(_ context.Context, scope aws.Scope, in *tagResourceRequest) (*none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.tagged(scope, in.ARN)
	if err != nil {
		return nil, err
	}
	if err := setTags(in.ARN, t.tags, in.Tags); err != nil {
		return nil, err
	}
	return &none{}, t.put()
}
