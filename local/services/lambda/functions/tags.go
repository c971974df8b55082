package functions

import (
	"context"
	"maps"
	"unicode/utf8"

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
		return checkTags(r.Tags)
	})
	return err
}

// checkTags rejects tags that a function cannot have, as the developer guide lists them ("Requirements for tags").
func checkTags(tags map[string]string) error {
	const mostKey, mostValue = 128, 256
	if len(tags) > maxTags {
		return invalid("Number of tags exceeds function tag limit.")
	}
	for key, value := range tags {
		if n := utf8.RuneCountInString(key); n == 0 || n > mostKey || utf8.RuneCountInString(value) > mostValue {
			return invalid("A tag's key must have 1 to %d characters, and its value at most %d: %s", mostKey, mostValue, key)
		}
	}
	return nil
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
