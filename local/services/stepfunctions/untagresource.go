package stepfunctions

import (
	"context"

	"stepback/aws"
)

type untagResourceRequest struct {
	ARN  string   `json:"resourceArn"`
	Keys []string `json:"tagKeys"`
}

func (s *Service) untagResource(_ context.Context, scope aws.Scope, in *untagResourceRequest) (*none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.tagged(scope, in.ARN)
	if err != nil {
		return nil, err
	}
	for _, k := range in.Keys {
		delete(t.tags, k)
	}
	return &none{}, t.put()
}
