package lambda

import (
	"stepback/aws/server"
	"stepback/local/services/lambda/functions"
)

func (s *Service) updateFunctionCode(q *request) (*server.Answer, error) {
	if err := q.unqualified(); err != nil {
		return nil, err
	}
	in, err := decode[functions.UpdateCodeInput](q)
	if err != nil {
		return nil, err
	}
	c, err := s.functions.UpdateCode(q.ctx, q.scope, q.name.Function, in)
	if err != nil || in.DryRun {
		return answer(c, err)
	}
	return answer(c.InProgress(), nil)
}

func (s *Service) updateFunctionConfiguration(q *request) (*server.Answer, error) {
	if err := q.unqualified(); err != nil {
		return nil, err
	}
	in, err := decode[functions.UpdateConfigurationInput](q)
	if err != nil {
		return nil, err
	}
	c, err := s.functions.UpdateConfiguration(q.ctx, q.scope, q.name.Function, in)
	if err != nil {
		return nil, err
	}
	return answer(c.InProgress(), nil)
}
