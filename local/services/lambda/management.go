package lambda

import (
	"stepback/aws/server"
	"stepback/local/services/lambda/functions"
)

type runtimeManagement struct {
	functions.RuntimeManagement
	FunctionArn string
}

func (s *Service) getRuntimeManagement(q *request) (*server.Answer, error) {
	m, arn, err := s.functions.RuntimeManagement(q.scope, q.name.Function, q.name.Qualifier)
	return answer(runtimeManagement{m, arn}, err)
}

func (s *Service) putRuntimeManagement(q *request) (*server.Answer, error) {
	in, err := decode[functions.RuntimeManagement](q)
	if err != nil {
		return nil, err
	}
	if _, err := s.functions.Get(q.scope, q.name.Function, q.name.Qualifier); err != nil {
		return nil, err
	}
	if err := s.functions.SetRuntimeManagement(q.ctx, q.scope, q.name.Function, q.name.Qualifier, *in); err != nil {
		return nil, err
	}
	return s.getRuntimeManagement(q)
}

type recursion struct{ RecursiveLoop string }

func (s *Service) getRecursion(q *request) (*server.Answer, error) {
	loop, err := s.functions.Recursion(q.scope, q.name.Function)
	return answer(recursion{loop}, err)
}

func (s *Service) putRecursion(q *request) (*server.Answer, error) {
	in, err := decode[recursion](q)
	if err != nil {
		return nil, err
	}
	return answer(in, s.functions.SetRecursion(q.ctx, q.scope, q.name.Function, in.RecursiveLoop))
}
