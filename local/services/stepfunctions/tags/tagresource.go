package tags

import (
	"context"

	"stepback/aws"
)

type tagResourceRequest struct {
	ARN  string `json:"resourceArn"`
	Tags []Tag  `json:"tags"`
}

func (s *Service) tagResource(_ context.Context, scope aws.Scope, in *tagResourceRequest) (*none, error) {
	return s.change(scope, in.ARN, func(tags map[string]string) error { return Set(in.ARN, tags, in.Tags) })
}
