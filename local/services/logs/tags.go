package logs

import (
	"context"
	"maps"

	"stepback/aws"
	"stepback/local/services/logs/logstore"
)

type resourceRequest struct {
	ARN  string            `json:"resourceArn"`
	Tags map[string]string `json:"tags"`
	Keys []string          `json:"tagKeys"`
}

type tagsResponse struct {
	Tags map[string]string `json:"tags"`
}

func (s *Service) listTagsForResource(_ context.Context, scope aws.Scope, r *resourceRequest) (*tagsResponse, error) {
	return s.tags(scope, nameOf(r.ARN))
}

func (s *Service) tagResource(_ context.Context, scope aws.Scope, r *resourceRequest) (*none, error) {
	return s.tag(scope, nameOf(r.ARN), r.Tags)
}

func (s *Service) untagResource(_ context.Context, scope aws.Scope, r *resourceRequest) (*none, error) {
	return s.untag(scope, nameOf(r.ARN), r.Keys)
}

type tagLogGroupRequest struct {
	Group string            `json:"logGroupName"`
	Tags  map[string]string `json:"tags"`
}

type untagLogGroupRequest struct {
	Group string   `json:"logGroupName"`
	Tags  []string `json:"tags"`
}

func (s *Service) listTagsLogGroup(_ context.Context, scope aws.Scope, r *groupRequest) (*tagsResponse, error) {
	return s.tags(scope, r.Group)
}

func (s *Service) tagLogGroup(_ context.Context, scope aws.Scope, r *tagLogGroupRequest) (*none, error) {
	return s.tag(scope, r.Group, r.Tags)
}

func (s *Service) untagLogGroup(_ context.Context, scope aws.Scope, r *untagLogGroupRequest) (*none, error) {
	return s.untag(scope, r.Group, r.Tags)
}

func (s *Service) tags(scope aws.Scope, group string) (*tagsResponse, error) {
	g, _, err := s.store.Group(in(scope), group)
	if g.Tags == nil {
		g.Tags = map[string]string{}
	}
	return &tagsResponse{g.Tags}, err
}

func (s *Service) tag(scope aws.Scope, group string, given map[string]string) (*none, error) {
	g, _, err := s.store.Group(in(scope), group)
	if err != nil {
		return nil, err
	}
	if g.Tags == nil {
		g.Tags = map[string]string{}
	}
	maps.Copy(g.Tags, given)
	if len(g.Tags) > maxTags {
		return nil, &aws.Error{Code: "TooManyTagsException", Message: "A resource can have no more than 50 tags."}
	}
	return &none{}, s.store.UpdateGroup(in(scope), group, func(changed *logstore.Group) { changed.Tags = g.Tags })
}

func (s *Service) untag(scope aws.Scope, group string, keys []string) (*none, error) {
	return &none{}, s.store.UpdateGroup(in(scope), group, func(g *logstore.Group) {
		for _, k := range keys {
			delete(g.Tags, k)
		}
	})
}
