package cloudwatch

import (
	"context"
	"maps"
	"slices"

	"stepback/aws"
	"stepback/services/documents"
)

type tag struct{ Key, Value string }

type tagRequest struct {
	ARN  string `json:"ResourceARN"`
	Tags []tag
	Keys []string `json:"TagKeys"`
}

// tagged changes the alarm of a request about tags.
func (s *Service) tagged(in *tagRequest, f func(*alarm)) (*none, error) {
	arn, _ := aws.ParseARN(in.ARN)
	return &none{}, s.change(func(b *documents.Batch) error {
		a, err := s.alarm(arn.Scope(), alarmName(in.ARN))
		if err == nil && a == nil {
			err = noResource(in.ARN)
		}
		if err != nil {
			return err
		}
		f(a)
		return s.keep(b, arn.Scope(), a)
	})
}

func noResource(arn string) error {
	return &aws.Error{Code: "ResourceNotFoundException", Status: 404, Message: "The named resource does not exist: " + arn}
}

func (s *Service) tagResource(_ context.Context, _ aws.Scope, in *tagRequest) (*none, error) {
	return s.tagged(in, func(a *alarm) {
		if a.Tags == nil {
			a.Tags = map[string]string{}
		}
		for _, t := range in.Tags {
			a.Tags[t.Key] = t.Value
		}
	})
}

func (s *Service) untagResource(_ context.Context, _ aws.Scope, in *tagRequest) (*none, error) {
	return s.tagged(in, func(a *alarm) {
		for _, k := range in.Keys {
			delete(a.Tags, k)
		}
	})
}

type tagsAnswer struct{ Tags []tag }

func (s *Service) listTagsForResource(_ context.Context, _ aws.Scope, in *tagRequest) (*tagsAnswer, error) {
	arn, _ := aws.ParseARN(in.ARN)
	a, err := s.alarm(arn.Scope(), alarmName(in.ARN))
	if err == nil && a == nil {
		err = noResource(in.ARN)
	}
	if err != nil {
		return nil, err
	}
	answer := &tagsAnswer{[]tag{}}
	for _, k := range slices.Sorted(maps.Keys(a.Tags)) {
		answer.Tags = append(answer.Tags, tag{k, a.Tags[k]})
	}
	return answer, nil
}
