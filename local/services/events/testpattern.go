package events

import (
	"context"

	"stepback/aws"
	"stepback/jsonvalue"
	"stepback/local/services/eventpattern"
)

type testPatternRequest struct {
	EventPattern, Event string
}

type testPatternAnswer struct {
	Result bool
}

// longestPattern is the length that the API model allows; a rule's pattern may be half as long.
const longestPattern = 4096

func (s *Service) testEventPattern(_ context.Context, _ aws.Scope, in *testPatternRequest) (*testPatternAnswer, error) {
	p, err := eventpattern.Compile(in.EventPattern, eventpattern.Limits{Bytes: longestPattern})
	if err != nil {
		return nil, invalidPattern(err)
	}
	v, err := jsonvalue.Parse(in.Event)
	if err != nil || v.Kind() != jsonvalue.Object {
		return nil, invalid("Parameter Event is not valid.")
	}
	for _, name := range []string{"id", "account", "source", "time", "region", "detail-type"} { // resources may be missing
		if _, ok := v.Get(name); !ok {
			return nil, invalid("Parameter Event is not valid. Reason: the field %s is missing.", name)
		}
	}
	return &testPatternAnswer{p.Match(v)}, nil
}
