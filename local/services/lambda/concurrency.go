package lambda

import (
	"stepback/aws/server"
)

func (s *Service) putConcurrency(q *request) (*server.Answer, error) {
	if err := q.unqualified(); err != nil {
		return nil, err
	}
	in, err := decode[concurrency](q)
	if err != nil {
		return nil, err
	}
	err = s.functions.Reserve(q.ctx, q.scope, q.name.Function, in.ReservedConcurrentExecutions)
	return answer(in, err)
}

func (s *Service) getConcurrency(q *request) (*server.Answer, error) {
	if err := q.unqualified(); err != nil {
		return nil, err
	}
	f, err := s.functions.Get(q.scope, q.name.Function, "")
	if err != nil {
		return nil, err
	}
	return answer(concurrency{f.Reserved}, nil)
}

func (s *Service) deleteConcurrency(q *request) (*server.Answer, error) {
	if err := q.unqualified(); err != nil {
		return nil, err
	}
	err := s.functions.Reserve(q.ctx, q.scope, q.name.Function, nil)
	return done(err)
}
