package stepfunctions

import (
	"fmt"
	"maps"
	"slices"

	"stepback/awsapi/awsjson"
)

type tag struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// tag sets tags of a machine.
func (m *Machine) tag(given []tag) error {
	for _, t := range given {
		m.Tags[t.Key] = t.Value
	}
	if len(m.Tags) > maxTags {
		return &awsjson.Error{Code: "TooManyTags", Message: fmt.Sprintf("Too many tags: '%s'", m.ARN)}
	}
	return nil
}

func (m *Machine) tags() []tag {
	list := make([]tag, 0, len(m.Tags))
	for _, k := range slices.Sorted(maps.Keys(m.Tags)) {
		list = append(list, tag{k, m.Tags[k]})
	}
	return list
}

// tagged finds the machine whose tags a request is about. The caller holds the lock.
func (s *Service) tagged(scope awsjson.Scope, arn string) (*Machine, error) {
	at, err := parseARN(arn, kindMachine, kindActivity)
	if err != nil {
		return nil, err
	}
	if at.kind != kindMachine || at.qualified() {
		return nil, resourceNotFound(arn)
	}
	m, err := s.machine(scope, at)
	if isMissing(err) {
		return nil, resourceNotFound(arn)
	}
	return m, err
}
