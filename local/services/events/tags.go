package events

import (
	"context"
	"maps"
	"slices"
	"strings"

	"stepback/aws"
)

type tag struct{ Key, Value string }

func tagsOf(given []tag) map[string]string {
	if len(given) == 0 {
		return nil
	}
	tags := make(map[string]string, len(given))
	for _, t := range given {
		tags[t.Key] = t.Value
	}
	return tags
}

type tagsRequest struct {
	ARN     string `json:"ResourceARN"`
	Tags    []tag
	TagKeys []string
}

type tagsAnswer struct {
	Tags []tag
}

// maxTags is the maximum number of tags per resource.
const maxTags = 50

// tags applies change to the tags of a rule or a bus and returns them; a nil change only reads them. mu is held.
func (s *Service) tags(arn string, change func(map[string]string)) (map[string]string, error) {
	a, ok := aws.ParseARN(arn)
	kind, name, _ := strings.Cut(a.Resource, "/")
	if !ok || a.Service != "events" {
		return nil, invalid("Parameter ResourceARN is not valid. Reason: Provided Arn is not in correct format.")
	}
	changed := func(tags map[string]string) (map[string]string, error) {
		if tags = maps.Clone(tags); tags == nil {
			tags = map[string]string{}
		}
		if change(tags); len(tags) > maxTags {
			return nil, &aws.Error{Code: "LimitExceededException",
				Message: "The requested resource exceeds the maximum number allowed."}
		}
		return tags, nil
	}
	switch kind {
	case "event-bus":
		b, err := s.find(a.Scope(), name)
		if err != nil || change == nil {
			return b.tagsOrNil(), err
		}
		tags, err := changed(b.Tags)
		if err != nil {
			return nil, err
		}
		b.Tags = tags
		return tags, s.keepBus(b)
	case "rule":
		onBus := defaultBus
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			onBus, name = name[:i], name[i+1:]
		}
		b, r, err := s.rule(a.Scope(), onBus, name)
		if err != nil {
			return nil, err
		}
		if change == nil {
			return r.Tags, nil
		}
		record := r.ruleRecord
		if record.Tags, err = changed(r.Tags); err != nil {
			return nil, err
		}
		_, err = s.replace(b, record)
		return record.Tags, err
	}
	return nil, invalid("Parameter ResourceARN is not valid. Reason: Only rules and event buses have tags.")
}

func (b *bus) tagsOrNil() map[string]string {
	if b == nil {
		return nil
	}
	return b.Tags
}

func (s *Service) tagResource(_ context.Context, _ aws.Scope, in *tagsRequest) (*none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.tags(in.ARN, func(tags map[string]string) { maps.Copy(tags, tagsOf(in.Tags)) })
	return &none{}, err
}

func (s *Service) untagResource(_ context.Context, _ aws.Scope, in *tagsRequest) (*none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.tags(in.ARN, func(tags map[string]string) {
		for _, key := range in.TagKeys {
			delete(tags, key)
		}
	})
	return &none{}, err
}

func (s *Service) listTagsForResource(_ context.Context, _ aws.Scope, in *tagsRequest) (*tagsAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tags, err := s.tags(in.ARN, nil)
	if err != nil {
		return nil, err
	}
	answer := &tagsAnswer{Tags: []tag{}}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		answer.Tags = append(answer.Tags, tag{key, tags[key]})
	}
	return answer, nil
}
