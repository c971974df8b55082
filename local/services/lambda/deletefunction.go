package lambda

import (
	"stepback/aws/server"
)

func (s *Service) deleteFunction(q *request) (*server.Answer, error) {
	err := s.functions.Delete(q.ctx, q.scope, q.name.Function, q.name.Qualifier)
	return done(err)
}
