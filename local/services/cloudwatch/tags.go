package cloudwatch

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/local/services/documents"
)

type tag struct{ Key, Value string }

type tagRequest struct {
	ARN  string `json:"ResourceARN"`
	Tags []tag
	Keys []string `json:"TagKeys"`
}

// taggable returns the tags of the resource with an ARN, and a function that stores new tags for it.
func (s *Service) taggable(text string) (map[string]string, func(*documents.Batch, map[string]string) error, error) {
	arn, _ := aws.ParseARN(text)
	scope, none := arn.Scope(), noResource(text)
	if name, ok := strings.CutPrefix(arn.Resource, "insight-rule/"); ok {
		r, err := s.insightRule(scope, name)
		if err != nil || r == nil {
			return nil, nil, firstOf(err, none)
		}
		return r.Tags, func(b *documents.Batch, tags map[string]string) error {
			r.Tags = tags
			return s.keepInsightRule(b, scope, r)
		}, nil
	}
	if name, ok := strings.CutPrefix(arn.Resource, "metric-stream/"); ok {
		m, err := s.stream(scope, name)
		if err != nil || m == nil {
			return nil, nil, firstOf(err, none)
		}
		return m.Tags, func(b *documents.Batch, tags map[string]string) error {
			m.Tags = tags
			return s.keepStream(b, scope, m)
		}, nil
	}
	a, err := s.alarm(scope, alarmName(text))
	if err != nil || a == nil {
		return nil, nil, firstOf(err, none)
	}
	return a.Tags, func(b *documents.Batch, tags map[string]string) error {
		a.Tags = tags
		return s.keep(b, scope, a)
	}, nil
}

func firstOf(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// tagged changes the tags of the resource in a request.
func (s *Service) tagged(in *tagRequest, f func(map[string]string)) (*none, error) {
	return &none{}, s.change(func(b *documents.Batch) error {
		tags, keep, err := s.taggable(in.ARN)
		if err != nil {
			return err
		}
		if tags == nil {
			tags = map[string]string{}
		}
		f(tags)
		return keep(b, tags)
	})
}

const codeNoResource = "ResourceNotFoundException"

func noResource(arn string) error {
	return &aws.Error{Code: codeNoResource, Status: 404, Message: "The named resource does not exist: " + arn}
}

func (s *Service) tagResource(_ context.Context, _ aws.Scope, in *tagRequest) (*none, error) {
	return s.tagged(in, func(tags map[string]string) {
		for _, t := range in.Tags {
			tags[t.Key] = t.Value
		}
	})
}

func (s *Service) untagResource(_ context.Context, _ aws.Scope, in *tagRequest) (*none, error) {
	return s.tagged(in, func(tags map[string]string) {
		for _, k := range in.Keys {
			delete(tags, k)
		}
	})
}

type tagsAnswer struct{ Tags []tag }

func (s *Service) listTagsForResource(_ context.Context, _ aws.Scope, in *tagRequest) (*tagsAnswer, error) {
	tags, _, err := s.taggable(in.ARN)
	if e, ok := errors.AsType[*aws.Error](err); ok && e.Code == codeNoResource && strings.Contains(in.ARN, ":alarm:") {
		err = nil // an alarm that was deleted has no tags
	}
	if err != nil {
		return nil, err
	}
	answer := &tagsAnswer{[]tag{}}
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		answer.Tags = append(answer.Tags, tag{k, tags[k]})
	}
	return answer, nil
}
