package secretsmanager

import (
	"context"
	"maps"
	"slices"

	"stepback/aws"
)

type tag struct{ Key, Value string }

const mostTags = 50

func withTags(tags map[string]string, more []tag) (map[string]string, error) {
	made := maps.Clone(tags)
	for _, t := range more {
		if made == nil {
			made = map[string]string{}
		}
		made[t.Key] = t.Value
	}
	if len(made) > mostTags {
		return nil, invalid("A secret can have at most 50 tags.")
	}
	return made, nil
}

func listTags(tags map[string]string) []tag {
	if tags == nil {
		return nil
	}
	all := make([]tag, 0, len(tags))
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		all = append(all, tag{name, tags[name]})
	}
	return all
}

type tagging struct {
	secretRequest
	Tags []tag
	Keys []string `json:"TagKeys"`
}

func (s *Service) tagResource(ctx context.Context, scope aws.Scope, in *tagging) (*none, error) {
	_, err := s.alter(scope, in.Secret, func(x *secret) (err error) {
		x.Tags, err = withTags(x.Tags, in.Tags)
		return err
	})
	return &none{}, err
}

func (s *Service) untagResource(_ context.Context, scope aws.Scope, in *tagging) (*none, error) {
	_, err := s.alter(scope, in.Secret, func(x *secret) error {
		maps.DeleteFunc(x.Tags, func(name, _ string) bool { return slices.Contains(in.Keys, name) })
		return nil
	})
	return &none{}, err
}
