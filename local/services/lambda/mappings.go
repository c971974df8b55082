package lambda

import (
	"errors"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/lambda/eventsource"
)

// mapping wraps an operation on mappings. It returns an error if there are no mappings here.
func (s *Service) mapping(f func(*request) (*server.Answer, error)) operation {
	return func(q *request) (*server.Answer, error) {
		if s.mappings == nil {
			return nil, errors.New("there is nothing here that event source mappings could read")
		}
		return f(q)
	}
}

func (s *Service) createMapping(q *request) (*server.Answer, error) {
	in, err := decode[eventsource.CreateInput](q)
	if err != nil {
		return nil, err
	}
	c, err := s.mappings.Create(q.ctx, q.Scope, in)
	return answer(c, err)
}

func (s *Service) getMapping(q *request) (*server.Answer, error) {
	c, err := s.mappings.Get(q.scope, q.text("UUID"))
	return answer(c, err)
}

func (s *Service) updateMapping(q *request) (*server.Answer, error) {
	in, err := decode[eventsource.UpdateInput](q)
	if err != nil {
		return nil, err
	}
	c, err := s.mappings.Update(q.ctx, q.Scope, in)
	return answer(c, err)
}

func (s *Service) deleteMapping(q *request) (*server.Answer, error) {
	c, err := s.mappings.Delete(q.ctx, q.scope, q.text("UUID"))
	return answer(c, err)
}

func (s *Service) listMappings(q *request) (*server.Answer, error) {
	list, err := s.mappings.List(q.Scope, q.text("FunctionName"), q.text("EventSourceArn"))
	if err != nil {
		return nil, err
	}
	page, next, err := pageOf(q, list, func(c *eventsource.Configuration) string { return c.UUID })
	return answer(struct {
		EventSourceMappings []*eventsource.Configuration
		NextMarker          string `json:",omitempty"`
	}{page, next}, err)
}

// mappingOf returns the UUID of the mapping named by a tagging request, or "" if it names something else.
func (s *Service) mappingOf(q *request) string {
	if s.mappings == nil {
		return ""
	}
	return mappingIn(q.text("Resource"))
}

// mappingIn returns the UUID in the ARN of a mapping, or "" for other ARNs.
func mappingIn(arn string) string {
	a, ok := aws.ParseARN(arn)
	uuid, is := strings.CutPrefix(a.Resource, "event-source-mapping:")
	if !ok || !is {
		return ""
	}
	return uuid
}
