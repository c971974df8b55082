package stepfunctions

import (
	"maps"
	"slices"

	"stepback/aws"
)

// maxTags is the maximum number of tags per resource.
const maxTags = 50

type tag struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// setTags adds tags to those of the resource with an ARN.
func setTags(arn string, tags map[string]string, given []tag) error {
	for _, t := range given {
		tags[t.Key] = t.Value
	}
	if len(tags) > maxTags {
		return failure("TooManyTags", "Too many tags", arn)
	}
	return nil
}

// tagged is a resource that has tags.
type tagged struct {
	tags map[string]string
	put  func() error // saves the resource with its current tags
}

func (t *tagged) list() []tag {
	list := make([]tag, 0, len(t.tags))
	for _, k := range slices.Sorted(maps.Keys(t.tags)) {
		list = append(list, tag{k, t.tags[k]})
	}
	return list
}

// tagged returns the state machine or activity that a tagging request names. The caller holds the lock.
func (s *Service) tagged(scope aws.Scope, arn string) (*tagged, error) {
	at, err := parseARN(arn, kindMachine, kindActivity)
	if err != nil {
		return nil, err
	}
	if at.qualified() {
		return nil, resourceNotFound(arn)
	}
	if at.kind == kindActivity {
		a, err := s.activity(scope, at)
		if isMissing(err) {
			return nil, resourceNotFound(arn)
		}
		if err != nil {
			return nil, err
		}
		return &tagged{a.Tags, func() error { return s.cfg.Store.PutActivity(a) }}, nil
	}
	m, err := s.machine(scope, at)
	if isMissing(err) {
		return nil, resourceNotFound(arn)
	}
	if err != nil {
		return nil, err
	}
	return &tagged{m.Tags, func() error { return s.cfg.Store.PutMachine(m) }}, nil
}
