package tags

import (
	"context"
	"maps"
	"slices"

	"stepback/aws"
)

type listTagsRequest struct {
	ARN string `json:"resourceArn"`
}

type listTagsResponse struct {
	Tags []Tag `json:"tags"`
}

func (s *Service) listTagsForResource(_ context.Context, scope aws.Scope, in *listTagsRequest) (*listTagsResponse,
	error) {
	of, at, err := s.resources(in.ARN)
	if err != nil {
		return nil, err
	}
	tags, err := of.Tags(scope, at)
	if err != nil {
		return nil, notFound(err, in.ARN)
	}
	return &listTagsResponse{sorted(tags)}, nil
}

// sorted returns tags in the order of their keys.
func sorted(tags map[string]string) []Tag {
	list := make([]Tag, 0, len(tags))
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, Tag{k, tags[k]})
	}
	return list
}
