package stepfunctions

import (
	"context"

	"stepback/aws"
	"stepback/aws/server/awsjson"
)

type untagResourceRequest struct {
	ARN  string   `json:"resourceArn"`
	Keys []string `json:"tagKeys"`
}

var untagResourceMembers = []awsjson.Member{
	arn("resourceArn"),
	{Name: "tagKeys", Kind: awsjson.List, Required: true, Element: &awsjson.Member{Min: 1, Max: 128}},
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
