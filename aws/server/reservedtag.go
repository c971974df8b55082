package server

import (
	"cmp"
	"context"
	"strings"

	"stepback/aws"
	"stepback/jsonvalue"
)

// reservedTagPrefix begins, in any letter case, the keys of tags that only AWS services set.
const reservedTagPrefix = "aws:"

// refuseReservedTags returns an error if a request sets a tag whose key begins with reservedTagPrefix and does not come
// from an AWS service.
func (s *Service) refuseReservedTags(ctx context.Context, input jsonvalue.Value) error {
	if aws.MaySetSystemTags(ctx) || !hasReservedTag(input) {
		return nil
	}
	if s.cfg.ReservedTag != nil {
		return s.cfg.ReservedTag
	}
	return &aws.Error{Code: cmp.Or(s.cfg.Invalid, codeInvalid), Message: aws.ReservedTagMessage}
}

// hasReservedTag reports whether an input has a tag with reservedTagPrefix in its member Tags: a list of structures
// with a key, or a map.
func hasReservedTag(input jsonvalue.Value) bool {
	if input.Kind() != jsonvalue.Object {
		return false
	}
	tags, ok := input.Get("Tags")
	if !ok {
		tags, _ = input.Get("tags")
	}
	switch tags.Kind() {
	case jsonvalue.Object:
		for _, key := range tags.Keys() {
			if isReserved(key) {
				return true
			}
		}
	case jsonvalue.Array:
		for _, t := range tags.Elements() {
			if t.Kind() != jsonvalue.Object {
				continue
			}
			for _, name := range []string{"Key", "key", "TagKey"} {
				if key, ok := t.Get(name); ok && isReserved(key.Text()) {
					return true
				}
			}
		}
	default:
	}
	return false
}

func isReserved(key string) bool {
	return len(key) >= len(reservedTagPrefix) && strings.EqualFold(key[:len(reservedTagPrefix)], reservedTagPrefix)
}
