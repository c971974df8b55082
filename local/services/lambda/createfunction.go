package lambda

import (
	"stepback/aws/server"
	"stepback/local/services/lambda/functions"
)

func (s *Service) createFunction(q *request) (*server.Answer, error) {
	in, err := decode[functions.CreateInput](q)
	if err != nil {
		return nil, err
	}
	c, err := s.functions.Create(q.ctx, q.scope, q.name.Function, in)
	if err != nil {
		return nil, err
	}
	return answer(c.Pending(), nil)
}
