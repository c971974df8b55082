package functions

import (
	"context"
	"maps"

	"stepback/aws"
)

// maxTags is the maximum number of tags per function.
const maxTags = 50

// Tag adds tags to a function and replaces those with the same keys.
func (s *Service) Tag(ctx context.Context, scope aws.Scope, name string, tags map[string]string) error {
	_, err := s.change(ctx, scope, name, func(_ *area, r *record) error {
		if r.Tags == nil {
			r.Tags = map[string]string{}
		}
		maps.Copy(r.Tags, tags)
		if len(r.Tags) > maxTags {
			return invalid("Number of tags exceeds function tag limit.")
		}
		return nil
	})
	return err
}

// Untag removes tags. It ignores tags that do not exist.
func (s *Service) Untag(ctx context.Context, scope aws.Scope, name string, keys []string) error {
	_, err := s.change(ctx, scope, name, func(_ *area, r *record) error {
		for _, key := range keys {
			delete(r.Tags, key)
		}
		return nil
	})
	return err
}
