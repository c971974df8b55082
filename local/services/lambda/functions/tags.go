package functions

import (
	"context"
	"maps"

	"stepback/aws"
)

// maxTags is the number of tags that a function can have.
const maxTags = 50

// Tag adds tags to a function or changes them.
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

// Untag removes tags, which need not be there.
func (s *Service) Untag(ctx context.Context, scope aws.Scope, name string, keys []string) error {
	_, err := s.change(ctx, scope, name, func(_ *area, r *record) error {
		for _, key := range keys {
			delete(r.Tags, key)
		}
		return nil
	})
	return err
}
