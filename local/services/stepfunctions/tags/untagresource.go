package tags

import (
	"context"

	"stepback/aws"
)

type untagResourceRequest struct {
	ARN  string   `json:"resourceArn"`
	Keys []string `json:"tagKeys"`
}

func (s *Service) untagResource(_ context.Context, scope aws.Scope, in *untagResourceRequest) (*none, error) {
	return s.change(scope, in.ARN, func(tags map[string]string) error {
		for _, k := range in.Keys {
			delete(tags, k)
		}
		return nil
	})
}
