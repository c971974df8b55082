package lambda

import (
	"stepback/aws/server"
	"stepback/local/services/lambda/functions"
)

func (s *Service) publishVersion(q *request) (*server.Answer, error) {
	if err := q.unqualified(); err != nil {
		return nil, err
	}
	in, err := decode[functions.PublishInput](q)
	if err != nil {
		return nil, err
	}
	c, err := s.functions.Publish(q.ctx, q.scope, q.name.Function, in)
	return answer(c, err)
}

func (s *Service) listVersions(q *request) (*server.Answer, error) {
	list, err := s.functions.Versions(q.scope, q.name.Function)
	if err != nil {
		return nil, err
	}
	page, next, err := pageOf(q, list, versionKey)
	return answer(struct {
		Versions   []functions.Configuration
		NextMarker string `json:",omitempty"`
	}{page, next}, err)
}
