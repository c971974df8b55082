package lambda

import (
	"stepback/aws/server"
	"stepback/local/services/lambda/functions"
)

// mostName is the maximum length of a function's name.
const mostName = 64

func (s *Service) createFunction(q *request) (*server.Answer, error) {
	if err := q.unqualified(); err != nil {
		return nil, err
	}
	in, err := decode[functions.CreateInput](q)
	if err != nil {
		return nil, err
	}
	if len(q.name.Function) > mostName {
		return nil, server.Invalid("1 validation error detected: Value '" + q.name.Function + "' at 'functionName' failed to satisfy " +
			"constraint: Member must have length less than or equal to 64")
	}
	c, err := s.functions.Create(q.ctx, q.scope, q.name.Function, in)
	if err != nil {
		return nil, err
	}
	return answer(c.Pending(), nil)
}
